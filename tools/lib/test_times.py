#!/usr/bin/python3 -IS
"""Writes how long each test of the presets named took, the longest first, to build/test-times.txt, and prints its path.

Reads build/PRESET/tests*.xml, which ctest --output-junit has written.
"""

from __future__ import annotations

import glob
import os
import sys
import xml.etree.ElementTree as tree

ROOT = os.path.dirname(os.path.dirname(os.path.dirname(os.path.realpath(__file__))))


def tests_of(preset: str) -> list[tuple[float, str, str, str]]:
    cases = []
    for path in glob.glob(os.path.join(ROOT, "build", preset, "tests*.xml")):
        for case in tree.parse(path).getroot().iter("testcase"):
            outcome = {"run": "passed", "fail": "FAILED", "notrun": "not run"}.get(case.get("status"), case.get("status"))
            cases.append((float(case.get("time")), preset, outcome, case.get("name")))
    return cases


def main() -> int:
    presets = sys.argv[1:]
    tests = [test for preset in presets for test in tests_of(preset)]
    path = os.path.join(ROOT, "build", "test-times.txt")
    with open(path, "w", encoding="utf-8") as out:
        for preset in presets:
            own = [test for test in tests if test[1] == preset]
            failed = sum(test[2] == "FAILED" for test in own)
            seconds = sum(test[0] for test in own)
            print(f"# {preset}: {len(own)} tests, {failed} failed, {seconds:.0f} s one after the other", file=out)
        for seconds, preset, outcome, name in sorted(tests, reverse=True):
            print(f"{seconds:8.1f} s  {preset:<8} {outcome:<8} {name}", file=out)
    print(f"How long each test took: {path}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
