#!/usr/bin/python3
"""The judge of the interop tests finds what it is there for."""

from __future__ import annotations

import os
import sys
import tempfile
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import histories


class Judge(unittest.TestCase):
    def stays(self, *lines: str, ends: dict[int, int] | None = None) -> list[histories.Stay]:
        with tempfile.NamedTemporaryFile("w", suffix=".history") as file:
            file.write("".join(line + "\n" for line in lines))
            file.flush()
            return histories.read([file.name], ends or {})

    def test_one_after_the_other_is_fine(self) -> None:
        stays = self.stays("enter 0 cpp-1-0 10", "leave 0 cpp-1-0 20", "enter 0 java-2-0 20", "leave 0 java-2-0 30")
        self.assertEqual(histories.overlaps(stays), [])
        self.assertEqual(histories.changes_of_side(stays), 1)

    def test_two_inside_at_once_are_found(self) -> None:
        stays = self.stays("enter 0 cpp-1-0 10", "enter 0 java-2-0 19", "leave 0 cpp-1-0 20", "leave 0 java-2-0 30")
        self.assertEqual(len(histories.overlaps(stays)), 1)

    def test_a_short_stay_inside_a_long_one_does_not_hide_the_next(self) -> None:
        lines = ("enter 0 cpp-1-0 10", "enter 0 java-2-0 15", "leave 0 java-2-0 16", "enter 0 java-3-0 18")
        stays = self.stays(*lines, "leave 0 java-3-0 19", "leave 0 cpp-1-0 20")
        self.assertEqual(len(histories.overlaps(stays)), 2)

    def test_names_are_apart(self) -> None:
        stays = self.stays("enter 0 cpp-1-0 10", "enter 1 java-2-0 11", "leave 0 cpp-1-0 20", "leave 1 java-2-0 21")
        self.assertEqual(histories.overlaps(stays), [])

    def test_whoever_was_killed_was_inside_until_then(self) -> None:
        lines = ("enter 0 cpp-1-0 10", "enter 0 java-2-0 40", "leave 0 java-2-0 50")
        self.assertEqual(len(histories.overlaps(self.stays(*lines, ends={1: 45}))), 1)
        self.assertEqual(histories.overlaps(self.stays(*lines, ends={1: 39})), [])

    def test_a_token_that_does_not_grow_is_found(self) -> None:
        first, later = ("enter 0 cpp-1-0 10 7", "leave 0 cpp-1-0 20"), ("enter 0 go-2-0 20 8", "leave 0 go-2-0 30")
        self.assertEqual(histories.out_of_order(self.stays(*first, *later)), [])
        self.assertEqual(len(histories.out_of_order(self.stays(*first, "enter 0 go-2-0 20 7", later[1]))), 1)
        self.assertEqual(histories.out_of_order(self.stays(*first, "enter 1 go-2-0 20 6", "leave 1 go-2-0 30")), [])


if __name__ == "__main__":
    unittest.main()
