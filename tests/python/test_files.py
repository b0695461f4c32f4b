"""save and load: complete files, permissions and links, damaged files, pipes, mapped files, Ctrl-C."""

import json
import os
import pathlib
import re
import signal
import stat
import struct
import threading
import time

import pytest
import tenon


@pytest.fixture(autouse=True)
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    return tmp_path


def npy(descr="<f4", shape=(1,), data=b"\0\0\0\0", version=1, order=False):
    text = repr({"descr": descr, "fortran_order": order, "shape": shape}).encode() + b"\n"
    return b"\x93NUMPY" + bytes([version, 0]) + struct.pack("<H" if version == 1 else "<I", len(text)) + text + data


def safetensors(header, data=b""):
    text = header if isinstance(header, bytes) else json.dumps(header).encode()
    return len(text).to_bytes(8, "little") + text + data


def write(name, content):
    pathlib.Path(name).write_bytes(content)


def entry(dtype="F32", shape=(1,), offsets=(0, 4)):
    return {"dtype": dtype, "shape": list(shape), "data_offsets": list(offsets)}


DAMAGED = {
    "empty": ("x.npy", b""),
    "empty safetensors": ("x.safetensors", b""),
    "magic alone": ("x.npy", b"\x93NUMPY"),
    "version 9": ("x.npy", npy(version=9)),
    "trailing bytes": ("x.npy", npy(data=b"\0" * 5)),
    "cut short": ("x.npy", npy(data=b"\0" * 3)),
    "bool of 2": ("x.npy", npy("|b1", data=b"\2")),
    "10,000 dims": ("x.npy", npy(shape=(1,) * 10_000)),
    "negative size": ("x.npy", npy(shape=(-1,))),
    "sizes overflow": ("x.npy", npy(shape=(2**62, 2**62))),
    "header a string": ("x.safetensors", safetensors(b'"a"')),
    "header a list": ("x.safetensors", safetensors(b"[]")),
    "nested deeply": ("x.safetensors", safetensors(b'{"a":' + b"[" * 200_000)),
    "not JSON": ("x.safetensors", safetensors(b"{")),
    "not UTF-8": ("x.safetensors", safetensors(b'{"\xff":1}')),
    "entry not an object": ("x.safetensors", safetensors({"a": 1})),
    "no dtype": ("x.safetensors", safetensors({"a": {}})),
    "no shape": ("x.safetensors", safetensors({"a": {"dtype": "F32", "data_offsets": [0, 4]}}, b"\0" * 4)),
    "shape a string": ("x.safetensors", safetensors({"a": entry(shape="1")}, b"\0" * 4)),
    "shape of bools": ("x.safetensors", safetensors({"a": entry(shape=[True])}, b"\0" * 4)),
    "offsets beyond": ("x.safetensors", safetensors({"a": entry()}, b"\0" * 3)),
    "offsets backwards": ("x.safetensors", safetensors({"a": entry(shape=[0], offsets=(4, 4))}, b"\0" * 4)),
    "three offsets": ("x.safetensors", safetensors({"a": entry(offsets=(0, 4, 4))}, b"\0" * 4)),
    "empty product overflows": ("x.safetensors", safetensors({"a": entry(shape=[0, 2**62, 2**62], offsets=(0, 0))})),
    "size beyond int64": ("x.safetensors", safetensors({"a": entry(shape=[0, 2**70], offsets=(0, 0))})),
    "overlap": ("x.safetensors", safetensors({"a": entry(), "b": entry()}, b"\0" * 4)),
    "hole": ("x.safetensors", safetensors({"a": entry(), "b": entry(offsets=(8, 12))}, b"\0" * 12)),
    "bytes left over": ("x.safetensors", safetensors({"a": entry()}, b"\0" * 5)),
    "bool of 3": ("x.safetensors", safetensors({"a": entry("BOOL", offsets=(0, 1))}, b"\3")),
    "twice": ("x.safetensors", safetensors(b'{"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]},"a":{"dtype":"F32","shape":[1],"data_offsets":[0,4]}}', b"\0" * 4)),
    "header too long": ("x.safetensors", (2**63 - 1).to_bytes(8, "little")),
}


@pytest.mark.parametrize("why", DAMAGED)
@pytest.mark.parametrize("mmap", [False, True])
def test_damaged_files_raise_runtime_error(why, mmap):
    name, content = DAMAGED[why]
    write(name, content)
    with pytest.raises(RuntimeError, match="damaged") as caught:
        tenon.load(name, mmap=mmap)
    assert str(caught.value).startswith(name) and type(caught.value) is RuntimeError


def test_valid_but_unsupported_files_are_not_called_damaged():
    cases = {
        "u.npy": (npy("<m8", data=b"\0" * 8), "dtype '<m8' is not supported"),
        "u.safetensors": (safetensors({"a": entry("F8_E4M3", offsets=(0, 1))}, b"\0"), "dtype F8_E4M3, which is not supported"),
        "t.csv": (b"1,2\n3,4\n5,6\n7,8\n", "reads .npy and .safetensors files"),
    }
    for name, (content, words) in cases.items():
        write(name, content)
        with pytest.raises(RuntimeError, match=words) as caught:
            tenon.load(name)
        assert "damaged" not in str(caught.value)


def test_system_errors_are_oserrors():
    with pytest.raises(FileNotFoundError) as caught:
        tenon.load("missing.npy")
    assert caught.value.filename == "missing.npy"
    with pytest.raises(FileNotFoundError):
        tenon.save(tenon.ones(1), "no/folder/x.npy")
    os.mkdir("d.npy")
    for call in (lambda: tenon.load("d.npy"), lambda: tenon.save(tenon.ones(1), "d.npy")):
        with pytest.raises(IsADirectoryError):
            call()
    for call in (lambda: tenon.load("a\0b.npy"), lambda: tenon.save(tenon.ones(1), "a\0b.npy")):
        with pytest.raises(ValueError, match="null"):
            call()


def test_save_refuses_other_suffixes():
    for name in ("s.pt", "s", "s.txt", "s.NPZ"):
        with pytest.raises(ValueError, match=r"should end in \.npy"):
            tenon.save(tenon.ones(1), name)
    with pytest.raises(TypeError):
        tenon.save({"a": tenon.ones(1)}, "s.npy")
    assert os.listdir() == []


def test_names_in_safetensors():
    with pytest.raises(ValueError, match="__metadata__"):
        tenon.save({"__metadata__": tenon.ones(3), "b": tenon.ones(1)}, "m.safetensors")
    with pytest.raises(TypeError, match="named by str"):
        tenon.save({1: tenon.ones(3)}, "m.safetensors")
    with pytest.raises(ValueError):
        tenon.save({"\ud800": tenon.ones(3)}, "m.safetensors")
    names = ["", "a.b", 'quote"', "é", "\0", "\n"]
    tenon.save({name: tenon.ones(1) for name in names}, "m.safetensors")
    assert sorted(tenon.load("m.safetensors")) == sorted(names)


def test_many_dims():
    wide = tenon.ones((1,) * 65)
    with pytest.raises(ValueError, match="at most 64 dims; the tensor has 65"):
        tenon.save(wide, "x.npy")
    assert not os.path.exists("x.npy")
    tenon.save(tenon.ones((1,) * 64), "x.npy")
    assert tenon.load("x.npy").dim() == 64
    tenon.save({"wide": wide}, "x.safetensors")
    assert tenon.load("x.safetensors")["wide"].shape == wide.shape


def test_permissions_and_links_are_kept():
    tenon.save(tenon.ones(3), "a.npy")
    os.chmod("a.npy", 0o600)
    os.symlink("a.npy", "l.npy")
    tenon.save(tenon.zeros(3), "l.npy")
    assert os.path.islink("l.npy") and tenon.load("a.npy").tolist() == [0, 0, 0]
    assert stat.S_IMODE(os.stat("a.npy").st_mode) == 0o600
    before = os.umask(0o027)
    tenon.save(tenon.zeros(3), "b.npy")
    os.umask(before)
    assert stat.S_IMODE(os.stat("b.npy").st_mode) == 0o640


def test_links_beside_the_target_are_not_followed():
    write("victim", b"precious")
    for name in (f"o.npy.{os.getpid()}.part", f".o.npy.{os.getpid()}-0.part", "o.npy.part", "o.npy~", "o.npy.tmp"):
        os.symlink("victim", name)
    tenon.save(tenon.ones(3), "o.npy")
    assert pathlib.Path("victim").read_text() == "precious"
    assert len([name for name in os.listdir() if name.endswith(".part")]) == 3


def test_devices_and_pipes_are_written_directly():
    tenon.save(tenon.ones(3), "/dev/null")
    assert stat.S_ISCHR(os.stat("/dev/null").st_mode)
    with pytest.raises(OSError, match="No space"):
        tenon.save(tenon.ones(3), "/dev/full")
    os.mkfifo("p.npy")
    got = []
    reader = threading.Thread(target=lambda: got.append(tenon.load("p.npy")))
    reader.start()
    tenon.save(tenon.arange(100_000), "p.npy")
    reader.join()
    assert tenon.equal(got[0], tenon.arange(100_000)) and stat.S_ISFIFO(os.stat("p.npy").st_mode)


def test_an_endless_stream_stops_at_the_limit(monkeypatch):
    monkeypatch.setenv("TENON_LOAD_LIMIT", "1000000")
    with pytest.raises(RuntimeError, match="more than 1000000 bytes.*TENON_LOAD_LIMIT"):
        tenon.load("/dev/zero")


def test_ctrl_c_ends_the_wait_for_a_pipe():
    os.mkfifo("p.npy")
    before = signal.signal(signal.SIGINT, signal.default_int_handler)  # a background process starts with Ctrl-C ignored
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    start = time.monotonic()
    try:
        with pytest.raises(KeyboardInterrupt):
            tenon.load("p.npy")
    finally:
        signal.signal(signal.SIGINT, before)
    assert time.monotonic() - start < 5


def test_threads_saving_to_one_path():
    errors = []

    def save_often(value):
        try:
            for _ in range(12):
                tenon.save(tenon.full((300_000,), value), "race.npy")
                seen = tenon.load("race.npy")
                assert seen.amin().item() == seen.amax().item()
        except BaseException as error:
            errors.append(error)

    threads = [threading.Thread(target=save_often, args=(float(i),)) for i in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert errors == [] and os.listdir() == ["race.npy"]


def test_a_full_disk_leaves_the_old_file():
    import resource

    tenon.save(tenon.ones(3), "a.npy")
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, before[1]))
    try:
        for obj, name in ((tenon.ones(10_000), "a.npy"), ({"a": tenon.ones(10_000)}, "b.safetensors")):
            with pytest.raises(OSError, match="too large"):
                tenon.save(obj, name)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert os.listdir() == ["a.npy"] and tenon.load("a.npy").tolist() == [1, 1, 1]


def test_loaded_tensors_do_not_change_with_the_file():
    tenon.save(tenon.arange(100_000), "a.npy")
    copied, mapped = tenon.load("a.npy"), tenon.load("a.npy", mmap=True)
    mapped[0] = 7
    assert tenon.load("a.npy")[0].item() == 0
    tenon.save(tenon.zeros(1), "a.npy")
    assert mapped[99_999].item() == 99_999
    os.truncate("a.npy", 0)
    assert copied[99_999].item() == 99_999


def test_a_mapped_file_that_becomes_shorter_raises():
    tenon.save(tenon.ones(1_000_000), "a.npy")
    mapped = tenon.load("a.npy", mmap=True)
    os.truncate("a.npy", 8192)
    with pytest.raises(RuntimeError, match="a.npy: has become shorter while it was mapped"):
        mapped.sum()
        for _ in range(1000):  # gives the interpreter time to raise the pending exception
            pass
    assert mapped[999_999].item() == 0
    assert tenon.ones(3).sum().item() == 3


@pytest.mark.parametrize("mmap", [False, True])
def test_entries_of_a_file_are_independent_tensors(tmp_path, mmap):
    path = tmp_path / "m.safetensors"
    tenon.save({"w": tenon.ones(3), "running": tenon.zeros(3), "bytes": tenon.arange(5).to(tenon.uint8)}, path)
    loaded = tenon.load(path, mmap=mmap)
    w = loaded["w"].requires_grad_()
    y = (w * w).sum()
    loaded["running"].add_(1)
    y.backward()
    assert w.grad.tolist() == [2, 2, 2]
    assert loaded["running"].tolist() == [1, 1, 1]
    if not mmap:
        assert loaded["bytes"].resize_(100).numel() == 100


def test_a_npy_file_with_another_suffix_is_copied():
    tenon.save(tenon.arange(3), "a.npy")
    os.rename("a.npy", "a.safetensors")
    loaded = tenon.load("a.safetensors")
    os.truncate("a.safetensors", 0)
    assert loaded.tolist() == [0, 1, 2]


@pytest.mark.parametrize("name, text", [("x.npz", "numpy.load reads archives of them (.npz)"), ("x.csv", "`tenon eval` in the shell reads .csv and .png"), ("x.bin", "not an .npy or .safetensors file, or a damaged one")])
def test_files_that_load_does_not_read(name, text):
    pathlib.Path(name).write_bytes(b"PK\3\4" + bytes(100))
    with pytest.raises(RuntimeError, match=re.escape(text)):
        tenon.load(name)


@pytest.mark.skipif(not os.path.exists("/proc/self/statm"), reason="needs /proc")
@pytest.mark.without_asan("AddressSanitizer keeps freed memory")
def test_an_entry_does_not_keep_its_file_in_memory(tmp_path):
    def resident():
        return int(pathlib.Path("/proc/self/statm").read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE")

    path = tmp_path / "m.safetensors"
    tenon.save({"w": tenon.ones(3), "large": tenon.zeros(1 << 21)}, path)
    before = resident()
    kept = [tenon.load(path)["w"] for _ in range(20)]
    assert resident() - before < 64 << 20
    assert all(tensor.tolist() == [1, 1, 1] for tensor in kept)
