"""A single MySQL server: the real one. Debian has it only where libc is newer, so it lies unpacked, with its libraries and its own
loader, under TYER_DEPS/mysql (tools/lib/unpack_mysql)."""

from __future__ import annotations

import os

from instances import EngineError, Instance, Node
from mariadb_kind import MariaDB


class MySQL(MariaDB):
    name = "mysql"
    about = "one MySQL server"
    accepts = MariaDB.accepts - {"clock_shift"}  # its loader takes no library of another libc
    ready_s_max = 60.0

    def make_data(self, folder: str, data: str) -> None:
        self._account().run(self._server() + [f"--datadir={data}", f"--tmpdir={folder}", "--initialize-insecure"], folder)

    def _server(self) -> list[str]:
        root = os.path.join(os.environ.get("TYER_DEPS") or "/opt/tyer", "mysql")
        if not os.path.exists(os.path.join(root, ".done")):
            raise EngineError(f"there is no MySQL in {root} (run tools/lib/unpack_mysql)")
        return [
            os.path.join(root, "usr/lib64/ld-linux-x86-64.so.2"), "--library-path",
            os.path.join(root, "usr/lib/x86_64-linux-gnu"), os.path.join(root, "usr/sbin/mysqld"), "--no-defaults",
            f"--basedir={root}/usr", f"--lc-messages-dir={root}/usr/share/mysql", "--secure-file-priv=",
        ]

    def _settings(self, instance: Instance, node: Node) -> dict[str, str]:
        return super()._settings(instance, node) | {"mysqlx": "OFF"}
