// Random tensors: a line for each function and method. Those that take only a size stand with the factories.
#include <array>
#include <optional>

#include "python/bindings.h"
#include "python/out.h"
#include "python/random.h"
#include "tenon/policy.h"

namespace tenon::python {
namespace {

constexpr Binding kFunction = Binding::function, kMethod = Binding::method, kBoth = Binding::both;

/// Runs `draw` with the call's generator.
template <class Draw>
decltype(auto) with_generator(const Call& call, const Draw& draw) {
  const GivenGenerator drawn_from(call.object(Name::generator));
  return call.run(draw);
}

/// A new tensor; or `out=`, resized and written.
template <class Draw>
PyObject* drawn(const Call& call, const Draw& draw) {
  if (call.has(Name::out)) check_unrecorded("aten::" + call.name(), call.tensor(Name::out));
  const Tensor made = with_generator(call, draw);
  if (!call.has(Name::out)) return wrap(made);
  Tensor& out = call.tensor(Name::out);
  resize_quietly(out, made.sizes());
  out.copy_(made);
  return call.returned();
}

/// An in-place draw.
template <class Write>
PyObject* overwritten(const Call& call, const Write& write) {
  with_generator(call, [&] { write(call.tensor(Name::input)); });
  return again(call.object(Name::input));
}

/// A tensor, or a number of float64.
Arg tensor_or_number(const Call& call, Name name, double fallback) {
  const bool is_given = call.has(name) && is_tensor(call.object(name));
  return is_given ? Arg(call.tensor(name)) : Arg(call.floating(name, fallback));
}

PyObject* normal_call(const Call& call) {
  if (!call.has(Name::size)) {
    const Arg mean = tensor_or_number(call, Name::mean, 0), deviation = tensor_or_number(call, Name::std, 1);
    if (!call.has(Name::out)) return drawn(call, [&] { return normal(mean, deviation); });
    with_generator(call, [&] { normal_out(call.tensor(Name::out), mean, deviation); });
    return call.returned();
  }
  check_out(call);
  Options options{};
  options.dtype = call.dtype();
  options.device = call.device();
  if (!options.device && !call.has(Name::out)) options.device = default_device();
  const Dims size = call.dims(Name::size);
  const double mean = call.floating(Name::mean, 0), deviation = call.floating(Name::std, 1);
  if (call.has(Name::out) && !options.dtype) options.dtype = call.tensor(Name::out).dtype();
  PyObject* made = drawn(call, [&] {
    Tensor result = memory_to_draw(call, size, options);
    return normal_(result, mean, deviation);
  });
  if (call.has(Name::out)) {
    Py_DECREF(made);
    return returned_by_factory(call);
  }
  if (call.boolean(Name::requires_grad)) tensor_of(made).requires_grad_();
  return made;
}

PyObject* random_call(const Call& call) {
  return overwritten(call, [&](Tensor& self) {
    switch (call.overload()) {
      case 0:
        return random_(self);
      case 1:
        return random_(self, call.integer(Name::from), call.optional_integer(Name::to));
      default:
        return random_(self, 0, call.integer(Name::to));
    }
  });
}

PyObject* bernoulli_call(const Call& call) {
  const Tensor& self = call.tensor(Name::input);
  if (call.has(Name::out))
    return drawn(call, [&] {
      const Tensor& out = call.tensor(Name::out);
      Tensor result = memory_to_draw(call, self.sizes(), Options(out.dtype(), out.device()));
      return bernoulli_(result, self.detach());
    });
  return drawn(call, [&] { return call.has(Name::p) ? bernoulli(self, call.floating(Name::p, 0)) : bernoulli(self); });
}

#define TENON_GENERATOR "*, Generator generator=None"
const Definition kDraws[] = {
    {"bernoulli", kBoth,
     "(Tensor input, " TENON_GENERATOR ", Tensor out=None)\n(Tensor input, float p, " TENON_GENERATOR ")",
     "1 with the probability that the element holds, or with probability p, else 0.", bernoulli_call},
    {"binomial", kFunction, "(Tensor count, Tensor prob, Generator? generator=None)",
     "Random numbers of successes in count trials, each of which succeeds with probability prob.",
     [](const Call& call) -> PyObject* {
       return drawn(call, [&] { return binomial(call.tensor(Name::count), call.tensor(Name::prob)); });
     }},
    {"multinomial", kBoth,
     "(Tensor input, int num_samples, bool replacement=False, " TENON_GENERATOR ", Tensor out=None)",
     "Places of elements, drawn with the weights that the rows hold.",
     [](const Call& call) -> PyObject* {
       if (call.has(Name::out) && call.tensor(Name::out).dtype() != Dtype::int64)
         throw Error(std::string("multinomial expects Long tensor out, got: ") +
                     scalar_type_name(call.tensor(Name::out).dtype()));
       return drawn(call, [&] {
         return multinomial(call.tensor(Name::input), call.integer(Name::num_samples), call.boolean(Name::replacement));
       });
     }},
    {"normal", kFunction,
     "(Tensor mean, Tensor std, " TENON_GENERATOR ", Tensor out=None)\n(Tensor mean, float std=1, " TENON_GENERATOR
     ", Tensor out=None)\n(float mean, Tensor std, " TENON_GENERATOR
     ", Tensor out=None)\n(float mean, float std, ints size, " TENON_GENERATOR
     ", Tensor out=None, dtype dtype=None, layout layout=None, device device=None, bool? pin_memory=False, bool? "
     "requires_grad=False)",
     "Random numbers from the normal distributions with the given means and standard deviations.", normal_call},
    {"poisson", kFunction, "(Tensor input, Generator? generator=None)",
     "Random numbers from the Poisson distributions whose means the elements hold.",
     [](const Call& call) -> PyObject* { return drawn(call, [&] { return poisson(call.tensor(Name::input)); }); }},

    {"bernoulli_", kMethod,
     "(Tensor input, Tensor p, " TENON_GENERATOR ")\n(Tensor input, float p=0.5, " TENON_GENERATOR ")",
     "Overwrites every element with 1 with probability p, else 0.",
     [](const Call& call) -> PyObject* {
       return overwritten(call, [&](Tensor& self) {
         return call.overload() == 0 ? bernoulli_(self, call.tensor(Name::p))
                                     : bernoulli_(self, call.floating(Name::p, 0.5));
       });
     }},
    {"cauchy_", kMethod, "(Tensor input, float median=0, float sigma=1, " TENON_GENERATOR ")",
     "Overwrites all elements with random numbers from the Cauchy distribution.",
     [](const Call& call) -> PyObject* {
       return overwritten(call, [&](Tensor& self) {
         return cauchy_(self, call.floating(Name::median, 0), call.floating(Name::sigma, 1));
       });
     }},
    {"exponential_", kMethod, "(Tensor input, float lambd=1, " TENON_GENERATOR ")",
     "Overwrites all elements with random numbers from the exponential distribution.",
     [](const Call& call) -> PyObject* {
       return overwritten(call, [&](Tensor& self) { return exponential_(self, call.floating(Name::lambd, 1)); });
     }},
    {"geometric_", kMethod, "(Tensor input, float p, " TENON_GENERATOR ")",
     "Overwrites all elements with random numbers of trials until the first success of probability p.",
     [](const Call& call) -> PyObject* {
       return overwritten(call, [&](Tensor& self) { return geometric_(self, call.floating(Name::p, 0)); });
     }},
    {"log_normal_", kMethod, "(Tensor input, float mean=1, float std=2, " TENON_GENERATOR ")",
     "Overwrites all elements with exp of random numbers from the normal distribution.",
     [](const Call& call) -> PyObject* {
       return overwritten(call, [&](Tensor& self) {
         return log_normal_(self, call.floating(Name::mean, 1), call.floating(Name::std, 2));
       });
     }},
    {"normal_", kMethod, "(Tensor input, float mean=0, float std=1, " TENON_GENERATOR ")",
     "Overwrites all elements with random numbers from the normal distribution.",
     [](const Call& call) -> PyObject* {
       return overwritten(call, [&](Tensor& self) {
         return normal_(self, call.floating(Name::mean, 0), call.floating(Name::std, 1));
       });
     }},
    {"random_", kMethod,
     "(Tensor input, " TENON_GENERATOR ")\n(Tensor input, int from, int? to, " TENON_GENERATOR
     ")\n(Tensor input, int to, " TENON_GENERATOR ")",
     "Overwrites all elements with random integers in [from, to).", random_call},
    {"uniform_", kMethod, "(Tensor input, float from=0, float to=1, " TENON_GENERATOR ")",
     "Overwrites all elements with random numbers, uniform in [from, to).",
     [](const Call& call) -> PyObject* {
       return overwritten(call, [&](Tensor& self) {
         return uniform_(self, call.floating(Name::from, 0), call.floating(Name::to, 1));
       });
     }},
};

}  // namespace

std::vector<Entry> draw_entries() { return entries<kDraws>(); }

}  // namespace tenon::python
