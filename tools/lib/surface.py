#!/usr/bin/env python3
"""The whole public surface, names and signatures, as docs/surface.txt: every change of it is seen in a diff.

Out of the headers, without comments, bodies and what is private; what is in tyer::detail is nobody's business. Without arguments:
says whether the file is out of date, and how, and fails. --fix: writes it.
"""
import difflib
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
FILE = ROOT / "docs/surface.txt"
NOT_PUBLIC = {"export.hpp"}
TOKEN = re.compile(r'R"(\w*)\(.*?\)\1"|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|//[^\n]*|/\*.*?\*/|^[ \t]*\#(?:\\\n|[^\n])*'
                   r'|\s+|\w+|::|.', re.M | re.S)
OPENS, CLOSES = {"(": ")", "[": "]", "{": "}"}, {")", "]", "}"}
TYPE = re.compile(r"^(?:template <.*> )?(?:class|struct|enum|union)\b")
DROPPED = re.compile(r"^(?:friend (?:class|struct)\b|static_assert\b|(?:template <[^>]*> )?(?:class|struct)\b[^{=]*$)")


def tokens_of(text):
    """Without comments and what the preprocessor sees; spaces and line ends are one space."""
    out = []
    for found in TOKEN.finditer(text):
        token = found[0]
        if re.match(r"//|/\*|\s*#", token):
            continue
        out.append(" " if token.isspace() else token)
    return out


def clean(tokens):
    return re.sub(r"\s*\bTYER_EXPORT\b", "", " ".join("".join(tokens).split())).strip()


class Reader:
    def __init__(self, text):
        self.tokens, self.at, self.lines = tokens_of(text), 0, []

    def balanced(self):
        """The tokens from an opening bracket to its end, both included."""
        first, depth = self.at, 0
        while True:
            token = self.tokens[self.at]
            depth += (token in OPENS) - (token in CLOSES)
            self.at += 1
            if depth == 0:
                return self.tokens[first:self.at]

    def next_word(self):
        while self.at < len(self.tokens) and self.tokens[self.at] == " ":
            self.at += 1
        return self.tokens[self.at] if self.at < len(self.tokens) else ""

    def scope(self, indent, shown):
        """Declarations up to the end of a namespace or a class; `shown` is whether they are public."""
        head = []
        while self.at < len(self.tokens):
            token = self.tokens[self.at]
            if token == "}":
                self.at += 1
                return
            if token == ";":
                self.at += 1
                self.tell(indent, shown, clean(head))
                head = []
            elif token == ":" and clean(head) in ("public", "private", "protected"):
                self.at += 1
                shown, head = clean(head) == "public", []
            elif token == "{":
                head = self.braced(indent, shown, head)
            elif token in OPENS:
                head += self.balanced()
            else:
                head.append(token)
                self.at += 1

    def tell(self, indent, shown, declaration):
        if shown and declaration and not DROPPED.match(declaration):
            self.lines.append("  " * indent + declaration)

    def braced(self, indent, shown, head):
        """What a brace begins; gives what is left of the declaration that it is in."""
        said = clean(head)
        if re.match(r"(?:inline )?namespace\b", said):
            self.namespace(indent, said)
        elif TYPE.match(said):
            self.type(indent, shown, said)
        elif "(" in said and not said.endswith("="):
            self.body()
            self.tell(indent, shown, without_initializers(said))
        else:
            return head + self.balanced()
        return []

    def namespace(self, indent, said):
        name = said.split()[-1]
        if name == "detail" or name == "namespace":
            self.balanced()
            return
        self.at += 1
        if name not in ("tyer", "v1"):
            self.lines.append("  " * indent + f"namespace {name}")
        self.scope(indent + (name not in ("tyer", "v1")), True)

    def type(self, indent, shown, said):
        if not shown:
            self.balanced()
        elif re.search(r"\benum\b", said):
            self.lines.append("  " * indent + said)
            inside = clean(self.balanced()[1:-1]).rstrip(",")
            self.lines += ["  " * (indent + 1) + value.strip() for value in inside.split(",")]
        else:
            self.lines.append("  " * indent + said)
            self.at += 1
            self.scope(indent + 1, re.search(r"\b(?:class|struct)\b", re.sub(r"<.*?>", "", said))[0] == "struct")

    def body(self):
        """Of a function; the braces of what a constructor initializes come before it."""
        self.balanced()
        while self.next_word() in (",", "{"):
            while self.next_word() != "{":
                self.balanced() if self.next_word() in OPENS else self.step()
            self.balanced()

    def step(self):
        self.at += 1


def without_initializers(declaration):
    depth = 0
    for i, c in enumerate(declaration):
        depth += (c in OPENS) - (c in CLOSES)
        if depth == 0 and declaration[i:i + 3] == " : " and ")" in declaration[:i]:
            return declaration[:i]
    return declaration


def surface():
    parts = ["The public surface of Tyer, all of namespace tyer. Made by tools/check --fix-format out of include/tyer.\n"]
    root = ROOT / "include/tyer"
    for header in [*sorted(root.glob("*.hpp")), *sorted(root.glob("recipes/*.hpp"))]:
        if header.name in NOT_PUBLIC:
            continue
        text = header.read_text()
        reader = Reader(text)
        reader.scope(1, True)
        macros = re.findall(r"^#define (TYER_\w*[A-Z])\b", text, re.M)
        if reader.lines or macros:
            parts.append("\n".join([f"<tyer/{header.relative_to(root)}>", *(f"  #define {m}" for m in macros), *reader.lines]) + "\n")
    return "\n".join(parts)


def main():
    new, old = surface(), FILE.read_text() if FILE.exists() else ""
    if new == old:
        return 0
    if "--fix" in sys.argv:
        FILE.write_text(new)
        return 0
    sys.stdout.writelines(difflib.unified_diff(old.splitlines(True), new.splitlines(True), "docs/surface.txt", "the headers", n=1))
    print("surface: docs/surface.txt is not what the headers say; look at the difference, then run tools/check --fix-format")
    return 1


if __name__ == "__main__":
    sys.exit(main())
