#!/usr/bin/env python3
"""Snippets in the documentation are pieces of programs that are compiled and run.

A line `<!-- snippet: FILE TAG -->` in a .md file is followed by a code block that must equal what lies between the two
lines `// [TAG]` of FILE; in a Chinese page with the comments that docs/zh/comments.json has for those of the program.
Without arguments: says which differ, which C++ or Java has no such line before it, and which comment has no Chinese, and fails.
--fix: writes them.
"""
import json
import pathlib
import re
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
LANGUAGES = {".java": "java"}  # else C++
MARK = re.compile(r"^<!-- snippet: (\S+) (\S+) -->\n(?:```(?:cpp|java)\n.*?^```\n)?", re.M | re.S)
LOOSE = re.compile(r"(?<! -->\n)^```(?:cpp|java)$", re.M)
# A string, which may look like a comment; or a comment.
COMMENT = re.compile(r'"(?:\\.|[^"\\\n])*"|(?P<open>// ?|/\* )(?P<words>[^\n]*?)(?P<close> \*/|$)', re.M)
QUOTED = re.compile(r'"[^"]*"')


def piece(path, tag):
    text = (ROOT / path).read_text()
    found = re.search(rf"^ *// \[{re.escape(tag)}\]\n(.*?)^ *// \[{re.escape(tag)}\]$", text, re.M | re.S)
    if not found:
        raise SystemExit(f"snippets: no piece [{tag}] in {path}")
    return textwrap.dedent(found[1]).strip("\n") + "\n"


def translated(code, chinese, missing):
    def one(m):
        if not m["words"] or QUOTED.fullmatch(m["words"]):  # a value says the same in every language
            return m[0]
        if m["words"] not in chinese:
            missing.add(m["words"])
        return m["open"] + chinese.get(m["words"], m["words"]) + m["close"]

    return COMMENT.sub(one, code)


def refreshed(text, told=lambda code: code):
    def one(m):
        language = LANGUAGES.get(pathlib.PurePath(m[1]).suffix, "cpp")
        return f"<!-- snippet: {m[1]} {m[2]} -->\n```{language}\n{told(piece(m[1], m[2]))}```\n"

    return MARK.sub(one, text)


def main():
    stale, loose, missing = [], [], set()
    chinese = json.loads((ROOT / "docs/zh/comments.json").read_text())
    for page in [*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")]:
        text = page.read_text()
        if page.name == "README.zh-CN.md" or "docs/zh" in page.as_posix():
            new = refreshed(text, lambda code: translated(code, chinese, missing))
        else:
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
        print("snippets: code that nobody compiles, take it out of a program of examples/: " + ", ".join(loose))
    for words in sorted(missing):
        print(f"snippets: docs/zh/comments.json has no Chinese for: {words}")
    return 1 if stale or loose or missing else 0


if __name__ == "__main__":
    sys.exit(main())
