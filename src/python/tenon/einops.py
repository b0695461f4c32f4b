"""Teaches einops tensors: after `import tenon.einops`, einops.rearrange, reduce, repeat, pack and einsum take them."""

from einops._backends import AbstractBackend

import tenon


class Backend(AbstractBackend):
    framework_name = "tenon"

    def is_appropriate_type(self, tensor):
        return isinstance(tensor, tenon.Tensor)

    def from_numpy(self, x):
        return tenon.from_numpy(x)

    def to_numpy(self, x):
        return x.numpy(force=True)

    def arange(self, start, stop):
        return tenon.arange(start, stop)

    def transpose(self, x, axes):
        return x.permute(axes)

    def reduce(self, x, operation, axes):
        return getattr(tenon.array_api, operation)(x, axis=tuple(axes))

    def stack_on_zeroth_dimension(self, tensors):
        return tenon.stack(tensors)

    def add_axis(self, x, new_position):
        return x.unsqueeze(new_position)

    def add_axes(self, x, n_axes, pos2len):
        """Dims of stride 0; no memory is written."""
        sizes = [-1] * n_axes
        for position, size in pos2len.items():
            x, sizes[position] = x.unsqueeze(position), size
        return x.expand(sizes)

    def tile(self, x, repeats):
        return x.repeat(repeats)

    def concat(self, tensors, axis):
        return tenon.cat(tensors, axis)

    def is_float_type(self, x):
        return x.is_floating_point()

    def einsum(self, pattern, *x):
        return tenon.einsum(pattern, *x)
