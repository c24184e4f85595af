"""Builds the checkout, or the unpacked release, that this recipe lies in."""
import os
import re

from conan import ConanFile
from conan.errors import ConanInvalidConfiguration
from conan.tools.build import check_min_cppstd
from conan.tools.cmake import CMake, CMakeDeps, CMakeToolchain, cmake_layout
from conan.tools.files import copy, load, rmdir
from conan.tools.scm import Version

required_conan_version = ">=2.0"

# Which of Conan's packages an engine needs, and which of their libraries a program links with it. Boost is compiled in.
ENGINES = {
    "redis": ["boost", "openssl::ssl"],
    "etcd": ["boost", "openssl::ssl", "libnghttp2::nghttp2", "protobuf::libprotobuf-lite"],
    "mysql": ["boost", "openssl::ssl"],
    "postgres": ["libpq::pq"],
    "zookeeper": ["boost", "openssl::ssl"],
}
VERSIONS = {
    "boost": "[>=1.88 <1.89]",  # Boost.Redis of 1.88; inside, so a program may have another
    "openssl": "[>=3 <4]",
    "libnghttp2": "[>=1.52 <2]",
    "protobuf": "[>=3.21.12 <4]",  # later ones need Abseil; nobody has tried that here
    "libpq": "[>=14]",
    "cli11": "[>=2 <3]",
    "nlohmann_json": "[>=3 <4]",
}
COMPILERS = {"gcc": "12", "clang": "16"}


class TyerRecipe(ConanFile):
    name = "tyer"
    description = "Distributed locks for C++20, on the engines people already run"
    license = "Apache-2.0"
    topics = ("lock", "mutex", "redis", "valkey", "etcd", "distributed")
    package_type = "library"
    settings = "os", "arch", "compiler", "build_type"
    options = {"shared": [True, False], "fPIC": [True, False], "with_cli": [True, False]} | {f"with_{e}": [True, False] for e in ENGINES}
    default_options = {"shared": False, "fPIC": True, "with_cli": False} | {f"with_{e}": e in ("redis", "etcd") for e in ENGINES}
    implements = ["auto_shared_fpic"]

    def _engines(self):
        return [engine for engine in ENGINES if self.options.get_safe(f"with_{engine}")]

    def set_version(self):
        text = load(self, os.path.join(self.recipe_folder, "..", "..", "include", "tyer", "version.hpp"))
        self.version = ".".join(re.findall(r"define TYER_VERSION_(?:MAJOR|MINOR|PATCH) (\d+)", text))

    def export_sources(self):
        root = os.path.join(self.recipe_folder, "..", "..")
        for name in ("CMakeLists.txt", "LICENSE", "NOTICE", "cli/*", "cmake/*", "include/*", "src/*"):
            copy(self, name, root, self.export_sources_folder)

    def layout(self):
        cmake_layout(self)

    def validate(self):
        check_min_cppstd(self, 20)
        if self.settings.os != "Linux":
            raise ConanInvalidConfiguration("Tyer runs on Linux")
        least = COMPILERS.get(str(self.settings.compiler))
        if not least or Version(self.settings.compiler.version) < least:
            raise ConanInvalidConfiguration("Tyer needs GCC 12 or clang 16, or newer")

    def requirements(self):
        wanted = {library.partition("::")[0] for engine in self._engines() for library in ENGINES[engine]}
        for name in sorted(wanted):
            lite = {"lite": True} if name == "protobuf" else {}
            self.requires(f"{name}/{VERSIONS[name]}", libs=name != "boost", options=lite)
        if self.options.with_cli:
            for name in ("cli11", "nlohmann_json"):
                self.requires(f"{name}/{VERSIONS[name]}", libs=False)

    def build_requirements(self):
        if self.options.with_etcd:
            self.tool_requires("protobuf/<host_version>")

    def generate(self):
        toolchain = CMakeToolchain(self)
        for name in ("TESTS", "EXAMPLES", "BENCH"):
            toolchain.cache_variables[f"TYER_{name}"] = False
        toolchain.cache_variables["TYER_INSTALL"] = True
        toolchain.cache_variables["TYER_CLI"] = bool(self.options.with_cli)
        for engine in ENGINES:
            toolchain.cache_variables[f"TYER_{engine.upper()}"] = bool(self.options.get_safe(f"with_{engine}"))
        boost = self.dependencies.get("boost") if any("boost" in ENGINES[e] for e in self._engines()) else None
        if boost and boost.package_folder:
            toolchain.cache_variables["Boost_ROOT"] = boost.package_folder
        toolchain.generate()
        CMakeDeps(self).generate()

    def build(self):
        cmake = CMake(self)
        cmake.configure()
        cmake.build(target="tyer_installable")

    def package(self):
        for name in ("LICENSE", "NOTICE"):
            copy(self, name, self.source_folder, os.path.join(self.package_folder, "licenses"))
        CMake(self).install()
        for folder in ("cmake", "pkgconfig"):  # Conan makes its own from package_info
            rmdir(self, os.path.join(self.package_folder, "lib", folder))
        rmdir(self, os.path.join(self.package_folder, "share"))

    def package_info(self):
        self.cpp_info.set_property("cmake_file_name", "tyer")
        core = self.cpp_info.components["tyer"]
        core.set_property("cmake_target_name", "tyer::tyer")
        core.set_property("pkg_config_name", "tyer")
        core.libs = ["tyer"]
        core.system_libs = ["pthread"]
        if self.options.with_cli:
            core.requires = ["cli11::cli11", "nlohmann_json::nlohmann_json"]
        for engine in self._engines():
            self._component(engine)

    def _component(self, engine):
        component = self.cpp_info.components[engine]
        component.set_property("cmake_target_name", f"tyer::{engine}")
        component.set_property("pkg_config_name", f"tyer-{engine}")
        component.libs = [f"tyer_{engine}"]
        component.requires = ["tyer"] + [library if "::" in library else f"{library}::headers" for library in ENGINES[engine]]
        # The table of engines refers to its entry point only weakly; this keeps the component in the program.
        keep = f"-Wl,--undefined=tyer_engine_{engine}"
        if self.options.shared:
            keep = f"-Wl,--push-state,--no-as-needed,-ltyer_{engine},--pop-state"
        component.sharedlinkflags = component.exelinkflags = [keep]
