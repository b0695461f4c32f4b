// dispatch: layers of neural networks, which are composed of ops and differentiated through these. Parameters, their
// order and the texts of errors are those of PyTorch's C++ functions. A tensor that may be left out may be undefined.
#pragma once
#include <optional>

#include "tenon/tensor.h"

namespace tenon {

// --- Dropout. In training what is drawn with probability `p` becomes 0, and the rest is divided by 1 - p. Otherwise,
// and for p = 0, the result is `input` itself. Error "dropout probability has to be between 0 and 1, but got 1.5".

/// Of single elements.
TENON_API Tensor dropout(const Tensor& input, double p, bool train);
TENON_API Tensor& dropout_(Tensor& input, double p, bool train);
/// Of whole channels, [batch, channels, ...]. Error "Feature dropout requires at least 2 dimensions in the input".
TENON_API Tensor feature_dropout(const Tensor& input, double p, bool train);
TENON_API Tensor& feature_dropout_(Tensor& input, double p, bool train);
/// What is drawn becomes the lower end of selu, and mean and variance are kept.
TENON_API Tensor alpha_dropout(const Tensor& input, double p, bool train);
TENON_API Tensor& alpha_dropout_(Tensor& input, double p, bool train);
TENON_API Tensor feature_alpha_dropout(const Tensor& input, double p, bool train);
TENON_API Tensor& feature_alpha_dropout_(Tensor& input, double p, bool train);

// --- Normalization

/// `input`, divided by its norm of order `p` along `dim`, which is at least `eps`.
TENON_API Tensor normalize(const Tensor& input, double p = 2, int64_t dim = 1, double eps = 1e-12);
/// `input`, [batch, channels, ...], less the mean of each channel, over the root of its variance + eps; times `weight`,
/// plus `bias`: [channels]. In training these are of the batch, and the running ones, if there are any, become 1 -
/// momentum of themselves and momentum of the batch's; otherwise the running ones. Errors "running_mean should contain
/// 3 elements not 2", "running_var must be defined in evaluation mode", "mixed dtype (CPU): ...".
TENON_API Tensor batch_norm(const Tensor& input, const Tensor& weight, const Tensor& bias, const Tensor& running_mean,
                            const Tensor& running_var, bool training, double momentum, double eps,
                            bool cudnn_enabled = false);
/// batch_norm of each element of the batch alone; the running numbers take the mean over the batch.
TENON_API Tensor instance_norm(const Tensor& input, const Tensor& weight, const Tensor& bias,
                               const Tensor& running_mean, const Tensor& running_var, bool use_input_stats,
                               double momentum, double eps, bool cudnn_enabled = false);

// --- Rows of a table

/// The rows of `weight`, [rows, columns], at the places in `indices`, int32 or int64: [*indices.sizes(), columns]. The
/// row `padding_idx` gets no gradient; that of others is divided by how often they are used if `scale_grad_by_freq`.
/// Errors
/// "'weight' must be 2-D", "Expected tensor for argument #1 'indices' to have one of the following scalar types: ...".
TENON_API Tensor embedding(const Tensor& weight, const Tensor& indices, int64_t padding_idx = -1,
                           bool scale_grad_by_freq = false, bool sparse = false);
/// Shortens the rows of `weight` at the places in `indices` whose norm of order `norm_type` is above `max_norm`.
TENON_API Tensor& embedding_renorm_(Tensor& weight, const Tensor& indices, double max_norm, double norm_type);

// --- Attention

/// softmax(query key^T * scale) value: [..., L, E], [..., S, E] and [..., S, V] give [..., L, V]. `scale` is 1 /
/// sqrt(E) unless given. `attn_mask`, [..., L, S], is true where a query may look, or is added to the products. If it
/// `is_causal`, a query looks at its own place and those before. With `enable_gqa` heads of `key` and `value`, their
/// dim -3, are repeated. Errors "Expected query, key, and value to have the same dtype, but got ...", "... to all be at
/// least 2 dimensional ...", "_scaled_dot_product_attention: Explicit attn_mask should not be set when is_causal=True".
TENON_API Tensor scaled_dot_product_attention(const Tensor& query, const Tensor& key, const Tensor& value,
                                              const Tensor& attn_mask = {}, double dropout_p = 0,
                                              bool is_causal = false, std::optional<double> scale = std::nullopt,
                                              bool enable_gqa = false);

}  // namespace tenon
