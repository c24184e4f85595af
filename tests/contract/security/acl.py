"""The smallest rights that docs/engines/redis.md and redisson.md name, and servers that grant no more."""

from __future__ import annotations

import json
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[3]
sys.path.insert(0, str(ROOT / "tools/lib"))
import resp  # noqa: E402

USER, PASSWORD = "shop", "secret"
ANSWER_S_MAX = 5.0


def rights(of: str, protocol: str = "redis") -> list[str]:
    """The words of the page's ACL SETUSER line under the comment `# every OF`; the suite's names have a prefix of their own."""
    name = f"docs/engines/{'redis' if of == 'sentinel' else protocol}.md"
    found = re.search(rf"^# every {of}\b.*\n(ACL SETUSER {USER} .*)$", (ROOT / name).read_text(), re.M)
    if not found:
        raise SystemExit(f"{name} has no ACL for every {of}")
    line = found[1]
    for theirs in ("tyer:inbox:", "order/") if protocol == "redisson" else ("tyer:",):
        line = line.replace(theirs, "contract:")
    return line.split()


def servers() -> list[tuple[str, int]]:
    """What each server of the instance is that we run under, in the words of the page, and its port."""
    told = subprocess.check_output([ROOT / "tools/engines", "members", os.environ["TYER_ENGINE_ID"], "--json"])
    return [(_role(member["name"]), member["port"]) for member in json.loads(told)]


def _role(name: str) -> str:
    if name.startswith("sentinel"):
        return "sentinel"
    return "node of a cluster" if os.environ["TYER_ENGINE_ID"].startswith("cluster") else "server"


def ask(port: int, *words: str):
    with resp.Connection(port, ANSWER_S_MAX) as connection:
        return connection.ask(*words)


def with_login(uri: str, query: str = "") -> str:
    scheme, rest = uri.split("://", 1)
    options = [query] if query else []
    if "sentinel" in scheme:
        options.append(f"sentinel_user={USER}&sentinel_password={PASSWORD}")
    return f"{scheme}://{USER}:{PASSWORD}@{rest}" + ("?" + "&".join(options) if options else "")
