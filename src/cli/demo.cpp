// cli: `tenon demo`: the documented examples with their results, then the library on a photo.
#include <cstdio>
#include <filesystem>
#include <functional>

#include "cli/commands.h"
#include "cli/progress.h"
#include "cli/render.h"
#include "digits.h"
#include "io/fail.h"
#include "io/load.h"
#include "io/png.h"
#include "tenon/tenon.h"

namespace tenon::cli {
namespace {

std::string size_text(const Tensor& tensor) { return "torch.Size(" + to_string(tensor.sizes()) + ")"; }

/// Prints a line of Python code and its result or error.
void example(const char* code, const std::function<std::string()>& result) {
  std::printf(">>> %s\n", code);
  try {
    const std::string text = result();
    if (!text.empty()) std::printf("%s\n", text.c_str());
  } catch (const Error& error) {
    std::printf("RuntimeError: %s\n", error.what());
  }
}

void title(const char* text) { std::printf("\n%s\n", stdout_painter()(Colour::heading, text).c_str()); }

void general_rule() {
  title("General rule");
  const struct {
    Dims x, y;
  } pairs[] = {
      {{5, 7, 3}, {5, 7, 3}}, {{0}, {2, 2}}, {{5, 3, 4, 1}, {3, 1, 1}}, {{5, 2, 4, 1}, {3, 1, 1}}, {{2, 3}, {2, 4}}};
  for (const auto& [x, y] : pairs) {
    const bool fits = is_broadcastable(x, y);
    std::printf("%-14s with %-12s %s\n", to_string(x).c_str(), to_string(y).c_str(),
                fits ? ("gives " + to_string(infer_size(x, y))).c_str() : "not broadcastable");
  }
}

void result_shape() {
  title("Result shape");
  example("(torch.empty(5,1,4,1) + torch.empty(3,1,1)).size()", [] {
    return size_text(empty({5, 1, 4, 1}) + empty({3, 1, 1}));
  });
  example("(torch.empty(1) + torch.empty(3,1,7)).size()", [] { return size_text(empty({1}) + empty({3, 1, 7})); });
  example("(torch.empty(5,2,4,1) + torch.empty(3,1,1)).size()", [] {
    return size_text(empty({5, 2, 4, 1}) + empty({3, 1, 1}));
  });
}

void in_place() {
  title("In-place");
  example("(torch.empty(5,3,4,1).add_(torch.empty(3,1,1))).size()", [] {
    return size_text(empty({5, 3, 4, 1}).add_(empty({3, 1, 1})));
  });
  example("(torch.empty(1,3,1).add_(torch.empty(3,1,7))).size()", [] {
    return size_text(empty({1, 3, 1}).add_(empty({3, 1, 7})));
  });
}

void print_warning(const char* category, const std::string& text, const std::string&, void*) {
  std::printf("__main__:1: %s: %s\n", category, text.c_str());
}

void backward_compatibility() {
  title("Backward compatibility");
  example("torch.add(torch.ones(4,1), torch.randn(4)).size()", [] { return size_text(add(ones({4, 1}), randn({4}))); });
  example("torch.utils.backcompat.broadcast_warning.enabled=True", [] {
    backcompat::set_broadcast_warning(true);
    return std::string();
  });
  set_warning_handler(print_warning);
  example("torch.add(torch.ones(4,1), torch.ones(4))", [] { return to_string(add(ones({4, 1}), ones({4}))); });
  set_warning_handler(nullptr);
  backcompat::set_broadcast_warning(false);
}

Tensor compute(const std::string& expression, const expr::Scope& scope, Progress& progress) {
  return expr::evaluate_elementwise(expr::evaluate(expr::parse(expression), scope, progress), progress);
}

void make_folder(const std::string& path) {
  std::error_code failed;
  std::filesystem::create_directories(std::u8string(path.begin(), path.end()), failed);  // names are UTF-8
  if (failed) io::fail_file(path, "cannot be created: " + failed.message());
}

void normalise_photo(const DemoOptions& options) {
  title("A photo, normalised per channel");
  Progress progress;
  expr::Scope scope;
  const auto let = [&](const std::string& name, const std::string& expression) {
    std::printf("%s = %s\n", name.c_str(), expression.c_str());
    scope.names[name] = compute(expression, scope, progress);
  };
  const std::string source = options.data + "/raccoon.png";
  scope.names["x"] = io::load_png(source);
  std::printf("x = %s: %s, %s\n", source.c_str(), to_string(scope.names["x"].sizes()).c_str(),
              dtype_name(scope.names["x"].dtype()));
  const std::string normalised = "(x / 255 - mean) / std";
  let("mean", "(x / 255).mean((0, 1))");
  let("std", "sqrt(mean(square(x / 255 - mean), (0, 1)))");
  let("y", normalised);
  for (const char* name : {"mean", "std"}) std::printf("%s: %s\n", name, to_string(scope.names[name]).c_str());
  std::printf("y.mean((0, 1)): %s\n", to_string(compute("y.mean((0, 1))", scope, progress)).c_str());
  make_folder(options.out);
  io::save_png(options.out + "/before.png", scope.names["x"]);
  // save_png takes values from 0 to 1, so the normalised values are scaled to that.
  io::save_png(options.out + "/after.png", compute("(y - y.amin()) / (y.amax() - y.amin())", scope, progress));
  std::printf("written: %s/before.png, %s/after.png\n", options.out.c_str(), options.out.c_str());
  title(("tenon explain '" + normalised + "'").c_str());
  Explanation explanation{normalised, {}, {}};
  expr::Steps steps;
  explanation.traffic = expr::note_steps(expr::parse(normalised), scope, progress, steps);
  for (const expr::Step& step : steps.list) explanation.steps.push_back(report_step(step, normalised));
  std::fputs(render_text(explanation, stdout_painter()).c_str(), stdout);
}

void gradients() {
  title("Gradients of a broadcast");
  Tensor a = tensor({1., 2., 3.}).requires_grad_(), b = tensor({1.}).requires_grad_();
  (a + b).sum().backward();
  example("a = torch.tensor([1., 2., 3.], requires_grad=True); b = torch.tensor([1.], requires_grad=True)",
          [] { return std::string(); });
  example("(a + b).sum().backward(); a.grad", [&] { return to_string(a.grad()); });
  example("b.grad", [&] { return to_string(b.grad()); });
}

/// Trains a network that recognises digits.
void read_digits(const DemoOptions& options) {
  title("A small network learns to read digits");
  const std::string source = options.data + "/digits.csv.gz";
  const digits::Data data = digits::split(io::load(source));
  std::printf("%s: %lld to learn from, %lld held out\n", source.c_str(),
              static_cast<long long>(data.train_images.size(0)), static_cast<long long>(data.test_images.size(0)));
  Progress progress;
  const digits::Result result =
      digits::train(data, [&](int64_t step, int64_t steps) { progress.advance(step, steps); });
  std::printf("loss %.3f, then %.3f; read rightly: %.1f %% of the held-out digits\n", result.losses.front(),
              result.losses.back(), 100 * result.accuracy);
  io::save_png(options.out + "/loss.png", digits::curve(result.losses));
  io::save_png(options.out + "/misread.png", digits::grid(data.test_images, result.misread));
  std::printf("written: %s/loss.png, %s/misread.png\n", options.out.c_str(), options.out.c_str());
}

}  // namespace

int run_demo(const DemoOptions& options) {
  general_rule();
  result_shape();
  in_place();
  backward_compatibility();
  gradients();
  normalise_photo(options);
  read_digits(options);
  return 0;
}

}  // namespace tenon::cli
