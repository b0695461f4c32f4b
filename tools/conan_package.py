#!/usr/bin/env python3
"""Builds Conan's package of Tenon and its test, without a network.

Highway and Eigen come from this machine's packages: recipes made here copy their headers under Conan's names. Kernels are
for one instruction set, because a recipe is tested, not the library. The last line is "N passed, N failed".
"""
import pathlib
import subprocess
import sys
import tempfile

ROOT = pathlib.Path(__file__).resolve().parent.parent
HEADERS = '''from conan import ConanFile
from conan.tools.files import copy


class Headers(ConanFile):
    name, version = "{name}", "{version}"
    package_type = "header-library"
    no_copy_source = True

    def package(self):
        copy(self, "{pattern}", "{folder}", self.package_folder + "/include")

    def package_info(self):
        self.cpp_info.bindirs = self.cpp_info.libdirs = []
        for name, value in {properties}.items():
            self.cpp_info.set_property(name, value)
'''
PACKAGES = [
    {"name": "highway", "version": "1.0.3", "folder": "/usr/include", "pattern": "hwy/*", "properties": {"pkg_config_name": "libhwy"}},
    {"name": "eigen", "version": "3.4.0", "folder": "/usr/include/eigen3", "pattern": "*",
     "properties": {"cmake_file_name": "Eigen3", "cmake_target_name": "Eigen3::Eigen"}},
]
FEW_KERNELS = "tools.cmake.cmaketoolchain:extra_variables={'TENON_DISABLED_TARGETS': 'HWY_SSSE3|HWY_SSE4|HWY_AVX3|HWY_AVX3_DL', 'TENON_BASELINE_TARGETS': 'HWY_AVX2'}"


def conan(*words):
    done = subprocess.run(["conan", *map(str, words)], cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
    if done.returncode:
        print(done.stdout[-4000:])
    return done.returncode == 0


def main():
    if not conan("profile", "detect", "--force"):
        return 1
    with tempfile.TemporaryDirectory() as folder:
        for package in PACKAGES:
            recipe = pathlib.Path(folder) / package["name"]
            recipe.mkdir()
            (recipe / "conanfile.py").write_text(HEADERS.format(**package), encoding="utf-8")
            if not conan("create", recipe, "--no-remote"):
                return 1
    passed = 0
    kinds = [["shared=True"], ["shared=False", "extension=True"]]
    for kind in kinds:
        options = [word for option in kind for word in ("-o", f"tenon/*:{option}")]
        good = conan("create", "packaging/conan", "--no-remote", "-s", "compiler.cppstd=20", "-c", FEW_KERNELS, *options)
        passed += good
        print(f"{'ok' if good else 'FAILED'}  {' '.join(kind)}", flush=True)
    print(f"{passed} passed, {len(kinds) - passed} failed")
    return 0 if passed == len(kinds) else 1


if __name__ == "__main__":
    sys.exit(main())
