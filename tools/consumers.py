#!/usr/bin/env python3
"""Builds and runs users' programs (tests/consumer) against Tenon as users get it.

    consumers.py [--quick] [--sources] [--deb] [--only TEXT] [--list]

Installs build/release (shared) and build/static, and takes each by find_package and by pkg-config, with each of COMPILERS
that the machine has, and with the flags of FLAGS; C programs, too.
--quick: one compiler. --sources: also projects that build Tenon as a part of themselves, by add_subdirectory and by
FetchContent, which takes minutes. --deb: also the Debian packages in build/deb, unpacked. Warnings are errors. The last
line is "N passed, N failed"; a compiler that the machine lacks is named and not counted.
"""
import argparse
import os
import pathlib
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
BUILD = ROOT / "build" / "consumers"
PROGRAM = ROOT / "tests/consumer/consumer.cpp"
C_PROGRAM = ROOT / "tests/consumer/c_header.c"

COMPILERS = ["g++-11", "g++-12", "clang++-13", "clang++-14", "clang++-15", "clang++-16", "clang++-19"]
USUAL = "c++"  # the machine's own
WARNINGS = ["-Wall", "-Wextra", "-Wpedantic", "-Wshadow", "-Wconversion", "-Werror"]
# Flags of programs that the library was not compiled with.
FLAGS = [
    ["-O0"],
    ["-fno-rtti"],
    ["-fno-exceptions"],
    ["-fno-rtti", "-fno-exceptions"],
    ["-D_GLIBCXX_DEBUG", "-D_GLIBCXX_DEBUG_PEDANTIC"],
    ["-std=c++23"],
    ["-fvisibility=hidden", "-ffast-math"],
]
# Kernels for one instruction set: a project that builds Tenon itself is tested for how it is built, not for speed.
FEW_KERNELS = ["-DTENON_DISABLED_TARGETS=HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL", "-DTENON_BASELINE_TARGETS=HWY_AVX2", "-DCMAKE_BUILD_TYPE=Release"]


class Failed(Exception):
    pass


def run(*command, environment=None):
    command = [str(word) for word in command]
    done = subprocess.run(command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        raise Failed(f"{' '.join(command)}\n{done.stdout[-3000:]}")
    return done.stdout


def fresh(folder):
    shutil.rmtree(folder, ignore_errors=True)
    return folder


def library_folder(prefix):
    return next(iter(sorted(prefix.rglob("libtenon.so")) or sorted(prefix.rglob("libtenon.a")))).parent


def run_program(program, prefix):
    """The extension is found beside the shared library, but by a program with the static one only on the loader's path."""
    extension = next(prefix.rglob("libtenon_extension.so"), None)
    environment = dict(os.environ, LD_LIBRARY_PATH=str(extension.parent)) if extension else None
    run(program, environment=environment)


def by_find_package(prefix, compiler, flags, name):
    folder = fresh(BUILD / name)
    run("cmake", "-S", ROOT / "tests/consumer", "-B", folder, "-G", "Ninja", f"-DCMAKE_PREFIX_PATH={prefix}",
        f"-DCMAKE_CXX_COMPILER={compiler}", f"-DCMAKE_CXX_FLAGS={' '.join([*WARNINGS, *flags])}")
    run("cmake", "--build", folder)
    run_program(folder / "consumer", prefix)


def pkg_config(prefix, *words):
    environment = dict(os.environ, PKG_CONFIG_PATH=str(library_folder(prefix) / "pkgconfig"))
    return run("pkg-config", "--cflags", "--libs", *words, "tenon", environment=environment).split()


def by_pkg_config(prefix, compiler, flags, name):
    program = BUILD / name
    run(compiler, "-std=c++20", *WARNINGS, *flags, PROGRAM, "-o", program, *pkg_config(prefix), f"-Wl,-rpath,{library_folder(prefix)}")
    run_program(program, prefix)


def in_c(prefix, compiler, flags, name):
    program = BUILD / name
    run(compiler, "-std=c99", *WARNINGS, *flags, C_PROGRAM, "-o", program, *pkg_config(prefix, "--static"), f"-Wl,-rpath,{library_folder(prefix)}")
    run_program(program, prefix)


def as_a_part(name, source, *options):
    """A parent project builds what its program links, and no tool and no test of Tenon."""
    folder = fresh(BUILD / name)
    run("cmake", "-S", ROOT / "tests/consumer" / name, "-B", folder, "-G", "Ninja", source, *FEW_KERNELS, *options)
    run("cmake", "--build", folder)
    run_program(folder / "consumer", folder)
    surplus = [path.name for path in folder.rglob("*") if path.name in ("tenon_cli", "tenon_tests", "tenon_room_tests") or path.name.startswith("example_")]
    if surplus:
        raise Failed(f"built, too: {surplus}")


def archive():
    path = BUILD / "tenon.tar.gz"
    run("git", "archive", "--format=tar.gz", "--prefix=tenon/", "-o", path, "HEAD")
    return path


def install(kind, prefix):
    """Into another folder than it is used from: nothing in the tree may name the first."""
    first = fresh(BUILD / f"{kind}-first")
    run("cmake", "--install", ROOT / "build" / {"shared": "release"}.get(kind, kind), "--prefix", first)
    first.rename(fresh(prefix))


def unpack(_kind, prefix):
    packages = sorted((ROOT / "build/deb").glob("*.deb"))
    if len(packages) != 3:
        raise Failed(f"build/deb has {len(packages)} packages, not 3: ./dev deb makes them")
    fresh(prefix.parent)
    for package in packages:
        run("dpkg", "-x", package, prefix.parent)
    run(prefix / "bin/tenon", "--version")


def cases_of(arguments):
    """[(name, call)]."""
    prefixes = {kind: BUILD / f"{kind}-prefix" for kind in ("shared", "static")}
    if arguments.deb:
        prefixes["deb"] = BUILD / "deb/usr"
    compilers = [USUAL] if arguments.quick else [compiler for compiler in COMPILERS if shutil.which(compiler)]
    found = [(f"{kind}-installs", lambda kind=kind, prefix=prefix: (unpack if kind == "deb" else install)(kind, prefix))
             for kind, prefix in prefixes.items()]

    def add(kind, way, compiler, flags):
        name = "-".join([kind, way.__name__, compiler, *flags]).replace("=", "-")
        found.append((name, lambda: way(prefixes[kind], compiler, flags, name)))

    for kind in prefixes:
        for compiler in compilers:
            # What is quick tests flags on the way.
            add(kind, by_find_package, compiler, ["-O0", *(FLAGS[3] if arguments.quick else [])])
            add(kind, by_pkg_config, compiler, ["-O0", *FLAGS[4]] if arguments.quick else ["-O2"])
        add(kind, in_c, "cc", [])
    for flags in [] if arguments.quick else FLAGS:
        for compiler in (compilers[0], compilers[-1]):
            add("shared", by_pkg_config, compiler, flags)
    if arguments.sources:
        found += [("subdirectory-static", lambda: as_a_part("subdirectory", f"-DTENON_SOURCE={ROOT}", "-DBUILD_SHARED_LIBS=OFF")),
                  ("fetch-shared", lambda: as_a_part("fetch", f"-DTENON_ARCHIVE={archive()}"))]
    return [case for case in found if arguments.only in case[0] or case[0].endswith("-installs")]


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    for flag in ("--quick", "--sources", "--deb", "--list"):
        parser.add_argument(flag, action="store_true")
    parser.add_argument("--only", default="", metavar="TEXT")
    arguments = parser.parse_args()
    BUILD.mkdir(parents=True, exist_ok=True)
    failed = 0
    cases = cases_of(arguments)
    for name, call in cases:
        if arguments.list:
            print(name)
            continue
        try:
            call()
            print(f"ok      {name}", flush=True)
        except (Failed, OSError) as error:
            failed += 1
            print(f"FAILED  {name}\n{error}", flush=True)
    if not arguments.quick:
        print("not on this machine:", *[compiler for compiler in COMPILERS if not shutil.which(compiler)])
    print(f"{0 if arguments.list else len(cases) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
