"""What tenon.fuse takes of memory: mapped files are read and written as they are computed, without a copy in memory."""

import json
import pathlib
import re

import pytest
import tenon
from memory import most_anonymous

np = pytest.importorskip("numpy")


@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
def test_mapped_files_in_bounded_memory(tmp_path):
    """Passes over a mapped file of 2 GB take no memory but their results': less than a sixtieth of it."""
    size = 1 << 31
    tenon.save(tenon.zeros(1, 1024), tmp_path / "x.npy")
    header = (tmp_path / "x.npy").read_bytes()[:128].replace(b"(1, 1024), }", f"({size >> 12}, 1024), }}".encode())
    with open(tmp_path / "x.npy", "wb") as file:
        file.write(header.rstrip(b" \n")[:127].ljust(127) + b"\n")
        file.truncate(128 + size)
    x = tenon.load(tmp_path / "x.npy", mmap=True)
    fused = tenon.fuse(lambda x: (((x - 1) * 2).sum(), tenon.exp(x - x.amax(-1, keepdim=True)).sum(-1), x.mean(0)))
    (total, rows, mean), taken = most_anonymous(lambda: fused(x))
    assert total.item() == -(size >> 1) and rows[-1].item() == 1024 and not mean.any()
    assert taken < 32 << 20


@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
def test_distances_without_their_matrix():
    """Which of 20,000 points is nearest to each of 20,000 others: the distances would have 1.6 GB, the differences 12.8 GB."""
    p, q = tenon.rand(20_000, 8), tenon.rand(20_000, 8)
    q[7], q[19_999] = p[3], p[12_345]
    nearest = tenon.fuse(lambda p, q: ((p[:, None] - q[None]) ** 2).sum(-1).argmin(1))
    found, taken = most_anonymous(lambda: nearest(p, q))
    assert found[3].item() == 7 and found[12_345].item() == 19_999
    assert taken < 64 << 20


@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
def test_all_distances_take_no_memory_but_their_own():
    """The differences of 20,000 x 20,000 points would have 12.8 GB, the distances have 1.6."""
    if int(re.search(r"MemAvailable: *(\d+)", pathlib.Path("/proc/meminfo").read_text())[1]) < 4 << 20:
        pytest.skip("takes 1.7 GB of memory")
    p, q = tenon.rand(20_000, 8), tenon.rand(20_000, 8)
    distances = tenon.fuse(lambda p, q: ((p[:, None] - q[None]) ** 2).sum(-1))
    found, taken = most_anonymous(lambda: distances(p, q))
    assert taken < found.numel() * 4 + (64 << 20)
    assert tenon.allclose(found[123], ((p[123] - q) ** 2).sum(-1), rtol=1e-5)


ROWS, COLUMNS = 1 << 15, 1 << 10  # 128 MB of float32


def mapped_npy(path, shape=(ROWS, COLUMNS)):
    return np.lib.format.open_memmap(path, "w+", np.float32, shape)


def mapped_safetensors(path, shape=(ROWS, COLUMNS)):
    """An entry "y" of a new file, as an array that may be written. It begins anywhere in a cache line."""
    nbytes = 4 * int(np.prod(shape))
    header = json.dumps({"y": {"dtype": "F32", "shape": shape, "data_offsets": [0, nbytes]}}).encode()
    header = header.ljust((len(header) + 7) // 8 * 8 + 8)
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with open(path, "r+b") as file:
        file.truncate(8 + len(header) + nbytes)
    return np.memmap(path, np.float32, "r+", 8 + len(header), shape)


def chain(x, row, column, out):
    return tenon.add(tenon.clamp((x - row) / column * 2, -1, 4), 1, out=out)


def gelu(x, row, column, out):
    return out.copy_(0.5 * x * (1 + tenon.tanh(0.7978845608 * (x + 0.044715 * x * x * x))))


def softmax(x, row, column, out):
    e = tenon.exp(x - x.amax(-1, keepdim=True))
    return tenon.div(e, e.sum(-1, keepdim=True), out=out)


def layer_norm(x, row, column, out):
    d = x - x.mean(-1, keepdim=True)
    return out.copy_(d * ((d * d).mean(-1, keepdim=True) + 1e-5).rsqrt() * row)


def in_place(x, row, column, out):
    """The elements of `out` are read where they are written."""
    return out.mul_(row).add_(1)


STREAMED = [chain, gelu, softmax, layer_norm, in_place]
MAPPED = {"x.npy": mapped_npy, "x.safetensors": mapped_safetensors}


def operands(rows, columns, dtype=tenon.float32):
    return [tenon.rand(shape, dtype=dtype) + 1 for shape in ((rows, columns), (columns,), (rows, 1))]


@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
@pytest.mark.parametrize("function", STREAMED, ids=lambda function: function.__name__)
@pytest.mark.parametrize("name", MAPPED)
def test_mapped_files_are_written_in_bounded_memory(tmp_path, name, function):
    """A function of a mapped file of 128 MB that writes another one takes less than 16 MB."""
    source = tmp_path / ("from." + name)
    write = MAPPED[name](source)
    write[:] = np.arange(COLUMNS, dtype=np.float32) / COLUMNS
    write.flush()
    x = tenon.load(source, mmap=True)
    x = x["y"] if name.endswith("safetensors") else x
    _, row, column = operands(ROWS, COLUMNS)
    fused, out = tenon.fuse(function), tenon.from_numpy(MAPPED[name](tmp_path / name))
    fused(x[:8], row, column[:8], out[:8])  # what every first call of a process loads
    out.zero_()
    _, taken = most_anonymous(lambda: fused(x, row, column, out))
    assert taken < 16 << 20
    del out
    written = tenon.load(tmp_path / name)
    written = written["y"] if name.endswith("safetensors") else written
    for part in (slice(0, 100), slice(ROWS - 100, ROWS)):
        expected = tenon.zeros(100, COLUMNS)
        function(x[part], row, column[part], expected)
        assert tenon.allclose(written[part], expected, rtol=1e-5, atol=1e-6)


@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
def test_a_large_safetensors_file_is_read_in_bounded_memory(tmp_path):
    """Two entries of 1 GB each, of a file without blocks on the disk."""
    size, columns = 1 << 30, 1024
    entries = {name: {"dtype": "F32", "shape": [size // 4 // columns, columns], "data_offsets": [i * size, (i + 1) * size]} for i, name in enumerate("ab")}
    header = json.dumps(entries).encode()
    header = header.ljust((len(header) + 7) // 8 * 8)
    path = tmp_path / "x.safetensors"
    path.write_bytes(len(header).to_bytes(8, "little") + header)
    with open(path, "r+b") as file:
        file.truncate(8 + len(header) + 2 * size)
    loaded = tenon.load(path, mmap=True)
    fused = tenon.fuse(lambda a, b: (((a - b) ** 2 + 1).sum(), (a + 1).mean(0), tenon.exp(b - b.amax(-1, keepdim=True)).sum(-1)))
    (total, mean, rows), taken = most_anonymous(lambda: fused(loaded["a"], loaded["b"]))
    assert total.item() == size / 4 and (mean == 1).all() and (rows == columns).all()
    assert taken < 32 << 20


LAYOUTS = {
    "contiguous": lambda rows, columns, dtype: tenon.zeros(rows, columns, dtype=dtype),
    "transposed": lambda rows, columns, dtype: tenon.zeros(columns, rows, dtype=dtype).t(),
    "with gaps": lambda rows, columns, dtype: tenon.zeros(rows, 2 * columns, dtype=dtype)[:, ::2],
    "off a cache line": lambda rows, columns, dtype: tenon.zeros(rows * columns + 1, dtype=dtype)[1:].view(rows, columns),
}


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("function", STREAMED, ids=lambda function: function.__name__)
def test_results_in_any_layout_and_dtype(function, layout):
    for rows, columns in ((3, 5), (129, 1001), (700, 1024)):
        x, row, column = operands(rows, columns)
        for dtype in (tenon.float32, tenon.float64, tenon.bfloat16):
            fused, expected = LAYOUTS[layout](rows, columns, dtype), LAYOUTS[layout](rows, columns, dtype)
            function(x, row, column, expected)
            call = tenon.fuse(function)
            for _ in range(2):
                fused.zero_()
                version = fused._version
                call(x, row, column, fused)
                assert fused._version > version
                assert tenon.allclose(fused, expected, rtol=2e-2 if dtype == tenon.bfloat16 else 1e-5, atol=1e-6)


def test_results_that_share_memory_with_operands():
    """Operands and results are parts of one array: what is read is not what was written."""

    def shifted(x, out):
        return tenon.sub(x * 2, x.flip(0) / 3, out=out)

    fused = tenon.fuse(shifted)
    for begin in (0, 1, 8, 4096):
        given, expected = np.arange(8192.0), np.arange(8192.0)
        wanted = shifted(tenon.from_numpy(expected[:4096].copy()), tenon.zeros(4096, dtype=tenon.float64))
        result = fused(tenon.from_numpy(given[:4096]), tenon.from_numpy(given[begin : begin + 4096]))
        assert tenon.equal(result, wanted)
        assert np.array_equal(given[begin : begin + 4096], wanted.numpy())


def test_what_an_argument_held_is_read_by_all_that_reads_it():
    def both(x, y):
        before = x * 2
        x.mul_(y).add_(x)
        return before, x.exp(), before.sum(-1)

    def swapped(x, y):
        other = x + 0
        x.copy_(y)
        return (y.copy_(other),)

    def turned(x, y):
        return (x.copy_(x.t() + y),)

    for function in (both, swapped, turned):
        for size in (4, 600):
            given = [tenon.rand(size, size) for _ in range(2)]
            expected = [x.clone() for x in given]
            wanted, found = function(*expected), tenon.fuse(function)(*given)
            for one, other in zip((*given, *found), (*expected, *wanted)):
                assert tenon.allclose(one, other, rtol=1e-5)


def test_a_result_that_is_copied_is_another_tensor():
    def function(x, out):
        y = x + 1
        out.copy_(y)
        return y, out

    out = tenon.zeros(5)
    y, given = tenon.fuse(function)(tenon.ones(5), out)
    assert given is out or given.data_ptr() == out.data_ptr()
    assert y.data_ptr() != out.data_ptr() and tenon.equal(y, out) and y[0].item() == 2
