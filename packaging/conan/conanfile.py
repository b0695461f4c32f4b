"""Conan's recipe: `conan create packaging/conan` in a checkout of Tenon."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.gnu import PkgConfigDeps


class TenonConan(ConanFile):
    name = "tenon"
    license = "Apache-2.0"
    description = "A small tensor library whose broadcasting is exactly PyTorch's"
    topics = ("tensor", "broadcasting", "pytorch", "simd")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "extension": [True, False]}
    default_options = {"shared": True, "fPIC": True, "extension": True}

    @property
    def checkout(self):
        return os.path.join(self.recipe_folder, os.pardir, os.pardir)

    def set_version(self):
        header = load(self, os.path.join(self.checkout, "include", "tenon", "version.h"))
        self.version = self.version or re.search(r'TENON_VERSION "([^"]+)"', header)[1]

    def export(self):
        copy(self, "version.h", os.path.join(self.checkout, "include", "tenon"), os.path.join(self.export_folder, "include", "tenon"))

    def export_sources(self):
        for pattern in ("CMakeLists.txt", "LICENSE", "NOTICE", "cmake/*", "include/*", "src/*", "third_party/*", "tools/*"):
            copy(self, pattern, self.checkout, self.export_sources_folder, excludes=("*_test.cpp", "*/__pycache__/*"))

    def configure(self):
        if self.options.shared:
            self.options.rm_safe("fPIC")

    def requirements(self):
        self.requires("highway/[>=1.0.3 <2]", headers=True, libs=False, visible=False)
        if self.options.extension:
            self.requires("eigen/[>=3.4 <6]", visible=False)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Tenon is tested on Linux only")

    def layout(self):
        cmake_layout(self)

    def generate(self):
        toolchain = CMakeToolchain(self)
        for part in ("TESTS", "CLI", "EXAMPLES"):
            toolchain.cache_variables[f"TENON_BUILD_{part}"] = False
        toolchain.cache_variables["TENON_BUILD_EXTENSION"] = bool(self.options.extension)
        toolchain.cache_variables["TENON_WARNINGS_AS_ERRORS"] = False
        toolchain.generate()
        CMakeDeps(self).generate()
        PkgConfigDeps(self).generate()  # Tenon looks for Highway's headers by pkg-config

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="tenon")
        if self.options.extension:
            cmake.build(target="tenon_extension")

    def package(self):
        CMake(self).install()
        copy(self, "LICENSE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        copy(self, "NOTICE", self.source_folder, os.path.join(self.package_folder, "licenses"))
        for folder in ("cmake", "pkgconfig"):  # Conan writes its own
            rmdir(self, os.path.join(self.package_folder, "lib", folder))

    def package_info(self):
        self.cpp_info.libs = ["tenon"]
        self.cpp_info.set_property("cmake_file_name", "Tenon")
        self.cpp_info.set_property("cmake_target_name", "Tenon::tenon")
        self.cpp_info.set_property("pkg_config_name", "tenon")
        if not self.options.shared:
            self.cpp_info.system_libs = ["pthread", "dl", "m"]
