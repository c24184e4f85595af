"""Certificates that live as long as an instance: an authority, a server for 127.0.0.1 and localhost, a client."""

from __future__ import annotations

import functools
import os
import subprocess

from instances import EngineError

DAYS = 30
OPENSSL_S_MAX = 20

_CONFIG = """\
[req]
distinguished_name = name
prompt = no
[name]
O = Tyer throw-away certificates
[ca]
basicConstraints = critical, CA:TRUE
keyUsage = critical, keyCertSign, cRLSign
subjectKeyIdentifier = hash
[server]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = serverAuth, clientAuth
subjectAltName = IP:127.0.0.1, DNS:localhost
[client]
basicConstraints = critical, CA:FALSE
keyUsage = critical, digitalSignature
extendedKeyUsage = clientAuth
"""


def make(folder: str) -> None:
    """Writes ca, server and client as NAME.crt and NAME.key into a new folder."""
    os.mkdir(folder, 0o700)
    config = os.path.join(folder, "openssl.cnf")
    with open(config, "w", encoding="ascii") as file:
        file.write(_CONFIG)
    for name in ("ca", "server", "client"):
        command = ["openssl", "req", "-x509", "-config", config, "-extensions", name, "-subj", f"/CN=tyer {name}"]
        command += ["-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", str(DAYS)]
        command += ["-keyout", f"{folder}/{name}.key", "-out", f"{folder}/{name}.crt"]
        if name != "ca":
            command += ["-CA", f"{folder}/ca.crt", "-CAkey", f"{folder}/ca.key"]
        try:
            done = subprocess.run(command, capture_output=True, text=True, timeout=OPENSSL_S_MAX, check=False)
        except FileNotFoundError:
            raise EngineError("openssl is not installed (run tools/setup)") from None
        if done.returncode != 0:
            raise EngineError(f"openssl could not make the {name} certificate: {done.stderr.strip()}")


@functools.cache
def client_context(folder: str):
    """An ssl context that trusts the authority and shows the client certificate."""
    import ssl

    context = ssl.create_default_context(cafile=f"{folder}/ca.crt")
    context.load_cert_chain(f"{folder}/client.crt", f"{folder}/client.key")
    return context
