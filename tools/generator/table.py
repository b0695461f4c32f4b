"""src/ops/: the lists of blocks, of their files and of the ops that have an operator."""
from generator.cpp import CPP_OPERATORS, HEAD


def list_def(ops):
    return HEAD + "".join(f"TENON_OP({op.block})\n" for op in ops)


def blocks_inc(files):
    return HEAD + "".join(f'#include "ops/{path.name}"\n' for path in files)


def symbols_def(ops):
    """TENON_SYMBOL(add, +), TENON_COMPARISON(eq, ==), TENON_UNARY_SYMBOL(neg, -); TENON_PYTHON_SYMBOL(pow), which is no
    operator of C++; TENON_TENSOR_SYMBOL(matmul) takes no numbers."""
    return HEAD + "".join(f"{symbol_macro(op)}\n" for op in ops if op.facts.get("symbol"))


def symbol_macro(op):
    if op.kind == "algorithm":
        return f"TENON_TENSOR_SYMBOL({op.name})"
    if op.facts["symbol"] not in CPP_OPERATORS:
        return f"TENON_PYTHON_SYMBOL({op.name})"
    if len(op.operands()) == 1:
        macro = "TENON_UNARY_SYMBOL"
    else:
        macro = "TENON_COMPARISON" if op.is_comparison else "TENON_SYMBOL"
    return f"{macro}({op.name}, {op.facts['symbol']})"
