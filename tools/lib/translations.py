#!/usr/bin/env python3
"""The Chinese pages are kept in step with the English ones.

Each page in the list below, and each page of the guide and of the engines, must have its translation, with as many headings,
table rows, list items and code blocks, and with the same code. It cannot see a changed sentence; it does see a forgotten part.

A Chinese page has one word for one thing, comments in Chinese, and a paragraph in one line: where a line ends between two Chinese
letters, a browser shows a gap.
"""
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
BOTH = ("index", "start", "install", "choose", "compare", "when-not", "how", "faq", "coming-from", "cli", "guarantees", "operations", "observability", "ladder", "examples")
FOLDERS = ("guide", "engines")
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


HAN = r"[\u3001-\u301f\u4e00-\u9fff\uff01-\uff5e]"
BROKEN = re.compile(rf"({HAN}[*>]*)\n[> ]*(?=[\[`*(]*{HAN})(?![-|#])")
GAP = re.compile(rf"{HAN}{{1,4}} +{HAN}{{1,4}}")
QUESTION = re.compile(r"？\*\*$")  # which the FAQ answers in the next line
COMMENT = re.compile(r"(?:^|\s)(?:#|//) +([A-Za-z][a-z]*(?:[ ,]+[a-z]+){2,}.*)", re.M)
ONE_WORD = {"续约": "续期", "续租": "续期", "故障切换": "故障转移", "交接": "移交", "答复": "应答", "名称": "名字", "哨兵": "sentinel",
            "挂钟": "系统时钟", "墙上时钟": "系统时钟", "颁发机构": "CA", "证书机构": "CA", "互斥量": "互斥锁", "强制解除": "打断",
            "运维者": "运维人员", "隔断": "隔离", "被超过": "被超越", "guard ": "守卫"}
NOT_WORDS = re.compile(r"`[^`\n]*`|\]\([^)\n]*\)")


def habits(text):
    """What a Chinese reader stumbles over: text of one page in, sentences out."""
    prose = re.sub(r"^```\w*\n.*?^```", "", text, flags=re.M | re.S)
    for end in BROKEN.finditer(prose):
        line = prose[prose.rfind("\n", 0, end.start()) + 1:end.end(1)]
        if not QUESTION.search(line):
            yield f"a paragraph is broken after {line[-12:]}"
    yield from (f"there is a gap in {gap[0]}" for gap in GAP.finditer(prose))
    words = NOT_WORDS.sub("", prose)
    yield from (f"{other} is called {word} elsewhere" for other, word in ONE_WORD.items() if other in words)
    for code in re.findall(r"^```(?:sh|cpp|ini|yaml|cmake)\n(.*?)^```", text, re.M | re.S):
        yield from (f"a comment is not Chinese: {words}" for words in COMMENT.findall(code) if not re.search(HAN, words))


def main():
    pages = dict(PAGES)
    for folder in FOLDERS:
        pages |= {f"docs/{folder}/{page.name}": f"docs/zh/{folder}/{page.name}" for page in sorted((ROOT / "docs" / folder).glob("*.md"))}
    wrong = []
    for english, chinese in pages.items():
        if not (ROOT / chinese).exists():
            wrong.append(f"{chinese} is missing")
            continue
        a, b = shape(english), shape(chinese)
        wrong += [f"{chinese}: {what} differ from {english}" for what in a if a[what] != b[what]]
        wrong += [f"{chinese}: {what}" for what in habits((ROOT / chinese).read_text())]
    for line in wrong:
        print(f"translations: {line}")
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
