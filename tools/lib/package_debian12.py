"""What a new user does with the .deb files, on a clean Debian 12 that has a compiler and CMake and no Boost."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import tempfile
import time

import package_chroot
from package_debs import ROOT

A_PROGRAMMERS_MACHINE = ["g++", "cmake", "make"]

NO_BOOST = """
if test -e /usr/include/boost || dpkg-query -W 'libboost*' 2>/dev/null; then
  echo "there is Boost on the machine that should have none" >&2
  exit 1
fi
"""

WITH_THE_COMMAND_LINE = """
apt-get -q update
apt-get -q install -y --no-install-recommends /debs/libtyer0*.deb /debs/tyer_*.deb
tyer version
TYER_URL=$uri tyer run package/debian12 -- sh -c 'echo "a command holds the lock, with token ${TYER_TOKEN:?}"'
"""

WITH_A_PROGRAM = """
apt-get -q install -y --no-install-recommends /debs/libtyer-dev*.deb
mkdir -p /tmp/shop
cp /shop/* /tmp/shop
cmake -S /tmp/shop -B /tmp/shop/build
cmake --build /tmp/shop/build
/tmp/shop/build/shop "$uri"
"""

READMES_PROGRAM_SAYS = "mine, with token"


def readmes_project(folder: str) -> None:
    """Writes the project that README.md shows: its CMake file and the one program with a main."""
    with open(os.path.join(ROOT, "README.md"), encoding="utf-8") as file:
        text = file.read()
    blocks = re.findall(r"^```(cmake|cpp)\n(.*?)^```", text, re.M | re.S)
    cmake = [code for kind, code in blocks if kind == "cmake" and "find_package(tyer" in code]
    program = [code for kind, code in blocks if kind == "cpp" and "int main" in code]
    if not cmake or not program:
        raise RuntimeError("README.md no longer shows a project: a block with find_package(tyer…), and one with a main")
    for name, code in (("CMakeLists.txt", cmake[0]), ("shop.cpp", program[0])):
        with open(os.path.join(folder, name), "w", encoding="utf-8") as file:
            file.write(code)


def try_out(debs: list[str], *, fresh: bool) -> None:
    base = package_chroot.debian("bookworm", A_PROGRAMMERS_MACHINE, fresh=fresh)
    engines = os.path.join(ROOT, "tools", "engines")
    work = tempfile.mkdtemp(prefix="tyer-debian12-")
    uri = subprocess.run(
        [engines, "up", "redis", "--owner", str(os.getpid())], stdout=subprocess.PIPE, text=True, check=True
    ).stdout.strip()
    try:
        _in_a_copy(base, work, debs, uri)
    finally:
        shutil.rmtree(work)
        subprocess.run([engines, "down", uri], check=True)


def _in_a_copy(base: package_chroot.Debian, work: str, debs: list[str], uri: str) -> None:
    folders = {}
    for name in ("debs", "shop"):
        os.mkdir(os.path.join(work, name))
        folders[f"/{name}"] = os.path.join(work, name)
    for deb in debs:
        shutil.copy(deb, folders["/debs"])
    readmes_project(folders["/shop"])
    machine = base.copy(os.path.join(work, "root"))
    machine.run(NO_BOOST)

    start = time.monotonic()
    print(machine.run(f"uri={uri}\n{WITH_THE_COMMAND_LINE}", folders=folders, quiet=True).splitlines()[-1])
    print(f"package: from .deb to a lock held by tyer run: {time.monotonic() - start:.0f} s", flush=True)
    said = machine.run(f"uri={uri}\n{WITH_A_PROGRAM}", folders=folders, quiet=True)
    if READMES_PROGRAM_SAYS not in said:
        raise RuntimeError(f"README.md's program did not say '{READMES_PROGRAM_SAYS}':\n{said}")
    print(said.splitlines()[-1])
    print(f"package: from .deb to a lock held by README.md's program: {time.monotonic() - start:.0f} s", flush=True)
    machine.run(NO_BOOST)
