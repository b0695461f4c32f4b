"""The declared ops (src/ops/), by name."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from ops import public_ops, read_ops  # noqa: E402

# Compared by tests of their own in tests/python: their results are unique up to signs alone, or computed in other steps.
ELSEWHERE = ("linalg-inl.h", "fourier-inl.h")
OPS = [op for op in public_ops(read_ops()) if op.file not in ELSEWHERE]
# If an op has several signatures, the first is listed under the op's name, the others under the names of their blocks.
FIRST = {op.name: op for op in reversed(sorted(OPS, key=lambda op: (op.file, op.place)))}
DECLARED = FIRST | {op.block: op for op in OPS if FIRST[op.name] is not op}
