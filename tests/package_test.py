#!/usr/bin/env python3
"""Tests of Tenon as a part of another CMake project, and of its recipes for package managers. They run CMake, but compile
nothing; tools/consumers.py and tools/conan_package.py do.

    python3 tests/package_test.py
"""
import json
import pathlib
import re
import subprocess
import sys
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parent.parent


class Subproject(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        (self.folder / "main.cpp").write_text("int main() {}\n", encoding="utf-8")
        (self.folder / "CMakeLists.txt").write_text(f"""
            cmake_minimum_required(VERSION 3.25)
            project(parent LANGUAGES CXX)
            add_subdirectory({ROOT} tenon)
            add_executable(program main.cpp)
            target_link_libraries(program PRIVATE Tenon::tenon)
            get_target_property(type tenon TYPE)
            message("tenon is a ${{type}}; parent: shared '${{BUILD_SHARED_LIBS}}', standard '${{CMAKE_CXX_STANDARD}}'")
            install(TARGETS program)
            """, encoding="utf-8")

    def configure(self, *options):
        command = ["cmake", "-G", "Ninja", "-S", self.folder, "-B", self.folder / "build", *options]
        done = subprocess.run(command, capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def cached(self, name):
        text = (self.folder / "build/CMakeCache.txt").read_text(encoding="utf-8")
        found = re.search(rf"^{name}:\w+=(.*)$", text, re.MULTILINE)
        return found[1] if found else None

    def installed(self):
        scripts = [path.read_text(encoding="utf-8") for path in (self.folder / "build").rglob("cmake_install.cmake")]
        return re.findall(r'FILES "[^"]*/([^"/]+)"', "\n".join(scripts))

    def test_the_parent_project_is_unchanged(self):
        shown = self.configure()
        self.assertIn("tenon is a SHARED_LIBRARY; parent: shared '', standard ''", shown)
        self.assertEqual((self.cached("CMAKE_BUILD_TYPE"), self.cached("BUILD_SHARED_LIBS")), ("", None))
        self.assertEqual(self.installed(), ["program"])

    def test_kernels_are_optimised_without_a_build_type(self):
        self.configure()
        rules = (self.folder / "build/build.ninja").read_text(encoding="utf-8")
        flags = re.search(r"^build \S*/kernel/float32\.cpp\.o:.*?^  FLAGS = (.*?)$", rules, re.MULTILINE | re.DOTALL)[1]
        self.assertIn("-O3", flags)

    def test_static_when_asked(self):
        shown = self.configure("-DBUILD_SHARED_LIBS=OFF", "-DCMAKE_BUILD_TYPE=Debug")
        self.assertIn("tenon is a STATIC_LIBRARY; parent: shared 'OFF'", shown)
        self.assertEqual(self.cached("CMAKE_BUILD_TYPE"), "Debug")

    def test_installed_when_asked(self):
        self.configure("-DTENON_INSTALL=ON")
        self.assertIn("libtenon.so", self.installed())

    def test_nothing_is_built_but_the_library(self):
        self.configure()
        steps = subprocess.run(["ninja", "-C", self.folder / "build", "-t", "commands", "all"], check=True, capture_output=True, text=True, timeout=60).stdout
        self.assertIn("src/dispatch/elements.cpp.o", steps)
        self.assertEqual(re.findall(r"\S*(?:_test\.cpp|src/cli/|src/python/|examples/|bench/)\S*", steps), [])


class Recipes(unittest.TestCase):
    def read(self, name):
        return (ROOT / name).read_text(encoding="utf-8")

    def test_they_have_the_version(self):
        version = re.search(r'TENON_VERSION "(.*)"', self.read("include/tenon/version.h"))[1]
        self.assertEqual(json.loads(self.read("packaging/vcpkg/tenon/vcpkg.json"))["version"], version)
        self.assertIn(f"project(Tenon VERSION {version} ", self.read("CMakeLists.txt"))

    def test_they_set_options_that_exist(self):
        options = set(re.findall(r"^option\((\w+)", self.read("CMakeLists.txt"), re.MULTILINE))
        port = set(re.findall(r"TENON_\w+", self.read("packaging/vcpkg/tenon/portfile.cmake")))
        conan = self.read("packaging/conan/conanfile.py")
        parts = re.search(r"for part in \((.*)\)", conan)[1]
        named = set(re.findall(r'"(TENON_\w+)"', conan)) - {"TENON_VERSION"} | {f"TENON_BUILD_{part}" for part in re.findall(r'"(\w+)"', parts)}
        self.assertEqual((port - options, named - options), (set(), set()))
        self.assertEqual(port, named)

    def test_every_tool_of_the_port_is_a_dependency(self):
        port = self.read("packaging/vcpkg/tenon/portfile.cmake")
        needed = {"vcpkg_cmake_configure": "vcpkg-cmake", "vcpkg_cmake_config_fixup": "vcpkg-cmake-config"}
        names = {entry if isinstance(entry, str) else entry["name"] for entry in json.loads(self.read("packaging/vcpkg/tenon/vcpkg.json"))["dependencies"]}
        for function, package in needed.items():
            self.assertIn(function + "(", port)
            self.assertIn(package, names)


if __name__ == "__main__":
    unittest.main(argv=[sys.argv[0], *sys.argv[1:]])
