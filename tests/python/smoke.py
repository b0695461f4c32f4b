"""What an installed wheel must do, in one second and without other packages: `python smoke.py` in any environment."""

import concurrent.futures
import pickle
import sys

import tenon


def gradients():
    a, b = tenon.ones(4, 3, requires_grad=True), tenon.ones(3, requires_grad=True)
    (a * b).sum().backward()
    return b.grad.tolist() == [4, 4, 4]


def error():
    try:
        tenon.ones(5, 2, 4, 1) + tenon.ones(3, 1, 1)
    except RuntimeError as raised:
        return str(raised) == "The size of tensor a (2) must match the size of tensor b (3) at non-singleton dimension 1" and raised.__notes__
    return False


def extension():
    """libtenon_extension is in the wheel, and found from there."""
    x = tenon.tensor([[4.0, 1.0], [2.0, 3.0]])
    return tenon.linalg.inv(x).matmul(x).allclose(tenon.eye(2)) and tenon.fft.rfft(tenon.ones(4)).real.tolist() == [4, 0, 0]


def fused():
    f = tenon.fuse(lambda x: ((x - 1) * 2).clamp(0, 5))
    return f(tenon.arange(5.0)).tolist() == [0, 0, 2, 4, 5] and f.passes(tenon.arange(5.0)) == 1


def threads():
    with concurrent.futures.ThreadPoolExecutor(4) as pool:
        return set(pool.map(lambda n: tenon.arange(n).sum().item() * 2 // (n - 1), range(2, 200))) == set(range(2, 200))


def typed():
    from importlib.resources import files

    return "def add(" in (files("tenon") / "__init__.pyi").read_text() and (files("tenon") / "py.typed").is_file()


CLAIMS = {
    "broadcast": lambda: (tenon.arange(3).reshape(3, 1) + tenon.tensor([10, 20])).tolist() == [[10, 20], [11, 21], [12, 22]],
    "gradients": gradients,
    "PyTorch's error": error,
    "decompositions and Fourier transforms": extension,
    "fused functions": fused,
    "pickle": lambda: pickle.loads(pickle.dumps(tenon.ones(4).expand(9, 4))).stride() == (0, 1),
    "threads": threads,
    "stubs": typed,
    "no other package": lambda: "numpy" not in sys.modules,
}

if __name__ == "__main__":
    failed = [name for name, claim in CLAIMS.items() if not claim()]
    print(f"tenon {tenon.__version__} in Python {sys.version.split()[0]}: {len(CLAIMS) - len(failed)} passed, {len(failed)} failed")
    sys.exit("failed: " + ", ".join(failed) if failed else 0)
