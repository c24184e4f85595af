#!/usr/bin/env python3
"""The workflows of .github: actionlint finds nothing, actions are pinned by commit, rights are named, no secret is in a script.

Exits with 77 where tools/setup has not built actionlint.
"""
import os
import pathlib
import re
import subprocess
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
TOOLS = pathlib.Path(os.environ.get("TYER_DEPS", "/opt/tyer")) / "release/bin"
VERSION = re.search(r"^actionlint=(\S+)", (ROOT / "tools/setup").read_text(), re.M)[1]
SKIPPED = 77


def wrong_in(text):
    """What is wrong with a workflow, in words."""
    for action in re.findall(r"uses:\s*(\S+)", text):
        if not re.fullmatch(r"[\w.-]+/[\w./-]+@[0-9a-f]{40}", action):
            yield f"{action} is not pinned by its commit"
    if not re.search(r"^permissions:", text, re.M):
        yield "it does not say which permissions it needs"
    if re.search(r"write-all|pull_request_target", text):
        yield "it has rights that no workflow here needs"
    lines = text.splitlines()
    for at, line in enumerate(lines):
        if "secrets." in line and not re.fullmatch(r"\s+[A-Z_]+: \$\{\{ secrets\.\w+ \}\}", line):
            yield f"line {at + 1}: a secret goes to a script only through its environment"
        if re.search(r"set -x|printenv|\benv\s*$", line):
            yield f"line {at + 1}: prints the environment"
    for path in set(re.findall(r"\btools/[\w/.]+", text)):
        if not os.access(ROOT / path, os.X_OK):
            yield f"there is no {path}"


def main():
    bad = "jobs:\n  a:\n    steps:\n      - uses: actions/checkout@v4\n      - run: tools/none ${{ secrets.KEY }}\n"
    assert len(list(wrong_in(bad))) == 4, list(wrong_in(bad))
    files = sorted((ROOT / ".github/workflows").glob("*.yml"))
    wrong = [f"{file.name}: {words}" for file in files for words in wrong_in(file.read_text())]
    for line in wrong:
        print(f"workflows: {line}")
    if wrong or not files:
        return 1
    program = TOOLS / f"actionlint-{VERSION}"
    if not program.exists():
        print(f"workflows: skipped: there is no {program}: run tools/setup")
        return SKIPPED
    return subprocess.run([program, "-no-color", *files], cwd=ROOT, check=False).returncode


if __name__ == "__main__":
    sys.exit(main())
