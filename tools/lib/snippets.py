#!/usr/bin/env python3
"""Snippets in the documentation are pieces of programs that are compiled and run.

A line `<!-- snippet: FILE TAG -->` in a .md file is followed by a code block that must equal what lies between the two
lines `// [TAG]` of FILE. Without arguments: says which differ, and which C++ has no such line before it, and fails. --fix:
writes them.
"""
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
MARK = re.compile(r"^<!-- snippet: (\S+) (\S+) -->\n(?:```cpp\n.*?^```\n)?", re.M | re.S)
LOOSE = re.compile(r"(?<! -->\n)^```cpp$", re.M)


def piece(path, tag):
    text = (ROOT / path).read_text()
    found = re.search(rf"^ *// \[{re.escape(tag)}\]\n(.*?)^ *// \[{re.escape(tag)}\]$", text, re.M | re.S)
    if not found:
        raise SystemExit(f"snippets: no piece [{tag}] in {path}")
    return textwrap.dedent(found[1]).strip("\n") + "\n"


def refreshed(text):
    return MARK.sub(lambda m: f"<!-- snippet: {m[1]} {m[2]} -->\n```cpp\n{piece(m[1], m[2])}```\n", text)


def main():
    stale, loose = [], []
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = page.read_text()
        new = refreshed(text)
        if LOOSE.search(new):
            loose.append(str(page.relative_to(ROOT)))
        if new == text:
            continue
        if "--fix" in sys.argv:
            page.write_text(new)
        else:
            stale.append(str(page.relative_to(ROOT)))
    if stale:
        print("snippets: not as in the programs they come from: " + ", ".join(stale))
        print("snippets: run tools/check --fix-format")
    if loose:
        print("snippets: C++ that nobody compiles, take it out of a program of examples/: " + ", ".join(loose))
    return 1 if stale or loose else 0


if __name__ == "__main__":
    sys.exit(main())
