"""A photo normalised per channel: [H, W, 3] against [3].

    python examples/normalise_photo.py [PHOTO] [FOLDER]

writes before.png and after.png.
"""

import pathlib
import struct
import sys
import zlib

import tenon

DATA = pathlib.Path(__file__).resolve().parent.parent / "data"


def read_png(path):
    """The pixels of an 8-bit RGB picture as [H, W, 3]."""
    data = pathlib.Path(path).read_bytes()
    if data[:8] != b"\x89PNG\r\n\x1a\n":
        raise ValueError(f"{path} is no PNG")
    width = height = 0
    packed = b""
    at = 8
    while at < len(data):
        length, kind = struct.unpack(">I4s", data[at : at + 8])
        body = data[at + 8 : at + 8 + length]
        if kind == b"IHDR":
            width, height, depth, color, _, _, interlace = struct.unpack(">IIBBBBB", body)
            if (depth, color, interlace) != (8, 2, 0):
                raise ValueError(f"{path} is not plain 8-bit RGB")
        elif kind == b"IDAT":
            packed += body
        at += length + 12
    return unfilter(zlib.decompress(packed), height, width)


def paeth(left, above, corner):
    distances = [(abs(above - corner), left), (abs(left - corner), above), (abs(left + above - 2 * corner), corner)]
    return min(distances, key=lambda pair: pair[0])[1]


def unfilter(lines, height, width):
    """A PNG's lines hold differences to the neighbours; this adds them up."""
    row, above, pixels = 3 * width, bytes(3 * width), bytearray()
    for y in range(height):
        kind, line = lines[y * (row + 1)], bytearray(lines[y * (row + 1) + 1 : (y + 1) * (row + 1)])
        for x in range(row):
            left, corner = (line[x - 3], above[x - 3]) if x >= 3 else (0, 0)
            guess = (0, left, above[x], (left + above[x]) // 2, paeth(left, above[x], corner) if kind == 4 else 0)[kind]
            line[x] = (line[x] + guess) & 255
        pixels += line
        above = line
    return tenon.frombuffer(pixels, dtype=tenon.uint8).view(height, width, 3)


def write_png(path, pixels):
    height, width, _ = pixels.shape
    lines = tenon.zeros(height, 1 + 3 * width, dtype=tenon.uint8)
    lines[:, 1:] = pixels.reshape(height, 3 * width)

    def chunk(kind, body):
        return struct.pack(">I", len(body)) + kind + body + struct.pack(">I", zlib.crc32(kind + body))

    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    body = zlib.compress(bytes(memoryview(lines.view(-1))), 6)
    pathlib.Path(path).write_bytes(b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", header) + chunk(b"IDAT", body) + chunk(b"IEND", b""))


def normalised(photo):
    """Mean 0 and deviation 1 in every channel."""
    x = photo / 255
    mean = x.mean((0, 1))
    deviation = (x - mean).square().mean((0, 1)).sqrt()
    return (x - mean) / deviation


def to_pixels(x):
    """Two deviations to either side fill the range of a byte."""
    return ((x / 4 + 0.5) * 255).clamp(0, 255).to(tenon.uint8)


def main(photo=DATA / "raccoon.png", folder="out"):
    pixels = read_png(photo)
    result = normalised(pixels)
    pathlib.Path(folder).mkdir(parents=True, exist_ok=True)
    write_png(pathlib.Path(folder) / "before.png", pixels)
    write_png(pathlib.Path(folder) / "after.png", to_pixels(result))
    print("shape", tuple(pixels.shape), "against", tuple(result.mean((0, 1)).shape))
    print("mean of each channel before", [round(value, 3) for value in (pixels / 255).mean((0, 1)).tolist()])
    print("mean of each channel after ", [round(abs(value), 3) for value in result.mean((0, 1)).tolist()])
    return pixels, result


if __name__ == "__main__":
    main(*sys.argv[1:])
