"""The .deb files of a release, each built from the source archive on a clean Debian of its own."""

from __future__ import annotations

import glob
import os
import subprocess
import tempfile

import package_chroot

COMPILER = """
g++ cmake ninja-build pkg-config python3 libssl-dev libnghttp2-dev libprotobuf-dev protobuf-compiler libcli11-dev
nlohmann-json3-dev dpkg-dev file lintian
""".split()
# Debian 12 has no Boost that is new enough: it uses what tools/setup has unpacked here.
SYSTEMS = {"12": ("bookworm", COMPILER), "13": ("trixie", [*COMPILER, "libboost1.88-dev"])}
SCRIPT = """
export SOURCE_DATE_EPOCH={when} CMAKE_BUILD_PARALLEL_LEVEL={jobs}
/tyer/tools/package deb --build /build --debs /build/debs --revision 1+deb{debian}{maintainer}
cp /build/debs/*.deb /out
"""


def make(debian: str, *, source: str, out: str, when: int, maintainer: str | None, fresh: bool) -> list[str]:
    """Builds what lies in source; gives the paths in out. package_chroot.Unable where this machine cannot."""
    suite, packages = SYSTEMS[debian]
    machine = package_chroot.debian(suite, packages, fresh=fresh)
    with tempfile.TemporaryDirectory(prefix=f"tyer-deb{debian}-") as work:
        build, made = (os.path.join(work, name) for name in ("build", "out"))
        folders = {"/tyer": source, "/build": f"{build}:rw", "/out": f"{made}:rw"}
        for folder in (build, made):
            os.mkdir(folder)
        if debian == "12":
            boost = os.path.join(os.environ.get("TYER_DEPS") or "/opt/tyer", "boost-1.88")
            if not os.path.isdir(boost):
                raise package_chroot.Unable(f"there is no Boost in {boost}: run tools/setup")
            folders["/opt/tyer/boost-1.88"] = boost
        who = " --maintainer \"$(cat /out/maintainer)\"" if maintainer else ""
        if maintainer:  # through a file: it is no text of a script
            with open(os.path.join(made, "maintainer"), "w", encoding="utf-8") as file:
                file.write(maintainer)
        machine.run(SCRIPT.format(when=when, jobs=os.cpu_count(), debian=debian, maintainer=who), folders=folders)
        debs = sorted(glob.glob(os.path.join(made, "*.deb")))
        subprocess.run(["cp", "--", *debs, out], check=True)
    return [os.path.join(out, os.path.basename(deb)) for deb in debs]
