"""Detached signatures by GnuPG, and the throw-away key of a dry run."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import tempfile
from collections.abc import Iterator

GPG_S_MAX = 120


def _gpg(*words: str, home: str | None) -> str:
    where = ["--homedir", home] if home else []
    done = subprocess.run(
        ["gpg", *where, "--batch", "--no-tty", "--status-fd", "1", *words],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GPG_S_MAX, check=False,
    )
    if done.returncode:
        raise RuntimeError(f"gpg {words[0]} failed ({done.returncode}):\n{done.stderr.strip()}")
    return done.stdout


@contextlib.contextmanager
def throw_away() -> Iterator[tuple[str, str]]:
    """(home, fingerprint) of a key without a passphrase, which is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix="tyer-gpg-", dir="/tmp") as home:  # a socket's path must be short
        try:
            said = _gpg("--passphrase", "", "--pinentry-mode", "loopback", "--quick-generate-key",
                        "Tyer dry run <nobody@tyer.invalid>", "ed25519", "sign", "1d", home=home)
            yield home, re.search(r"KEY_CREATED \w ([0-9A-F]{40})", said)[1]
        finally:
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=False)


def fingerprint(key: str, *, home: str | None) -> str:
    """Of the one secret key that these words name; RuntimeError if there is none or more."""
    done = subprocess.run(
        ["gpg", *(["--homedir", home] if home else []), "--batch", "--with-colons", "--list-secret-keys", key],
        stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=GPG_S_MAX, check=False,
    )
    found = re.findall(r"^sec:.*\n(?:.*\n)*?fpr:+([0-9A-F]{40}):", done.stdout, re.M)
    if len(found) != 1:
        raise RuntimeError(f"'{key}' names {len(found) or 'no'} secret key{'s' if len(found) > 1 else ''} of gpg's: give a fingerprint")
    return found[0]


def must_be_able(key: str, *, home: str | None) -> None:
    """RuntimeError with gpg's words if the key cannot sign: it is over, or wants a passphrase that nobody types."""
    with tempfile.TemporaryDirectory(prefix="tyer-sign-") as folder:
        path = os.path.join(folder, "trial")
        with open(path, "w", encoding="ascii") as file:
            file.write("trial\n")
        sign(path, key, home=home)


def sign(path: str, key: str, *, home: str | None) -> str:
    """Writes PATH.asc, looks at it as a user does, and gives its path."""
    signature = f"{path}.asc"
    # A key in CI has no passphrase, and nobody is there to type one.
    _gpg("--armor", "--local-user", key, "--output", signature, "--detach-sign", path, home=home)
    verify(path, key, home=home)
    return signature


def verify(path: str, key: str, *, home: str | None) -> None:
    """RuntimeError unless PATH.asc is this key's signature of the file."""
    said = _gpg("--verify", f"{path}.asc", path, home=home)
    # The last word is the primary key's fingerprint; a subkey may have signed.
    valid = re.search(r"^\[GNUPG:\] VALIDSIG .*?([0-9A-F]{40})$", said, re.M)
    if not valid or valid[1] != key:
        raise RuntimeError(f"{os.path.basename(path)}.asc is not of the key {key}")
