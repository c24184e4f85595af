#!/usr/bin/env python3
"""Builds Tyer by its Conan recipe and uses the package, with the libraries of this machine in the place of ConanCenter's.

  conan_test.py --work DIR --boost DIR             looks at the recipe, exports it and resolves what it asks for
  conan_test.py --work DIR --boost DIR --create    builds too, archives and shared, and runs packaging/conan/test_package

Nothing is fetched. Exits with 77 where tools/setup has not installed Conan.
"""
import argparse
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
CONAN = pathlib.Path(os.environ.get("TYER_DEPS", "/opt/tyer")) / "release/bin/conan"
RECIPE = ROOT / "packaging/conan"
SKIPPED = 77
VERSION = ".".join(re.findall(r"define TYER_VERSION_\w+ (\d+)", (ROOT / "include/tyer/version.hpp").read_text()))
# As Debian 12 has them.
STAND_INS = {"boost": "1.88.0", "openssl": "3.0.0", "libnghttp2": "1.52.0", "protobuf": "3.21.12", "libpq": "15.0", "cli11": "2.2.0", "nlohmann_json": "3.11.2"}
PROFILE = """\
[settings]
os=Linux
arch={arch}
compiler=gcc
compiler.version={gcc}
compiler.libcxx=libstdc++11
compiler.cppstd=20
build_type=Release
[conf]
tools.cmake.cmaketoolchain:generator=Ninja
tools.build:jobs={jobs}
"""


class Conan:
    def __init__(self, work, boost, jobs):
        self.home = work / "home"
        shutil.rmtree(self.home, ignore_errors=True)
        self.home.mkdir(parents=True)
        self.environment = os.environ | {"CONAN_HOME": str(self.home), "TYER_TEST_BOOST": str(boost), "TYER_DEPS": str(work / "nothing")}
        gcc = subprocess.run(["g++", "-dumpversion"], stdout=subprocess.PIPE, text=True, check=True).stdout.split(".")[0]
        arch = {"aarch64": "armv8"}.get(os.uname().machine, os.uname().machine)
        self.profile = work / "profile"
        self.profile.write_text(PROFILE.format(arch=arch, gcc=gcc.strip(), jobs=jobs))
        self("remote", "disable", "*")

    def __call__(self, *words, profile=False):
        words = [*words, "-pr:a", self.profile] if profile else words
        done = subprocess.run([CONAN, *words], env=self.environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, check=False)
        if done.returncode:
            raise SystemExit(f"conan_test: conan {' '.join(map(str, words))} ended with {done.returncode}:\n{done.stdout[-3000:]}\n{done.stderr[-6000:]}")
        return done.stdout + done.stderr if words[0] == "create" else done.stdout


def must(truth, words):
    if not truth:
        raise SystemExit(f"conan_test: {words}")


def look(conan):
    seen = json.loads(conan("inspect", RECIPE, "--format=json"))
    must(seen["version"] == VERSION, f"the recipe is of {seen['version']}, the sources are {VERSION}")
    listed = json.loads((ROOT / "packaging/dependencies.json").read_text())["dependencies"]
    for name, version in STAND_INS.items():
        conan("export", ROOT / "tests/package/conan", "--name", name, "--version", version)
    everything = [f"-o=&:with_{option}=True" for option in ("redis", "etcd", "mysql", "postgres", "zookeeper", "cli")]
    graph = json.loads(conan("graph", "info", RECIPE, *everything, "--format=json", profile=True))["graph"]["nodes"]
    asked = {node["name"] for node in graph.values() if node["name"] != "tyer"}
    must(asked == {entry["conan"] for entry in listed}, f"the recipe asks for {sorted(asked)}, packaging/dependencies.json does not")
    for settings, words in (("-s=os=Macos", "runs on Linux"), ("-s=compiler.cppstd=17", "cppstd"), ("-s=compiler.version=11", "GCC 12")):
        said = json.loads(conan("graph", "info", RECIPE, settings, "--format=json", profile=True))
        why = str(said["graph"]["nodes"]["0"].get("info_invalid"))
        must(words in why, f"with {settings} the recipe says '{why}', not '{words}'")


def create(conan, work):
    program = work / "test_package"  # Conan builds where it lies
    shutil.rmtree(program, ignore_errors=True)
    shutil.copytree(RECIPE / "test_package", program)
    for shared in (False, True):
        said = conan("create", RECIPE, "--test-folder", program, f"-o=&:shared={shared}", "--build=tyer/*", "--build=missing", profile=True)
        for line in (f"tyer {VERSION}, token", "redis://127.0.0.1:1 is there", "etcd://127.0.0.1:1 is there"):
            must(line in said, f"the program of test_package did not say '{line}':\n{said[-3000:]}")
        print(f"conan_test: built and used, shared={shared}", flush=True)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--work", type=pathlib.Path, required=True)
    parser.add_argument("--boost", type=pathlib.Path, required=True)
    parser.add_argument("--create", action="store_true")
    parser.add_argument("--jobs", type=int, default=os.cpu_count())
    asked = parser.parse_args()
    if not CONAN.exists():
        print(f"conan_test: skipped: there is no {CONAN}: run tools/setup")
        return SKIPPED
    conan = Conan(asked.work.resolve(), asked.boost.resolve(), asked.jobs)
    look(conan)
    if asked.create:
        create(conan, asked.work.resolve())
    return 0


if __name__ == "__main__":
    sys.exit(main())
