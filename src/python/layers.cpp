// Functions of tenon/nn.h, and others that are composed of ops, with the parameters of PyTorch's C++ functions.
#include "python/bindings.h"
#include "python/out.h"
#include "tenon/autograd.h"
#include "tenon/nn.h"
#include "tenon/ops.h"

namespace tenon::python {
namespace {

constexpr Binding kFunction = Binding::function;
constexpr const char* kDropSignature = "(Tensor input, float p, bool train)";

template <Tensor (*kDropout)(const Tensor&, double, bool)>
PyObject* dropped(const Call& call) {
  const Tensor& input = call.tensor(Name::input);
  const double p = call.floating(Name::p, 0);
  Tensor result = call.run([&] { return kDropout(input, p, call.boolean(Name::train)); });
  return result.is(input) ? again(call.object(Name::input)) : wrap(std::move(result));
}
template <Tensor& (*kDropout)(Tensor&, double, bool)>
PyObject* drop(const Call& call) {
  const double p = call.floating(Name::p, 0);
  call.run([&] { kDropout(call.tensor(Name::input), p, call.boolean(Name::train)); });
  return again(call.object(Name::input));
}

using Normalize = Tensor (*)(const Tensor&, const Tensor&, const Tensor&, const Tensor&, const Tensor&, bool, double,
                             double, bool);
template <Normalize kNormalize, Name kTraining>
PyObject* normalized(const Call& call) {
  const double momentum = call.floating(Name::momentum, 0), eps = call.floating(Name::eps, 0);
  return wrap(call.run([&] {
    return kNormalize(call.tensor(Name::input), call.optional_tensor(Name::weight), call.optional_tensor(Name::bias),
                      call.optional_tensor(Name::running_mean), call.optional_tensor(Name::running_var),
                      call.boolean(kTraining), momentum, eps, false);
  }));
}

const Definition kLayers[] = {
    {"alpha_dropout", kFunction, kDropSignature,
     "In training what is drawn with probability p becomes the lower end of selu; mean and variance are kept.",
     dropped<alpha_dropout>},
    {"alpha_dropout_", kFunction, kDropSignature, "alpha_dropout in place.", drop<alpha_dropout_>},
    {"batch_norm", kFunction,
     "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float "
     "momentum, float eps, bool cudnn_enabled)",
     "input less the mean of each channel, over the root of its variance + eps; times weight, plus bias. In training "
     "these are of the batch, and the running ones are updated; otherwise the running ones.",
     normalized<batch_norm, Name::training>},
    {"chain_matmul", kFunction, "(Tensors matrices, *, Tensor out=None)", "linalg.multi_dot of matrices.",
     [](const Call& call) -> PyObject* {
       const List<Tensor> matrices = call.tensors(Name::matrices);
       if (!call.has(Name::out)) return wrap(call.run([&] { return chain_matmul(matrices); }));
       call.run([&] { chain_matmul_out(call.tensor(Name::out), matrices); });
       return call.returned();
     }},
    {"dropout", kFunction, kDropSignature,
     "In training each element is 0 with probability p, and otherwise divided by 1 - p.", dropped<dropout>},
    {"dropout_", kFunction, kDropSignature, "dropout in place.", drop<dropout_>},
    {"embedding", kFunction,
     "(Tensor weight, Tensor indices, int padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False)",
     "The rows of weight whose numbers are in indices. That of padding_idx has no gradient.",
     [](const Call& call) -> PyObject* {
       const int64_t padding = call.integer(Name::padding_idx, -1);
       return wrap(call.run([&] {
         return embedding(call.tensor(Name::weight), call.tensor(Name::indices), padding,
                          call.boolean(Name::scale_grad_by_freq), call.boolean(Name::sparse));
       }));
     }},
    {"embedding_renorm_", kFunction, "(Tensor input, Tensor indices, float max_norm, float norm_type)",
     "In place: the rows whose numbers are in indices are shortened to a norm of at most max_norm.",
     [](const Call& call) -> PyObject* {
       const double most = call.floating(Name::max_norm, 0), order = call.floating(Name::norm_type, 2);
       call.run([&] { embedding_renorm_(call.tensor(Name::input), call.tensor(Name::indices), most, order); });
       return again(call.object(Name::input));
     }},
    {"feature_alpha_dropout", kFunction, kDropSignature, "alpha_dropout of whole channels.",
     dropped<feature_alpha_dropout>},
    {"feature_alpha_dropout_", kFunction, kDropSignature, "feature_alpha_dropout in place.",
     drop<feature_alpha_dropout_>},
    {"feature_dropout", kFunction, kDropSignature, "dropout of whole channels.", dropped<feature_dropout>},
    {"feature_dropout_", kFunction, kDropSignature, "feature_dropout in place.", drop<feature_dropout_>},
    {"instance_norm", kFunction,
     "(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, "
     "float momentum, float eps, bool cudnn_enabled)",
     "batch_norm of each element of the batch alone.", normalized<instance_norm, Name::use_input_stats>},
};

/// In tenon.nn.functional, and what tenon.nn.utils calls.
const Definition kOfNn[] = {
    {"_clip_grads_with_norm_", kFunction, "(Tensors tensors, float max, Tensor input)", "",
     [](const Call& call) -> PyObject* {
       autograd::clip_grads_with_norm_(call.tensors(Name::tensors), call.floating(Name::max, 0),
                                       call.tensor(Name::input));
       return again(Py_None);
     }},
    {"_total_norm", kFunction, "(Tensors tensors, float p)", "",
     [](const Call& call) -> PyObject* {
       return wrap(autograd::get_total_norm(call.tensors(Name::tensors), call.floating(Name::p, 2)));
     }},
    {"scaled_dot_product_attention", kFunction,
     "(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0.0, bool is_causal=False, *, "
     "float? scale=None, bool enable_gqa=False)",
     "softmax(query @ key.mT * scale) @ value, where attn_mask is true, or with attn_mask added to the products.",
     [](const Call& call) -> PyObject* {
       const double dropout_p = call.floating(Name::dropout_p, 0);
       const std::optional<double> scale = call.optional_floating(Name::scale);
       return wrap(call.run([&] {
         return scaled_dot_product_attention(call.tensor(Name::query), call.tensor(Name::key), call.tensor(Name::value),
                                             call.optional_tensor(Name::attn_mask), dropout_p,
                                             call.boolean(Name::is_causal), scale, call.boolean(Name::enable_gqa));
       }));
     }},
};

}  // namespace

std::vector<Entry> layer_entries() { return entries<kLayers>(); }
std::vector<Entry> layer_entries_of_nn() { return entries<kOfNn>(); }

}  // namespace tenon::python
