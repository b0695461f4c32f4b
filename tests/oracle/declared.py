"""The ops as they are declared in src/ops/."""
import pathlib
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent.parent
sys.path.insert(0, str(ROOT / "tools"))
from ops import read_ops  # noqa: E402

OPS = [op for op in read_ops()[0] if op.is_public]
# Of several signatures the first.
DECLARED = {op.name: op for op in reversed(sorted(OPS, key=lambda op: (op.file, op.place)))}
