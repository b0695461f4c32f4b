"""Mutated .safetensors files: tensors inside the file, or a RuntimeError with its name.

Some cases mutate the header's text and correct the header's length; others mutate the bytes of the whole file."""

import os
import tempfile

import mutation
import tenon

WORDS = [b'{"', b'":{', b"}}", b"[", b"]", b",", b'"dtype":"F32"', b'"dtype":"BOOL"', b'"shape":[2,3]', b'"shape":[]',
         b'"data_offsets":[0,24]', b'"__metadata__":{}', b"null", b"true", b"1e3", b"-1", b"9223372036854775808", b"\\u0000",
         b"NaN", b"\xff\xfe", b"[" * 2000]  # fmt: skip


class File:
    def __init__(self):
        self.folder = tempfile.TemporaryDirectory(dir="/dev/shm" if os.path.isdir("/dev/shm") else None)
        self.path = os.path.join(self.folder.name, "case.safetensors")

    def write(self, content):
        with open(self.path, "wb") as file:
            file.write(content)
        return self.path


def seeds():
    file = File()
    dicts = [
        {},
        {"a": tenon.arange(6.0).reshape(2, 3)},
        {"weight": tenon.ones(2, dtype=tenon.float64), "bias": tenon.tensor([True, False]), "e": tenon.empty(0, 3)},
        {"h": tenon.ones(3, dtype=tenon.bfloat16), "i": tenon.tensor(7), "u": tenon.tensor([1, 2], dtype=tenon.uint8)},
    ]
    for tensors in dicts:
        tenon.save(tensors, file.path)
        with open(file.path, "rb") as saved:
            yield saved.read()


SEEDS, FILE = list(seeds()), File()


def draw(random):
    seed = random.choice(SEEDS)
    if random.random() < 0.2:
        return mutation.changed(random, seed, WORDS)
    length = int.from_bytes(seed[:8], "little")
    header = seed[8 : 8 + length]
    header = mutation.changed_number(random, header) if random.random() < 0.5 else mutation.changed(random, header, WORDS)
    return len(header).to_bytes(8, "little") + header + seed[8 + length :]


def check(random):
    content = draw(random)
    path = FILE.write(content)
    try:
        tensors = tenon.load(path, mmap=random.random() < 0.5)
    except RuntimeError as error:
        assert str(error).startswith(path), error
        return
    assert isinstance(tensors, dict)
    assert sum(tensor.nbytes for tensor in tensors.values()) <= len(content)
    for tensor in tensors.values():
        assert tensor.is_contiguous()
        tensor.tolist()
    if random.random() < 0.9:
        return
    tenon.save(tensors, path)
    again = tenon.load(path)
    assert set(again) == set(tensors)
    for name, tensor in tensors.items():
        same = again[name]
        assert same.dtype == tensor.dtype and same.shape == tensor.shape and repr(same.tolist()) == repr(tensor.tolist())


if __name__ == "__main__":
    mutation.main(check)
