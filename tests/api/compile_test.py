#!/usr/bin/env python3
"""What a user may write compiles without a word, and what he must not write is refused in the words that he reads.

must_compile/*.cpp      compile clean, with warnings as errors, and with -O3: some warnings come only then, out of inline code
must_not_compile/*.cpp  every line that ends in `// error: WORDS` is refused, with WORDS (a regular expression) in the message;
                        no other line is
every public header     says that it needs C++20 where it is compiled as C++17, and then ends

A file whose name begins with asio needs Boost, one with no_exceptions is compiled without them. Nothing is linked.
"""
from __future__ import annotations

import argparse
import concurrent.futures
import os
import re
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
FLAGS = "-std=c++20 -Wall -Wextra -Wpedantic -Wconversion -Wshadow -Werror -fno-diagnostics-color".split()
MADE = {"must_compile": ["-O3", "-c", "-o", os.devnull], "must_not_compile": ["-fsyntax-only"]}
EXPECTED = re.compile(r"// error: (.+)$")
# Both compilers: where it is, and what is wrong. An error inside a header counts where the user's line began it.
SAID = re.compile(r"^(?P<file>[^:\n]+):(?P<line>\d+):(?:\d+:)?\s+(?P<text>.*)$")
BEGAN_IT = re.compile(r"required (from|by substitution)|in instantiation of|requested here")


def refusals(source: Path, output: str) -> dict[int, list[str]]:
    """The messages of each line of the source."""
    found: dict[int, list[str]] = {}
    began, elsewhere = 0, []
    for spoken in filter(None, map(SAID.match, output.splitlines())):
        mine = Path(spoken["file"]).name == source.name
        line, text = int(spoken["line"]), spoken["text"]
        if re.match(r"(fatal )?error:", text):
            if mine or began:
                found.setdefault(line if mine else began, []).append(text)
                began = 0
            else:
                elsewhere.append(text)  # clang tells afterwards where it began
        elif mine and BEGAN_IT.search(text):
            began = line
            if elsewhere:
                found.setdefault(line, []).extend(elsewhere)
                began, elsewhere = 0, []
    if elsewhere:
        found.setdefault(0, []).extend(elsewhere)
    return found


def wrong_in(source: Path, refused: bool, output: str) -> list[str]:
    if source.parent.name == "must_compile":
        return [f"{source.name} does not compile clean"] if refused or output else []
    wrong = []
    messages = refusals(source, output)
    for number, line in enumerate(source.read_text().splitlines(), 1):
        expected = EXPECTED.search(line)
        said = messages.pop(number, [])
        if expected and not said:
            wrong.append(f"{source.name}:{number} compiles clean: {line.strip()}")
        elif expected and not any(re.search(expected[1], text) for text in said):
            wrong.append(f"{source.name}:{number} is refused in other words: {' | '.join(said)}")
        elif said and not expected:
            wrong.append(f"{source.name}:{number} is refused: {line.strip()}")
    wrong += [f"{source.name} is refused for something else: {text}" for said in messages.values() for text in said]
    return wrong if wrong or refused else [f"{source.name} compiles clean"]


def check(source: Path, command: list[str]) -> tuple[list[str], str]:
    without = ["-fno-exceptions"] if source.name.startswith("no_exceptions") else []
    done = subprocess.run([*command, *MADE[source.parent.name], *without, str(source)], text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    return wrong_in(source, done.returncode != 0, done.stdout), done.stdout


def wrong_in_old_language(compiler: str, include: str) -> list[str]:
    """Every public header says to a C++17 compiler what it needs, and nothing else."""
    wrong = []
    for header in sorted([*Path(include, "tyer").glob("*.hpp"), *Path(include, "tyer/recipes").glob("*.hpp")]):
        command = [compiler, "-std=c++17", "-fsyntax-only", "-fno-diagnostics-color", f"-I{include}", "-x", "c++", "-"]
        source = f"#include <{header.relative_to(include)}>\n"
        done = subprocess.run(command, input=source, text=True, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        errors = re.findall(r"error: .*", done.stdout)
        if done.returncode == 0 or "Tyer needs C++20: compile with -std=c++20" not in errors[0] or len(errors) > 2:
            wrong.append(f"{header.name}: {done.stdout}")
    return wrong


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    options.add_argument("--compiler", default="c++")
    options.add_argument("--include", default=str(HERE.parents[1] / "include"), help="where tyer/tyer.hpp is")
    options.add_argument("--boost", help="where boost/asio.hpp is; without it, files of Asio are left out")
    options.add_argument("names", nargs="*", help="only files whose name contains one of these")
    args = options.parse_args()

    command = [args.compiler, *FLAGS, f"-I{args.include}"] + (["-isystem", args.boost] if args.boost else [])
    if "clang" in Path(args.compiler).name:
        command.append("-ferror-limit=0")  # all of them: each line of a file is one
    sources = sorted(HERE.glob("must*/*.cpp"), key=lambda s: (not s.name.startswith("asio"), s.name))  # the longest first
    if not args.boost:
        sources = [s for s in sources if not s.name.startswith("asio")]
    if args.names:
        sources = [s for s in sources if any(n in s.name for n in args.names)]
    if not sources:
        print("nothing to compile", file=sys.stderr)
        return 1
    failed = 0
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        for source, (wrong, output) in zip(sources, pool.map(lambda s: check(s, command), sources)):
            print(f"{'failed' if wrong else 'ok':8}{source.parent.name}/{source.name}")
            if wrong:
                failed += 1
                print("\n".join("  " + w for w in wrong), output, sep="\n")
    if not args.names:
        old = wrong_in_old_language(args.compiler, args.include)
        print(f"{'failed' if old else 'ok':8}C++17", *old, sep="\n  ")
        failed += len(old)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
