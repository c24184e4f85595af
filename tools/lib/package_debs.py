"""The .deb files, for the Debian that this machine runs."""

from __future__ import annotations

import glob
import os
import shutil
import subprocess

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))

# The flags of the release build, so that ccache finds what that has compiled; the linker closes what can be closed.
SETTINGS = {
    "CMAKE_BUILD_TYPE": "Release",
    "CMAKE_INSTALL_PREFIX": "/usr",
    "CMAKE_SHARED_LINKER_FLAGS": "-Wl,-z,relro,-z,now",
    "CMAKE_EXE_LINKER_FLAGS": "-Wl,-z,relro,-z,now",
    "BUILD_SHARED_LIBS": "ON",
    "TYER_REDIS": "ON",
    "TYER_ETCD": "ON",
    "TYER_CLI": "ON",
    "TYER_INSTALL": "ON",
    "TYER_TESTS": "OFF",
    "TYER_EXAMPLES": "OFF",
    "TYER_BENCH": "OFF",
}


def _commit_time() -> str | None:
    """Seconds, so that the same sources make the same packages. None outside a checkout."""
    done = subprocess.run(
        ["git", "-C", ROOT, "log", "-1", "--format=%ct"],
        stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False,
    )
    return done.stdout.strip() or None


def make(build: str, out: str, maintainer: str | None, revision: str) -> list[str]:
    """Builds in one folder, leaves the packages in another, and gives their paths."""
    environment = dict(os.environ)
    if "SOURCE_DATE_EPOCH" not in environment and (when := _commit_time()):
        environment["SOURCE_DATE_EPOCH"] = when
    settings = SETTINGS | {"TYER_DEB_REVISION": revision}
    if maintainer:
        settings["TYER_MAINTAINER"] = maintainer
    options = [f"-D{name}={value}" for name, value in settings.items()]

    def run(*command: str) -> None:
        subprocess.run(command, check=True, env=environment)

    run("cmake", "-S", ROOT, "-B", build, "-G", "Ninja", "--log-level=NOTICE", *options)
    print("package: building; that takes some minutes", flush=True)
    run("cmake", "--build", build, "--", "--quiet")
    remove_older(out)
    run("cpack", "--config", os.path.join(build, "CPackConfig.cmake"), "-G", "DEB", "-B", out)
    shutil.rmtree(os.path.join(out, "_CPack_Packages"), ignore_errors=True)
    return found(out)


def remove_older(folder: str) -> None:
    """Packages of another time, and nothing else: whoever named the folder may have more in it."""
    for package in glob.glob(os.path.join(glob.escape(folder), "*.deb")):
        os.unlink(package)
    shutil.rmtree(os.path.join(folder, "_CPack_Packages"), ignore_errors=True)


def found(folder: str) -> list[str]:
    packages = sorted(glob.glob(os.path.join(folder, "*.deb")))
    if not packages:
        raise RuntimeError(f"there are no .deb files in {folder}: make them with tools/package deb")
    return packages


def look_at(packages: list[str]) -> None:
    """What lintian calls an error is one."""
    if not shutil.which("lintian"):
        print("package: lintian is not installed, so nobody has looked at the packages (tools/setup installs it)")
        return
    print("package: what lintian has to say (only its errors matter; warnings are about Debian's own archive):", flush=True)
    # root is who builds in CI; nobody outside sees who that was.
    subprocess.run(["lintian", "--allow-root", "--fail-on", "error", "--tag-display-limit", "0", *packages], check=True)
