"""The ops as they are declared in src/ops/."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from ops import public_ops, read_ops  # noqa: E402

OPS = public_ops(read_ops()[0])
# Of several signatures the first has the name; the others are called as their blocks.
FIRST = {op.name: op for op in reversed(sorted(OPS, key=lambda op: (op.file, op.place)))}
DECLARED = FIRST | {op.block: op for op in OPS if FIRST[op.name] is not op}
