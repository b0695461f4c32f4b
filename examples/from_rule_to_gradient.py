# %% [markdown]
# # From the rule to the gradient
#
# One expression, `photo - mean`, followed from the broadcasting rule through the plan that runs it to the gradient that
# comes back. Runs as a script, and cell by cell in any editor that knows `# %%`.
#
#     python examples/from_rule_to_gradient.py

# %%
import shutil
import subprocess

import tenon

# %% [markdown]
# ## The rule
#
# Shapes are aligned at the right. Two sizes go together when they are equal or when one of them is 1; a dim that is
# missing counts as 1.

# %%
photo_shape, mean_shape = (4, 6, 3), (3,)
print("photo   4 6 3")
print("mean        3")
print("result ", *tenon.broadcast_shapes(photo_shape, mean_shape))
assert tenon.broadcast_shapes(photo_shape, mean_shape) == (4, 6, 3)

# %% [markdown]
# Where the rule is broken, the error names the dim, and its notes show the alignment.

# %%
try:
    tenon.ones(photo_shape) - tenon.ones(4)
except RuntimeError as error:
    print(error)
    print(*error.__notes__, sep="\n")

# %% [markdown]
# ## The strides
#
# Nothing is copied to make shapes equal. A broadcast dim is walked with a stride of 0: the same three numbers are read at
# every pixel.

# %%
mean = tenon.tensor([0.5, 0.25, 0.125])
expanded = mean.expand(photo_shape)
print("strides of the mean, as the operation sees it:", expanded.stride())
assert expanded.stride() == (0, 0, 1) and expanded.data_ptr() == mean.data_ptr()

# %% [markdown]
# ## The plan
#
# The shell shows what the engine makes of it: which dims become one loop, and how each operand reaches a tile.

# %%
EXPRESSION = "f32[4,6,3] - f32[3]"
command = shutil.which("tenon")
if command:
    print(subprocess.run([command, "explain", EXPRESSION], capture_output=True, text=True, check=True).stdout)
else:
    print(f'(with the shell command installed: tenon explain "{EXPRESSION}")')

# %% [markdown]
# ## The gradient
#
# What was read many times gets the sum of many gradients: the inverse of a broadcast is a sum over the same dims.

# %%
tenon.manual_seed(0)
photo = tenon.rand(photo_shape, requires_grad=True)
mean = tenon.tensor([0.5, 0.25, 0.125], requires_grad=True)
difference = photo - mean
loss = difference.square().sum()
print(loss)
node = difference.grad_fn
assert node is not None
print("recorded:", node, "<-", node.next_functions)

# %%
loss.backward()
assert mean.grad is not None and photo.grad is not None
print("gradient of the mean:", mean.grad)
by_hand = (-2 * difference.detach()).sum_to_size(3)
print("summed by hand:      ", by_hand)
assert mean.grad.shape == mean.shape and photo.grad.shape == photo.shape
assert tenon.allclose(mean.grad, by_hand)

# %% [markdown]
# ## The check
#
# Finite differences know nothing of broadcasting and agree.

# %%
operands = (tenon.rand(2, 4, 3, dtype=tenon.float64, requires_grad=True), tenon.rand(3, dtype=tenon.float64, requires_grad=True))
assert tenon.autograd.gradcheck(lambda photo, mean: (photo - mean).square(), operands)
print("finite differences agree")
