import os

from conan import ConanFile
from conan.tools.build import can_run
from conan.tools.cmake import CMake, cmake_layout


class TestPackage(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    generators = "CMakeDeps", "CMakeToolchain"

    def requirements(self):
        self.requires(self.tested_reference_str)

    def layout(self):
        cmake_layout(self)

    def build(self):
        tyer = self.dependencies["tyer"].options
        engines = [e for e in ("redis", "etcd", "mysql", "postgres", "zookeeper") if tyer.get_safe(f"with_{e}")]
        cmake = CMake(self)
        cmake.configure(variables={"ENGINES": ",".join(engines)})
        cmake.build()

    def test(self):
        if can_run(self):
            self.run(os.path.join(self.cpp.build.bindir, "test_package"), env="conanrun")
