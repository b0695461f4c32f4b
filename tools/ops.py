#!/usr/bin/env python3
"""Reads the declarations of ops (src/ops/*-inl.h) and writes what follows from them.

ops.py generate FOLDER [--names FILE]
                         C++ sources: the public functions and methods, their definitions, Python's table, calls by name.
                         Files that would not change are left alone. FILE: the argument names that src/python/ knows.
ops.py list              the declarations as JSON
ops.py reference         docs/reference.md, to standard output

tools/generator/ holds its modules. Other tools and tests import `read_ops` and `public_ops` from here.
"""
import argparse
import dataclasses
import json
import pathlib
import re
import sys

from generator.algorithms import algorithms_inc, plain_h
from generator.blocks import block_files, public_ops, read_ops, read_views
from generator.dispatch import ops_inc
from generator.headers import functions_h, methods_inc
from generator.python import modules_py, names_inc, python_inc, results_inc, standard_py, views_inc
from generator.reference import reference
from generator.schemas import schemas_inc
from generator.table import blocks_inc, list_def, symbols_def


def generate(folder, names_file=None):
    known_names = argument_names(pathlib.Path(names_file)) if names_file else set()
    for path, text in sources(read_ops(), read_views(), known_names).items():
        write(pathlib.Path(folder) / path, text)


def argument_names(header):
    """Those of TENON_ARGUMENT_NAMES in src/python/arguments.h."""
    return set(re.findall(r"\bX\((\w+)\)", header.read_text(encoding="utf-8")))


def sources(ops, views, known_names):
    """The text of every generated file."""
    public = public_ops(ops)
    without_aliases = [op for op in public if not op.is_alias]
    return {
        "include/tenon/functions.h": functions_h(public),
        "include/tenon/methods.inc": methods_inc(public),
        "src/ops/list.def": list_def(ops),
        "src/ops/blocks.inc": blocks_inc(block_files()),
        "src/ops/symbols.def": symbols_def(public),
        "src/dispatch/ops.inc": ops_inc(public),
        "src/dispatch/schemas.inc": schemas_inc(public, views),
        "src/dispatch/plain.h": plain_h(without_aliases),
        "src/dispatch/algorithms.inc": algorithms_inc(without_aliases),
        "src/python/ops.inc": python_inc(public),
        "src/python/names.inc": names_inc(public + views, known_names),
        "src/python/views.inc": views_inc(views),
        "src/python/results.inc": results_inc(public),
        "src/python/tenon/_standard.py": standard_py(public),
        **modules_py(public),
    }


def write(path, text):
    """An unchanged file keeps its time, so that nothing is compiled again."""
    path.parent.mkdir(parents=True, exist_ok=True)
    if not path.exists() or path.read_text(encoding="utf-8") != text:
        path.write_text(text, encoding="utf-8")


def described(op):
    return {
        "name": op.name,
        "block": op.block,
        "kind": op.kind,
        "result": op.signature.result,
        "has_out": op.has_out,
        "is_method": op.is_method,
        "has_inplace": op.has_inplace,
        "facts": op.facts,
        "parameters": [dataclasses.asdict(parameter) for parameter in op.parameters],
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    commands = parser.add_subparsers(dest="command", required=True)
    command = commands.add_parser("generate")
    command.add_argument("folder")
    command.add_argument("--names")
    commands.add_parser("list")
    commands.add_parser("reference")
    options = parser.parse_args()
    if options.command == "generate":
        generate(options.folder, options.names)
    elif options.command == "reference":
        print(reference(read_ops(), read_views()), end="")
    else:
        json.dump([described(op) for op in public_ops(read_ops())], sys.stdout, indent=1)


if __name__ == "__main__":
    main()
