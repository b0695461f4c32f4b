// Errors of autograd, with PyTorch's texts.
#include <gtest/gtest.h>

#include <functional>
#include <string>

#include "autograd_tests.h"

namespace {

using namespace tenon;
using namespace autograd_tests;

/// Every text in the specification's chapter that a C++ call can raise.
TEST(Autograd, Errors) {
  const std::string twice =
      "Trying to backward through the graph a second time (or directly access saved tensors after they have already "
      "been freed). Saved intermediate values of the graph are freed when you call .backward() or autograd.grad(). "
      "Specify retain_graph=True if you need to backward through the graph a second time or if you need to access "
      "saved tensors after calling backward.";
  const std::string out =
      "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments requires "
      "grad.";
  const auto version = [](const char* of, const char* shape) {
    return std::string(
               "one of the variables needed for gradient computation has been modified by an inplace "
               "operation: [torch.FloatTensor ") +
           shape + "]" + of +
           " is at version 1; expected version 0 instead. Hint: enable anomaly detection to find the operation that "
           "failed to compute its gradient, with torch.autograd.set_detect_anomaly(True, check_nan=False).";
  };
  const auto mode = [](const char* made, const char* found, const char* block) {
    return std::string("A view was created in ") + made + " mode and is being modified inplace " + found +
           ". Given that this use case is ambiguous and error-prone, it is forbidden. You can clarify your code by "
           "moving both the view and the inplace either both inside the " +
           block +
           " block (if you don't want the inplace to be tracked) or both outside (if you want the inplace to be "
           "tracked).";
  };
  const std::string ambiguous = mode("no_grad", "with grad mode enabled", "no_grad");
  const std::string view_of_leaf =
      "a view of a leaf Variable that requires grad is being used in an in-place operation.";
  struct Case {
    const char* name;
    std::string want;
    std::function<void()> call;
  };
  const Case cases[] = {
      {"leaf_inplace", "a leaf Variable that requires grad is being used in an in-place operation.",
       [] { leaf({2}).add_(1); }},
      {"leaf_inplace_view", view_of_leaf, [] { leaf({2}).slice(0, 0, 1).add_(1); }},
      {"leaf_setitem", view_of_leaf, [] { leaf({2})[0].fill_(1); }},
      {"leaf_copy", "a leaf Variable that requires grad is being used in an in-place operation.",
       [] { leaf({2}).copy_(ones({2})); }},
      {"leaf_out", "neg" + out,
       [] {
         Tensor o = leaf({2});
         neg_out(o, ones({2}));
       }},
      {"out.input", "add" + out,
       [] {
         Tensor o = empty({2});
         add_out(o, leaf({2}), ones({2}));
       }},
      {"sum.out", "sum" + out,
       [] {
         Tensor o = empty({});
         sum_out(o, leaf({2}));
       }},
      {"mm.out", "mm" + out,
       [] {
         Tensor o = empty({2, 2});
         mm_out(o, leaf({2, 2}), ones({2, 2}));
       }},
      {"leaf_inplace_no_grad_ok", "accepted",
       [] {
         Tensor x = leaf({2});
         const NoGrad no_grad;
         x.add_(1);
       }},
      {"version", version(", which is output 0 of Exp,", "[2]"),
       [] {
         Tensor y = leaf({2}).exp();
         y.add_(1);
         y.sum().backward();
       }},
      {"version_input", version(", which is output 0 of Add,", "[2]"),
       [] {
         Tensor y = leaf({2}) * 1;
         const Tensor w = y * y;
         y.add_(1);
         w.sum().backward();
       }},
      {"version_view_of_written", version(", which is output 0 of AsStrided,", "[2]"),
       [] {
         Tensor y = leaf({2}) * 1;
         y.mul_(y.view({2}));
         y.sum().backward();
       }},
      {"version_base_of_written", version(", which is output 0 of torch::autograd::CopySlices,", "[2, 1]"),
       [] {
         const Tensor y = leaf({2, 1}) * 1;
         Tensor(y.view({2, 1})).mul_(y);
         y.sum().backward();
       }},
      {"version_beside_written_no_grad",
       "Output 0 of View is a view of a view which was created in no_grad mode and its base or another view of its "
       "base has been modified inplace with grad mode enabled" +
           ambiguous.substr(ambiguous.find(". Given")),
       [] {
         Tensor y = leaf({2}) * 1, view;
         {
           const NoGrad no_grad;
           view = y.view({2});
         }
         y.mul_(view.view({2}));
         try {
           y.sum().backward();
         } catch (const Error&) {
           y.detach_();  // otherwise it would form a reference cycle with its history, as in PyTorch
           throw;
         }
       }},
      {"version_zero_dim", version(", which is output 0 of Exp,", "[]"),
       [] {
         Tensor y = leaf({}).exp();
         y.add_(1);
         y.backward();
       }},
      {"version_leaf", version("", "[2]"),
       [] {
         Tensor x = leaf({2});
         const Tensor w = x * x;
         {
           const NoGrad no_grad;
           x.add_(1);
         }
         w.sum().backward();
       }},
      {"version_view", version(", which is output 0 of Exp,", "[3]"),
       [] {
         const Tensor x = leaf({3});
         const Tensor w = (x * 1).exp();
         w.slice(0, 0, 1).add_(1);
         w.sum().backward();
       }},
      {"scalar_only", "grad can be implicitly created only for scalar outputs", [] { (leaf({2}) * 2).backward(); }},
      {"no_grad_fn", "element 0 of tensors does not require grad and does not have a grad_fn",
       [] { ones({}).backward(); }},
      {"no_grad_fn_many", "element 0 of tensors does not require grad and does not have a grad_fn",
       [] { ones({2}).backward(); }},
      {"twice", twice,
       [] {
         const Tensor y = leaf({2}).exp().sum();
         y.backward();
         y.backward();
       }},
      {"twice_add_ok", "accepted",
       [] {
         const Tensor y = (leaf({2}) + 1).sum();
         y.backward();
         y.backward();
       }},
      {"grad_shape",
       "Mismatch in shape: grad_output[0] has a shape of torch.Size([3]) and output[0] has a shape of torch.Size([2]).",
       [] { (leaf({2}) * 2).backward(ones({3})); }},
      {"grad_shape_broadcastable",
       "Mismatch in shape: grad_output[0] has a shape of torch.Size([1]) and output[0] has a shape of torch.Size([2]).",
       [] { (leaf({2}) * 2).backward(ones({1})); }},
      {"grad_dtype_ok", "accepted", [] { (leaf({2}) * 2).backward(ones({2}, float64)); }},
      {"grad_unused",
       "The differentiated Tensor at index 0 appears to not have been used in the graph. Set allow_unused=True if this "
       "is the desired behavior.",
       [] { autograd::grad({leaf({2}).sum()}, {leaf({2})}); }},
      {"grad_no_requires", "One of the differentiated Tensors does not require grad",
       [] { autograd::grad({leaf({2}).sum()}, {ones({2})}); }},
      {"grad_no_inputs", "`inputs` argument to `grad()` cannot be empty.",
       [] { autograd::grad({leaf({2}).sum()}, {}); }},
      {"requires_grad_int", "only Tensors of floating point dtype can require gradients",
       [] { ones({2}, int32).requires_grad_(); }},
      {"requires_grad_nonleaf",
       "you can only change requires_grad flags of leaf variables. If you want to use a computed variable in a "
       "subgraph "
       "that doesn't require differentiation use var_no_grad = var.detach().",
       [] { (leaf({2}) * 2).requires_grad_(false); }},
      {"nonleaf_grad",
       "UserWarning: The .grad attribute of a Tensor that is not a leaf Tensor is being accessed. Its .grad attribute "
       "won't be populated during autograd.backward(). If you indeed want the .grad field to be populated for a "
       "non-leaf Tensor, use .retain_grad() on the non-leaf Tensor. If you access the non-leaf Tensor by mistake, make "
       "sure you access the leaf Tensor instead. See github.com/pytorch/pytorch/pull/30531 for more information.",
       [] {
         const Tensor y = leaf({2}) * 2;
         y.sum().backward();
         y.grad();
       }},
      {"retain_grad", "can't retain_grad on Tensor that has requires_grad=False", [] { ones({2}).retain_grad(); }},
      {"set_grad_shape",
       "attempting to assign a gradient of size '[3]' to a tensor of size '[2]'. Please ensure that the gradient and "
       "the tensor are the same size",
       [] { leaf({2}).set_grad(ones({3})); }},
      {"set_grad_dtype",
       "attempting to assign a gradient with dtype 'double' to a tensor with grad_dtype 'Float'. The gradient must "
       "match "
       "the tensor's grad_dtype (defaults to the tensor's dtype). You can set the tensor's grad_dtype attribute with a "
       "specific dtype, or None to allow any dtype. Set grad_dtype with caution. Diverging the dtypes of a tensor and "
       "its gradient may break downstream systems that assume they match.",
       [] { leaf({2}).set_grad(ones({2}, float64)); }},
      {"set_grad_self", "can't assign Variable as its own grad",
       [] {
         Tensor x = leaf({2});
         x.set_grad(x);
       }},
      {"detach_inplace",
       "Can't detach views in-place. Use detach() instead. If you are using DistributedDataParallel (DDP) for "
       "training, "
       "and gradient_as_bucket_view is set as True, gradients are views of DDP buckets, and hence detach_() cannot be "
       "called on these gradients. To fix this error, please refer to the Optimizer.zero_grad() function in "
       "torch/optim/optimizer.py as the solution.",
       [] { (leaf({2}) * 2).slice(0, 0, 1).detach_(); }},
      {"no_grad_view_inplace", ambiguous,
       [] {
         const Tensor x = leaf({2}) * 1;
         Tensor y;
         {
           const NoGrad no_grad;
           y = x.slice(0, 0, 1);
         }
         y.add_(1);
       }},
      {"inference_view_inplace", mode("inference", "in normal mode", "inference_mode"),
       [] {
         const Tensor x = leaf({2}) * 1;
         Tensor y;
         {
           const InferenceMode inference;
           y = x.slice(0, 0, 1);
         }
         y.add_(1);
       }},
      {"inference_inplace",
       "Inplace update to inference tensor outside InferenceMode is not allowed.You can make a clone to get a normal "
       "tensor before doing inplace update.See https://github.com/pytorch/rfcs/pull/17 for more details.",
       [] {
         Tensor x;
         {
           const InferenceMode inference;
           x = ones({2});
         }
         x.add_(leaf({2}));
       }},
      {"inference_saved",
       "Inference tensors cannot be saved for backward. Please do not use Tensors created in inference mode in "
       "computation tracked by autograd. To work around this, you can make a clone to get a normal tensor and use it "
       "in "
       "autograd, or use `torch.no_grad()` instead of `torch.inference_mode()`.",
       [] {
         Tensor x;
         {
           const InferenceMode inference;
           x = ones({2});
         }
         leaf({2}) * x;
       }},
      {"inference_version", "Inference tensors do not track version counter.",
       [] {
         const InferenceMode inference;
         ones({2}).version();
       }},
      {"inference_requires_grad",
       "Setting requires_grad=True on inference tensor outside InferenceMode is not allowed.",
       [] {
         Tensor x;
         {
           const InferenceMode inference;
           x = ones({2});
         }
         x.requires_grad_();
       }},
      {"expanded_inplace",
       "unsupported operation: more than one element of the written-to tensor refers to a single memory location. "
       "Please clone() the tensor before performing the operation.",
       [] { (leaf({1}) * 1).expand({3}).add_(1); }},
      {"create_graph",
       "UserWarning: Using backward() with create_graph=True will create a reference cycle between the parameter and "
       "its gradient which can cause a memory leak. We recommend using autograd.grad when creating the graph to avoid "
       "this. If you have to use this function, make sure to reset the .grad fields of your parameters to None after "
       "use to break the cycle and avoid the leak.",
       [] {
         Tensor x = leaf({2});
         x.exp().sum().backward({}, {}, true);
         x.set_grad({});
       }},
      {"hook_not_required", "cannot register a hook on a tensor that doesn't require gradient",
       [] { ones({2}).register_hook([](const Tensor& g) { return g; }); }},
      {"post_hook_of_nonleaf", "post accumulate grad hooks cannot be registered on non-leaf tensors",
       [] { (leaf({2}) * 2).register_post_accumulate_grad_hook([](const Tensor&) {}); }},
      {"hook_shape", "hook has changed the size of value",
       [] {
         Tensor x = leaf({2});
         x.register_hook([](const Tensor&) { return ones({3}); });
         x.sum().backward();
       }},
      {"hook_count", "hook has returned an incorrect number of values (got 2, but expected 1)",
       [] {
         const Tensor y = leaf({2}) * 2;
         y.grad_fn().register_prehook([](const autograd::Tensors& grads) {
           return autograd::Tensors{grads[0], grads[0]};
         });
         y.sum().backward();
       }},
      {"mm_twice", twice,
       [] {
         const Tensor x = leaf({2, 2}), y = mm(x, x).sum();
         y.backward();
         y.backward();
       }},
      {"sum_of_integers", "Autograd not support dtype: Long", [] { leaf({2}).sum({}, false, int64); }},
      {"grad_device",
       "attempting to assign a gradient with device type 'meta' to a tensor with device type 'cpu'. Please ensure that "
       "the gradient and the tensor are on the same device",
       [] {
         leaf({2}).set_grad(ones({2}, {float32, Device::meta}));
       }},
      {"data_dtype", "data set to a tensor that requires gradients must be floating point or complex dtype",
       [] { leaf({2}).set_data(ones({2}, int64)); }},
      {"resize.requires_grad", "cannot resize variables that require grad", [] { leaf({2}).resize_({3}); }},
  };
  for (const Case& c : cases) EXPECT_EQ(text_of(c.call), c.want) << c.name;
}

TEST(Autograd, AnomalyModeNamesTheForwardCall) {
  const autograd::DetectAnomaly anomaly;
  const Tensor x = zeros({2}).requires_grad_();
  const Tensor y = ((x - 1).sqrt() * 0).sum();
  try {
    y.backward();
    FAIL() << "a NaN passed";
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), "Function 'SqrtBackward0' returned nan values in its 0th output.");
    ASSERT_EQ(error.notes().size(), 1u);
    EXPECT_EQ(error.notes()[0],
              "Error detected in SqrtBackward0. Forward call that caused the error: sqrt(float32[2])");
  }
}

}  // namespace
