#!/usr/bin/env python3
"""The Chinese pages are kept in step with the English ones.

Each page in the list below, and each page of the guide, must have its translation, with as many headings, table rows, list
items and code blocks, and with the same code. It cannot see a changed sentence; it does see a forgotten part.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOTH = ("index", "start", "install", "choose", "compare", "when-not", "how", "faq", "coming-from", "cli", "guarantees", "operations", "observability", "ladder", "examples")
PAGES = {"README.md": "README.zh-CN.md"} | {f"docs/{page}.md": f"docs/zh/{page}.md" for page in BOTH}


def shape(path):
    text = (ROOT / path).read_text()
    blocks = re.findall(r"^```\w*\n(.*?)^```", text, re.M | re.S)
    prose = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.M | re.S)
    count = lambda pattern: len(re.findall(pattern, prose, re.M))
    return {
        "headings": count(r"^#+ "),
        "table rows": count(r"^\|"),
        "list items": count(r"^- "),
        "code blocks": len(blocks),
        # Comments are translated, code is not.
        "code": ["\n".join(re.sub(r"\s*(//|#|/\*).*", "", line) for line in b.splitlines()) for b in blocks],
    }


def main():
    pages = dict(PAGES)
    for page in sorted((ROOT / "docs/guide").glob("*.md")):
        pages[f"docs/guide/{page.name}"] = f"docs/zh/guide/{page.name}"
    wrong = []
    for english, chinese in pages.items():
        if not (ROOT / chinese).exists():
            wrong.append(f"{chinese} is missing")
            continue
        a, b = shape(english), shape(chinese)
        wrong += [f"{chinese}: {what} differ from {english}" for what in a if a[what] != b[what]]
    for line in wrong:
        print(f"translations: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
