"""Running a server as another user, for servers that refuse to run as root."""

from __future__ import annotations

import os
import pwd
import shutil
import stat
import subprocess

from instances import EngineError, Instance

MAKE_S_MAX = 60


class Account:
    """The first of these users that the machine has; ourselves, unless we are root."""

    def __init__(self, *names: str):
        self._entry = None
        if os.getuid() != 0:
            return
        for name in names:
            try:
                self._entry = pwd.getpwnam(name)
                return
            except KeyError:
                continue
        raise EngineError(f"root cannot run this server, and there is no user {' or '.join(names)} (run tools/setup)")

    def let_in(self, instance: Instance) -> None:
        """The folder of the instance can be entered by this account, and by no other."""
        if self._entry is None:
            return
        root = os.path.dirname(instance.folder)
        os.chmod(root, 0o711)  # entered, not listed
        os.chown(instance.folder, -1, self._entry.pw_gid)
        os.chmod(instance.folder, 0o710)
        above = os.path.dirname(root)
        while above != "/":
            if not os.stat(above).st_mode & stat.S_IXOTH:
                raise EngineError(
                    f"this server runs as user {self._entry.pw_name}, who cannot enter {above}; "
                    "set TYER_ENGINES_DIR to a folder that everybody can (mode 711 is enough)"
                )
            above = os.path.dirname(above)

    def own(self, path: str) -> None:
        if self._entry is not None:
            os.chown(path, self._entry.pw_uid, self._entry.pw_gid)

    def own_all(self, folder: str) -> None:
        self.own(folder)
        for name in os.listdir(folder):
            self.own(os.path.join(folder, name))

    def command(self, words: list[str]) -> list[str]:
        if self._entry is None:
            return words
        # pdeathsig: a change of user would forget that the server is to end with whoever started it.
        setpriv = [shutil.which("setpriv") or "/usr/bin/setpriv", "--pdeathsig", "keep"]
        return setpriv + [f"--reuid={self._entry.pw_uid}", f"--regid={self._entry.pw_gid}", "--clear-groups", "--"] + words

    def run(self, words: list[str], folder: str) -> None:
        """Runs a program that makes something, to its end."""
        done = subprocess.run(
            self.command(words), cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, text=True,
            timeout=MAKE_S_MAX, check=False,
        )
        if done.returncode != 0:
            raise EngineError(f"{os.path.basename(words[0])} failed:\n{(done.stdout + done.stderr).strip()}")
