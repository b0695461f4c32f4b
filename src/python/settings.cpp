#include "python/settings.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <vector>

#include "tenon/budget.h"
#include "tenon/factories.h"
#include "tenon/instruction_set.h"
#include "tenon/ops.h"
#include "tenon/policy.h"
#include "tenon/threads.h"

namespace tenon::python {
namespace {

/// Passes a warning of the engine to Python, with the caller's line. If the warnings filter turns it into an exception,
/// that is thrown through the engine.
void to_python_warning(const char* category, const std::string& text, const std::string& note, void*) {
  const Held held;
  const nb::object type = nb::module_::import_("builtins").attr(category);
  nb::object warning = type(text);
  if (!note.empty()) warning.attr("add_note")(note);
  nb::module_::import_("warnings").attr("warn")(warning, nb::arg("stacklevel") = 1);
}

const char* level_text(Policy policy) {
  return policy == Policy::allow ? "allow" : policy == Policy::warn ? "warn" : "raise";
}

std::string policy_text() {
  const BroadcastPolicy policy = broadcast_policy();
  return std::string("rank=") + level_text(policy.rank) + ",outer=" + level_text(policy.outer) +
         ",blow_up=" + std::to_string(policy.blow_up);
}

/// The print options; -1 means that the format is chosen from the values.
std::tuple<int, int64_t, int64_t, int, int> printing() {
  const PrintOptions options = print_options();
  return {options.precision, options.threshold, options.edgeitems, options.linewidth,
          options.scientific ? static_cast<int>(*options.scientific) : -1};
}
void set_printing(int precision, int64_t threshold, int64_t edgeitems, int linewidth, int scientific) {
  PrintOptions options;
  options.precision = precision;
  options.threshold = threshold;
  options.edgeitems = edgeitems;
  options.linewidth = linewidth;
  if (scientific >= 0) options.scientific = scientific != 0;
  set_print_options(options);
}

}  // namespace

void bind_settings(nb::module_& module) {
  set_warning_handler(to_python_warning);
  module.def("_set_default_dtype", [](nb::object dtype) { set_default_dtype(dtype_of(dtype.ptr())); });
  module.def("_set_num_threads", &set_num_threads);
  module.def("_printing", &printing);
  module.def("_set_printing", &set_printing);
  module.def("_broadcast_policy", &policy_text);
  module.def("_set_broadcast_policy",
             [](const std::string& text) { set_broadcast_policy(parse_broadcast_policy(text)); });
  module.def("_memory_budget", &memory::budget);
  module.def("_set_memory_budget", &memory::set_budget);
  module.def("_broadcast_warning", &backcompat::broadcast_warning);
  module.def("_set_broadcast_warning", &backcompat::set_broadcast_warning);
  module.def("_pointwise_1d", &backcompat::pointwise_1d);
  module.def("_set_pointwise_1d", &backcompat::set_pointwise_1d);
  module.def("_broadcast_shapes", [](nb::list shapes) {
    std::vector<Dims> lists;
    for (nb::handle shape : shapes) lists.push_back(dims_of(shape.ptr()));
    const std::vector<SizesView> views(lists.begin(), lists.end());
    return nb::steal(to_size(broadcast_shapes(views.data(), static_cast<int64_t>(views.size()))));
  });
  const auto tensor_in_list = [](nb::handle item) -> const Tensor& {
    if (!is_tensor(item.ptr())) throw TypeError("expected a Tensor, not " + type_name(item.ptr()));
    return tensor_of(item.ptr());
  };
  module.def("_broadcast_tensors", [tensor_in_list](nb::list list) {
    std::vector<Tensor> tensors;
    for (nb::handle item : list) tensors.push_back(tensor_in_list(item));
    broadcast_tensors(tensors.data(), static_cast<int64_t>(tensors.size()));
    nb::list result;
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      const nb::object item = nb::borrow(list[i]);
      const bool unchanged = tensor_of(item.ptr()).is(tensors[i]);
      result.append(unchanged ? item : nb::steal(wrap(std::move(tensors[i]))));
    }
    return nb::tuple(result);
  });
  module.def(
      "_meshgrid",
      [tensor_in_list](nb::list list, std::optional<std::string> indexing) {
        List<Tensor> tensors;
        for (nb::handle item : list) tensors.push_back(tensor_in_list(item));
        nb::list result;
        for (const Tensor& grid : meshgrid(tensors, indexing ? indexing->c_str() : nullptr))
          result.append(nb::steal(wrap(grid)));
        return nb::tuple(result);
      },
      nb::arg("tensors"), nb::arg("indexing").none());
  module.def("_instruction_set", &instruction_set);
}

}  // namespace tenon::python
