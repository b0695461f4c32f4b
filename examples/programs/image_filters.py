"""Blur, sharpen, edges and histogram equalisation of a picture."""

import tenon as torch
import tenon.nn.functional as F


def convolve(picture, kernel):
    size = kernel.shape[0]
    padded = F.pad(picture[None, None], (size // 2,) * 4, mode="reflect")[0, 0]
    windows = padded.unfold(0, size, 1).unfold(1, size, 1)
    return (windows * kernel).sum(dim=(-2, -1))


def main():
    y, x = torch.meshgrid(torch.linspace(-1, 1, 40, dtype=torch.float64), torch.linspace(-1, 1, 40, dtype=torch.float64), indexing="ij")
    picture = 0.5 + 0.3 * torch.sin(8 * x) * torch.cos(6 * y) - 0.2 * (x**2 + y**2 < 0.3).double()
    line = torch.exp(-(torch.arange(-2, 3, dtype=torch.float64) ** 2) / 2)
    gauss = torch.outer(line, line)
    blurred = convolve(picture, gauss / gauss.sum())
    sharpened = (picture + 1.5 * (picture - blurred)).clamp(0, 1)
    sobel = torch.tensor([[1.0, 2.0, 1.0], [0.0, 0.0, 0.0], [-1.0, -2.0, -1.0]], dtype=torch.float64)
    edges = torch.sqrt(convolve(picture, sobel) ** 2 + convolve(picture, sobel.t()) ** 2)
    levels = (sharpened * 255).round().to(torch.int64)
    histogram = torch.bincount(levels.flatten(), minlength=256)
    share = torch.cumsum(histogram, dim=0).double() / levels.numel()
    equalised = share[levels]
    shades = " .:-=+*#%@"
    for row in equalised[::4, ::2]:
        print("".join(shades[min(int(value * 10), 9)] for value in row.tolist()))
    small = F.pad(blurred, (0, 0, 0, 0)).reshape(20, 2, 20, 2).mean(dim=(1, 3))
    return {"blurred": blurred, "sharpened": sharpened, "edges": edges, "equalised": equalised, "small": small,
            "turned": torch.rot90(small), "mirrored": torch.flip(small, dims=[1]), "histogram": torch.histc(picture, bins=10)}  # fmt: skip


if __name__ == "__main__":
    main()
