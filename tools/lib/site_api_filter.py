#!/usr/bin/env python3
"""A public header as Doxygen wants it: prints the file that is named, with its comments marked as documentation.

The headers are written for those who read headers: plain comments, tables drawn with bars, code that is set in. Here they become
Doxygen's comments, tables and code blocks. What is not for them goes: the inline
namespace, the export macro, friends, and what we say in others' namespaces.
"""
import re
import sys

COMMENT = re.compile(r"^(\s*)//(?!/)( ?)(.*)$")
TRAILING = re.compile(r"^(  \S.*?[;,}])\s+// (.*)$")  # of a member or an enumerator; deeper is the body of a function
RULE = re.compile(r"^[\s+|-]*-[\s+|-]*$")
OTHERS_TEMPLATE = re.compile(r"^(?://[^\n]*\n)*template <>\nstruct (?:std|boost)::[^\n]*?\{(?:\};|.*?^\};)\n", re.M | re.S)
FRIEND = re.compile(r"^( *)(?:template <[^\n]*>\n *)?friend [^;{]*(?:;|\{[^\n]*\}|\{\n.*?^\1\})\n", re.M | re.S)
NOT_FOR_READERS = ("inline namespace v1 {", "}  // namespace v1")


def escaped(text):
    """Words that Doxygen would take for commands or for tags."""
    text = re.sub(r"<(tyer/[\w/]+\.hpp)>", r"\1", text)
    return text.replace("\\", "\\\\").replace("@", "\\@").replace("<", "\\<").replace(">", "\\>")


def table(rows):
    """A drawn table; a row whose first cell is empty goes on with the one before."""
    cells = []
    for row in (r for r in rows if not RULE.match(r)):
        parts = [escaped(c.strip()) for c in row.split("|")]
        if cells and not parts[0]:
            cells[-1] = [f"{a} {b}".strip() for a, b in zip(cells[-1], parts)]
        else:
            cells.append(parts)
    lines = ["| " + " | ".join(r) + " |" for r in cells]
    return ["", lines[0], "|" + "---|" * len(cells[0]), *lines[1:], ""]


def documentation(lines):
    """The text of one comment; what is set in after an empty line is a table or code, else prose that goes on."""
    out, block = [], []

    def close():
        if not block:
            return
        drawn = any(RULE.match(line) for line in block)
        # A star that ends no comment, for Doxygen makes one comment of all this.
        code = [line.replace("/*", "/\u2217").replace("*/", "\u2217/") for line in block]
        out.extend(table(block) if drawn else ["@code{.cpp}", *code, "@endcode"])
        block.clear()

    for line in lines:
        if line.startswith("  ") and (block or not out or not out[-1]):
            block.append(line[2:])
            continue
        close()
        out.append(escaped(line))
    close()
    return out


def filtered(text):
    lines, out, at = FRIEND.sub("", OTHERS_TEMPLATE.sub("", text)).splitlines(), [], 0
    while at < len(lines):
        found = COMMENT.match(lines[at])
        if not found:
            line = "" if lines[at].strip() in NOT_FOR_READERS else lines[at].replace("TYER_EXPORT ", "")
            trailing = TRAILING.match(line)
            out.append(f"{trailing[1]}  ///< {escaped(trailing[2])}" if trailing else line)
            at += 1
            continue
        indent, comment, first = found[1], [], at
        while at < len(lines) and (found := COMMENT.match(lines[at])):
            comment.append(found[3])
            at += 1
        words = documentation(comment)
        if first == 0:  # what the file is for
            words.insert(0, "@file")
        out += [f"{indent}/// {word}".rstrip() for word in words]
    return "\n".join(out) + "\n"


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as header:
        sys.stdout.write(filtered(header.read()))
