"""Clean Debian systems in folders, made once and kept, to try things in. Needs root and a Debian mirror.

Everything that runs inside has its own mounts and its own process numbers, which the kernel takes away when it ends: no
mount and no process is left behind, however it ends. The network is the machine's own.
"""

from __future__ import annotations

import ctypes
import fcntl
import hashlib
import os
import re
import shutil
import signal
import subprocess
import urllib.error
import urllib.request

PR_SET_PDEATHSIG = 1
MIRROR_ANSWERS_S_MAX = 20.0

# Process 1 stays a shell: it takes in the servers whose parents have ended.
INSIDE = """
root=$1 folders=$2; shift 2
mount -t proc proc "$root/proc"
mount -t tmpfs -o mode=1777 tmpfs "$root/tmp"
printf '%s' "$folders" | while read -r inside mode outside; do
  mkdir -p "$root$inside"
  mount --bind "$outside" "$root$inside"
  [ "$mode" = rw ] || mount -o remount,bind,ro "$root$inside"
done
chroot "$root" "$@"
exit $?
"""


class Unable(Exception):
    """This machine cannot do it at all: the reason for skipping, not a failure."""


def cache_dir() -> str:
    base = os.environ.get("XDG_CACHE_HOME") or os.path.expanduser("~/.cache")
    return os.path.join(base, "tyer")


def _ends_with_us() -> None:
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)


def _isolated(command: list[str], **more) -> subprocess.CompletedProcess:
    own = ["unshare", "--mount", "--pid", "--fork", "--kill-child", "--propagation", "private", "--"]
    return subprocess.run(own + command, preexec_fn=_ends_with_us, check=False, **more)


def mirror() -> str:
    """The address that this machine has its own Debian packages from."""
    said = subprocess.run(
        ["apt-get", "update", "--print-uris"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, check=False
    ).stdout
    found = re.search(r"^'(\S+)/dists/(?:bookworm|trixie)/InRelease'", said, re.M)
    if not found:
        raise Unable("apt on this machine knows no mirror of Debian 12 or 13")
    return found[1]


def _must_be_able(suite: str) -> str:
    if os.geteuid() != 0:
        raise Unable("making a Debian system needs root")
    for program in ("mmdebstrap", "unshare", "apt-get"):
        if not shutil.which(program):
            raise Unable(f"{program} is missing: run tools/setup")
    address = mirror()
    try:
        urllib.request.urlopen(f"{address}/dists/{suite}/InRelease", timeout=MIRROR_ANSWERS_S_MAX).close()
    except (urllib.error.URLError, OSError) as e:
        raise Unable(f"no network: the Debian mirror of this machine does not answer ({e})") from e
    return address


def mounted(folders: dict[str, str]) -> str:
    """The lines that INSIDE reads. A path may have blanks: it comes last."""
    lines = ""
    for inside, outside in folders.items():
        path = outside.removesuffix(":rw")
        lines += f"{inside} {'ro' if path == outside else 'rw'} {path}\n"
    return lines


class Debian:
    """A folder with a Debian system in it."""

    def __init__(self, root: str):
        self.root = root

    def run(self, script: str, *, folders: dict[str, str] | None = None, quiet: bool = False) -> str:
        """Runs a shell script inside; folders says what is seen where, "PATH" or "PATH:rw". Gives what it printed."""
        environment = {
            "PATH": "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin",
            "HOME": "/root",
            "LC_ALL": "C.UTF-8",
            "DEBIAN_FRONTEND": "noninteractive",
        }
        done = _isolated(
            ["sh", "-eu", "-c", INSIDE, "sh", self.root, mounted(folders or {}), "sh", "-eu", "-c", script],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE if quiet else None,
            stderr=subprocess.STDOUT if quiet else None,
            text=True,
        )
        if done.returncode:
            if quiet:
                print(done.stdout)
            raise subprocess.CalledProcessError(done.returncode, script.strip())
        return done.stdout or ""

    def copy(self, to: str) -> Debian:
        subprocess.run(["cp", "-a", "--reflink=auto", self.root, to], check=True)
        return Debian(to)


def debian(suite: str, packages: list[str], *, fresh: bool = False) -> Debian:
    """The smallest system of that suite with apt and these packages; made if it is not there yet."""
    address = _must_be_able(suite)
    words = hashlib.sha256(" ".join([suite, *packages]).encode()).hexdigest()[:12]
    root = os.path.join(cache_dir(), "debian", f"{suite}-{words}")
    os.makedirs(os.path.dirname(root), exist_ok=True)
    with open(f"{root}.lock", "w", encoding="ascii") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if fresh:
            shutil.rmtree(root, ignore_errors=True)
        if not os.path.isdir(root):
            _make(suite, packages, address, root)
    return Debian(root)


def _make(suite: str, packages: list[str], address: str, root: str) -> None:
    print(f"package: making a clean Debian ({suite}) in {root}", flush=True)
    new = f"{root}.new"
    shutil.rmtree(new, ignore_errors=True)
    command = ["mmdebstrap", "--mode=root", "--variant=minbase", "--quiet", "--aptopt=Acquire::Retries \"3\""]
    if packages:
        command.append("--include=" + ",".join(packages))
    done = _isolated(
        [*command, suite, new, f"deb {address} {suite} main"],
        stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True,
    )
    if done.returncode:
        shutil.rmtree(new, ignore_errors=True)
        raise RuntimeError(f"mmdebstrap failed ({done.returncode}):\n{done.stdout}")
    os.rename(new, root)
