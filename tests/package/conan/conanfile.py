"""Stands in for the packages of ConanCenter that Tyer's recipe asks for: the libraries of this machine under their names there.

conan create tests/package/conan --name openssl --version 3.0 and so on; TYER_TEST_BOOST says where Boost's headers are.
"""
import os

from conan import ConanFile

# Component: the library that it links.
LIBRARIES = {
    "boost": {"headers": None},
    "openssl": {"ssl": "ssl", "crypto": "crypto"},
    "libnghttp2": {"nghttp2": "nghttp2"},
    "protobuf": {"libprotobuf-lite": "protobuf-lite"},
    "libpq": {"pq": "pq"},
    "cli11": {"cli11": None},
    "nlohmann_json": {"nlohmann_json": None},
}
FILES = {"boost": "Boost", "openssl": "OpenSSL", "libpq": "PostgreSQL", "cli11": "CLI11"}
TARGETS = {"ssl": "OpenSSL::SSL", "crypto": "OpenSSL::Crypto", "pq": "PostgreSQL::PostgreSQL", "headers": "Boost::headers", "cli11": "CLI11::CLI11"}


class OfThisMachine(ConanFile):
    settings = "os", "arch", "compiler", "build_type"
    options = {"lite": [True, False]}
    default_options = {"lite": False}

    def package(self):
        if self.name == "boost":
            os.makedirs(self.package_folder, exist_ok=True)
            os.symlink(os.environ["TYER_TEST_BOOST"], os.path.join(self.package_folder, "include"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", FILES.get(self.name, self.name))
        for name, library in LIBRARIES[self.name].items():
            if self.name == "protobuf" and not self.options.lite:
                name, library = "libprotobuf", "protobuf"  # as there: the small one is only there if asked for
            component = self.cpp_info.components[name]
            component.set_property("cmake_target_name", TARGETS.get(name, f"{self.name}::{name}"))
            component.includedirs = ["include"] if self.name == "boost" else []
            component.libdirs = component.bindirs = []
            component.system_libs = [library] if library else []
            component.requires = ["crypto"] if name == "ssl" else []
