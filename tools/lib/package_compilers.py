"""Compiles what a user may write, and what he must not, with every compiler of Debian 12 and 13 that can do C++20."""

from __future__ import annotations

import os
import subprocess

import package_chroot
import package_debs

# The Boost of Debian 12 is too old for tyer/asio.hpp, which is left out there.
BOOST = "libboost1.88-dev"
SYSTEMS = {
    "bookworm": ["g++-12", "clang-16"],
    "trixie": [BOOST, "g++-13", "g++-14", "clang-17", "clang-18", "clang-19"],
}
# A compiler that is told of /usr/include once more no longer finds the C library behind that of C++.
SCRIPT = """
    set --
    if [ -d /usr/include/boost ]; then mkdir -p /tmp/with && ln -s /usr/include/boost /tmp/with/boost && set -- --boost=/tmp/with; fi
    python3 /tyer/tests/api/compile_test.py --compiler {program} --include /tyer/include "$@"
"""


def _program(package: str) -> str:
    return package.replace("clang-", "clang++-")


def try_out(*, fresh: bool) -> None:
    wrong = []
    fine = []
    for suite, packages in SYSTEMS.items():
        system = package_chroot.debian(suite, ["python3", *packages], fresh=fresh)
        for program in (_program(p) for p in packages if p != BOOST):
            print(f"package: {program} of {suite}", flush=True)
            try:
                system.run(SCRIPT.format(program=program), folders={"/tyer": os.path.abspath(package_debs.ROOT)})
                fine.append(program)
            except subprocess.CalledProcessError:
                wrong.append(f"{program} of {suite}")
    if wrong:
        raise RuntimeError("not with " + ", ".join(wrong))
    print("compilers: " + " ".join(fine))
