"""src/python/: the tables of Python's functions, methods, argument names and named tuples; other libraries' names."""
import json
import re

from generator.blocks import by_name, doc_of
from generator.cpp import HEAD, out_names, out_parameters, string
from generator.overloads import python_signatures

INPLACE_DOC = "In place: the tensor never changes shape."


def python_inc(ops):
    """Three tables: the functions and methods, the in-place methods, and what is in the submodule _nn."""
    functions, methods, nn = [], [], []
    for name, blocks in by_name(op for op in ops if op.facts.get("python") != "").items():
        binding = "both" if any(op.is_method for op in blocks) else "function"
        binding = binding if blocks[0].is_function else "method"
        table = nn if blocks[0].is_in_submodule else functions
        table.append(definition(name, binding, doc_of(blocks), blocks, call))
        inplace = [op for op in blocks if op.has_inplace]
        if inplace and inplace[0].is_method:
            binding = "both" if inplace[0].has_inplace_function else "method"
            methods.append(inplace_definition(name, binding, inplace))
        elif inplace:
            table.append(inplace_definition(name, "function", inplace))
    return "\n".join(line for table, entries in (("kOps", functions), ("kInplaceOps", methods), ("kNnOps", nn))
                     for line in (HEAD + f"constexpr Definition {table}[] = {{", *entries, "};", ""))  # fmt: skip


def views_inc(views):
    """What Python's functions of views declare; src/python/views.cpp has their code."""
    lines = []
    for name, overloads in by_name(views).items():
        function, method = overloads[0].is_function, overloads[0].is_method
        binding = "both" if function and method else "function" if function else "method"
        signatures = "\n".join(signature for op in overloads for signature in python_signatures(op))
        lines.append(declaration(name, binding, signatures, doc_of(overloads)))
        if overloads[0].has_inplace:
            binding = "both" if overloads[0].has_inplace_function else "method"
            lines.append(declaration(name + "_", binding, signatures, f"The same as {name}, in place: the tensor gets the view's shape."))
    return "\n".join([HEAD + "constexpr Declaration kDeclarations[] = {", *lines, "};", ""])


def declaration(name, binding, signatures, doc):
    return f'    {{"{name}", Binding::{binding}, {string(signatures)}, {string(doc)}}},'


def definition(name, binding, doc, blocks, statements):
    signatures, body = overloaded(blocks, statements)
    texts = "\n      ".join(map(string, "\n".join(signatures).splitlines(keepends=True)))
    return "\n".join([
        f'  {{"{name}", Binding::{binding},',
        f"      {texts},",
        f"      {string(doc)},",
        "      [](const Call& call) -> PyObject* {",
        *("        " + line for line in body),
        "      }},",
    ])  # fmt: skip


def overloaded(blocks, statements):
    """The signatures of several blocks, and statements that call the block whose signature fits."""
    signatures, body = [], []
    for op in blocks:
        signatures += python_signatures(op)
        is_last = op is blocks[-1]
        body += statements(op) if is_last else [f"if (call.overload() < {len(signatures)}) {{", *statements(op), "}"]
    return signatures, body


def inplace_definition(name, binding, blocks):
    entry = definition(name + "_", binding, INPLACE_DOC, blocks, inplace_call)
    entry = re.sub(r'\n *"\(Number self, [^"]*"', "", entry)  # a number is not written to
    return re.sub(r"(, \*)?, Tensor out=None", "", entry)


def call(op):
    """Statements that call an op's function with a call's arguments."""
    arguments = ", ".join(read(op, parameter) for parameter in op.parameters)
    give = "give_same(call, " if op.facts.get("keeps_real") else f"give({result_type(op)}"
    function = f"[](const auto&... arguments) {{ return tenon::{op.name}(arguments...); }}"
    return [*generator_choice(op), *(out_call(op, arguments) if op.has_out else []), f"return {give}run(call, {function}, {arguments}));"]


def out_call(op, arguments):
    names = ", ".join(out_names(op))
    function = f"[]({out_parameters(op)}, const auto&... arguments) {{ tenon::{op.name}_out({names}, arguments...); }}"
    if op.result_names:
        lines = [f"const auto outs = call.outs<{op.result_count}>();"]
        outs, returned = [f"*outs[{i}]" for i in range(op.result_count)], f"give_outs({result_type(op)}call)"
    else:
        lines, outs, returned = [], ["call.tensor(Name::out)"], "call.returned()"
    lines += [f"run(call, {function}, {', '.join(outs)}, {arguments});", f"return {returned};"]
    return ["if (call.has(Name::out)) {", *("  " + line for line in lines), "}"]


def inplace_call(op):
    others = [read(op, parameter) for parameter in op.parameters if parameter.name != "self"]
    arguments = ", ".join(["call.tensor(Name::input)", *others])
    function = f"[](Tensor& self, const auto&... arguments) {{ self.{op.name}_(arguments...); }}"
    return [*generator_choice(op), f"run(call, {function}, {arguments});", "return again(call.object(Name::input));"]


def generator_choice(op):
    """Where Python's function takes a generator, all that the op draws comes from it."""
    return ["const GeneratorChoice choice(call);"] if "Generator " in op.facts.get("python", "") else []


def result_type(op):
    return f"ResultType::{op.name}, " if any(op.result_names) else ""


def read(op, parameter):
    """C++ that gets an argument from a call."""
    if parameter.name == "correction" and parameter.type == "Scalar?":
        return "correction_of(call)"  # which may be called `unbiased`
    is_tensor = parameter.name == "self" and parameter.type != "Scalar"
    name = "Name::input" if is_tensor else f"Name::{parameter.name}"
    if parameter.name == "self" and "|" in parameter.type and not op.facts.get("numbers_as_tensors"):
        name = "call.has(Name::self) ? Name::self : Name::input"  # a number is called `self`, a tensor `input`
    return op.type_of(parameter).get("call", name, default=parameter.cpp_default())


def results_inc(ops):
    """The named tuples: X(max, "values", "indices")."""
    named = sorted({op.name: op.result_names for op in ops if any(op.result_names)}.items())
    return x_macro("TENON_RESULT_TYPES", [", ".join([name, *map(string, fields)]) for name, fields in named])


def names_inc(ops, known):
    """Names of arguments that no handwritten function has."""
    names = {parameter.name for op in ops for parameter in op.parameters} - known
    return x_macro("TENON_OP_ARGUMENT_NAMES", sorted(names))


def x_macro(macro, entries):
    return HEAD + f"#define {macro}(X)" + "".join(f" X({entry})" for entry in entries) + "\n"


def modules_py(ops):
    """{path: text} of the Python modules that hold only ops, as torch.special does; nn.functional is handwritten."""
    modules = {}
    for op in ops:
        if op.module and "." not in op.module:
            modules.setdefault(op.module, {})[op.python_name] = op.name
    return {f"src/python/tenon/{module}.py": module_py(module, names) for module, names in modules.items()}


# What torch.linalg has besides ops, and what decompositions get instead of Python's own error.
IN_PYTHON = {
    "linalg": "LinAlgError cond diagonal lstsq matmul matrix_rank pinv tensorinv tensorsolve vander".split(),
    "fft": "fftfreq fftshift ifftshift rfftfreq".split(),
}
MISSING = ["", "def __getattr__(name):", "    from tenon import _missing", "", '    _missing.refuse("linalg", name)', ""]


def module_py(module, names):
    written = IN_PYTHON.get(module, [])
    return "\n".join([
        f'"""The functions of torch.{module} that exist here. Written by tools/ops.py from the declarations in src/ops/."""',
        "",
        *(f"from tenon import {name} as {short}" for short, name in sorted(names.items()) if short not in written),
        *([f"from tenon._{module} import {', '.join(written)}"] if written else []),
        "",
        f"__all__ = {json.dumps(sorted({*names, *written}))}",
        "",
        *(MISSING if module == "linalg" else []),
    ])  # fmt: skip


def standard_py(ops):
    """The ops by the names of the array API, and NumPy's names for them."""
    imported = sorted(f"{op.name} as {op.array_api_name()}" for op in ops if op.array_api_name())
    numpy = sorted((name, op.name) for op in ops for name in op.numpy_names())
    return "\n".join([
        '"""Written by tools/ops.py from the declarations in src/ops/: the ops by the names of the array API and of NumPy."""',
        "",
        f"from tenon import {', '.join(imported)}",
        "",
        "# NumPy's name: Tenon's.",
        f"_NUMPY = {json.dumps(dict(numpy))}",
        "",
    ])  # fmt: skip
