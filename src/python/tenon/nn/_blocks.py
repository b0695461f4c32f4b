"""unfold and fold: the blocks of images as columns, and the sums of overlapping columns."""

import tenon

from .._dtypes import kind_of
from .._tenon import _nn


def _pairs(**sizes):
    """An integer stands for two."""
    pairs = []
    for name, size in sizes.items():
        pair = (size, size) if isinstance(size, int) else tuple(size)
        if len(pair) != 2:
            raise RuntimeError(f"It is expected {name} equals to 2, but got size {len(pair)}")
        pairs.append(pair)
    return pairs


def _check_steps(kernel, dilation, padding, stride):
    for name, short, sizes in (("kernel size", "kernel_", kernel), ("stride", "stride_", stride), ("dilation", "dilation_", dilation)):
        if min(sizes) <= 0:
            raise RuntimeError(f"{name} should be greater than zero, but got {short}height: {sizes[0]} {short}width: {sizes[1]}")
    if min(padding) < 0:
        raise RuntimeError(f"padding should be non-negative, but got pad_height: {padding[0]} pad_width: {padding[1]}")


def _counts(sizes, kernel, dilation, padding, stride):
    """How many blocks fit along each dim."""
    return tuple(
        (size + 2 * pad - step * (length - 1) - 1) // hop + 1
        for size, length, step, pad, hop in zip(sizes, kernel, dilation, padding, stride)
    )


def _check_code(name, input):
    if not (input.is_floating_point() or input.is_complex() or input.dtype == tenon.bool):
        raise NotImplementedError(f"\"{name}\" not implemented for '{kind_of(input.dtype)}'")


def unfold(input, kernel_size, dilation=1, padding=0, stride=1):
    """The blocks of kernel_size elements of images as columns: [N, C, H, W] gives [N, C * elements of a block, blocks]."""
    kernel, dilation, padding, stride = _pairs(kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride)
    if input.dim() < 3:
        input.size(2)  # the error of a dim out of range
    _check_steps(kernel, dilation, padding, stride)
    if input.dim() not in (3, 4) or 0 in input.shape[input.dim() - 3 :]:
        raise RuntimeError(
            "Expected 3D or 4D (batch mode) tensor with possibly 0 batch size and other non-zero dimensions for input, but got: "
            f"{list(input.shape)}"
        )
    counts = _counts(input.shape[-2:], kernel, dilation, padding, stride)
    if min(counts) < 1:
        raise RuntimeError(
            f"Given input with spatial size {tuple(input.shape[-2:])}, kernel_size={kernel}, dilation={dilation}, padding={padding}, "
            f"calculated shape of the array of sliding blocks as {counts}, but its components must be at least one."
        )
    _check_code("im2col_out_cpu", input)
    batch = input if input.dim() == 4 else input.unsqueeze(0)
    images = _nn.pad(batch, [padding[1], padding[1], padding[0], padding[0]], "constant", None) if max(padding) else batch
    for dim in (0, 1):
        images = images.unfold(2 + dim, dilation[dim] * (kernel[dim] - 1) + 1, stride[dim])
    blocks = images[..., :: dilation[0], :: dilation[1]].permute(0, 1, 4, 5, 2, 3)
    columns = blocks.reshape(batch.size(0), batch.size(1) * kernel[0] * kernel[1], counts[0] * counts[1])
    return columns if input.dim() == 4 else columns.squeeze(0)


def fold(input, output_size, kernel_size, dilation=1, padding=0, stride=1):
    """The images of output_size in which the columns of blocks are added up: the inverse of unfold where blocks do not overlap."""
    sizes, kernel, dilation, padding, stride = _pairs(
        output_size=output_size, kernel_size=kernel_size, dilation=dilation, padding=padding, stride=stride
    )
    _check_steps(kernel, dilation, padding, stride)
    if input.dim() not in (2, 3) or 0 in input.shape[input.dim() - 2 :]:
        raise RuntimeError(
            "Expected 2D or 3D (batch mode) tensor for input with possibly 0 batch size and non-zero dimensions for input, but got: "
            f"{list(input.shape)}"
        )
    elements, first = kernel[0] * kernel[1], input.dim() - 2
    if input.size(first) % elements:
        raise RuntimeError(
            f"Expected size of input's dimension 1 to be divisible by the product of kernel_size, but got input.size(1)={input.size(first)} "
            f"and kernel_size={kernel}."
        )
    counts = _counts(sizes, kernel, dilation, padding, stride)
    if counts[0] * counts[1] != input.size(-1) or min(counts) < 1:
        raise RuntimeError(
            f"Given output_size={sizes}, kernel_size={kernel}, dilation={dilation}, padding={padding}, stride={stride}, expected size of "
            f"input's dimension 2 to match the calculated number of sliding blocks {counts[0]} * {counts[1]} = {counts[0] * counts[1]}, "
            f"but got input.size(2)={input.size(-1)}."
        )
    _check_code("col2im_out_cpu", input)
    batch = input if input.dim() == 3 else input.unsqueeze(0)
    columns = batch.reshape(batch.size(0), batch.size(1) // elements, *kernel, *counts)
    images = tenon.zeros(*columns.shape[:2], *(size + 2 * pad for size, pad in zip(sizes, padding)), dtype=input.dtype, device=input.device)
    for row in range(kernel[0]):
        for column in range(kernel[1]):
            at = [slice(place * step, place * step + hop * (count - 1) + 1, hop)
                  for place, step, hop, count in zip((row, column), dilation, stride, counts)]  # fmt: skip
            images[:, :, at[0], at[1]].add_(columns[:, :, row, column])
    images = images[:, :, padding[0] : padding[0] + sizes[0], padding[1] : padding[1] + sizes[1]].contiguous()
    return images if input.dim() == 3 else images.squeeze(0)
