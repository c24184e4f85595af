#!/usr/bin/python3
"""What lies in an engine may have been written by anybody: it must not reach a person's terminal as it is."""

from __future__ import annotations

import contextlib
import os
import sys
import unittest

sys.path.insert(0, os.path.dirname(os.path.realpath(__file__)))
sys.dont_write_bytecode = True

import harness
from harness import Engine, Holder, Terminal, tyer, tyer_json

sys.path.insert(0, os.path.join(harness.ROOT, "tools", "lib"))
import resp

# Of the state of a lock, which ends with its owner's words.
REPLACE_END = """
local state = redis.call('GET', KEYS[1])
redis.call('SET', KEYS[1], string.sub(state, 1, #state - #ARGV[1]) .. ARGV[2], 'KEEPTTL')
"""

NAME = "order/\x1b]0;pwned\x07\x1b[2J"
NOTE = "ok\x1b[2A\x1b[Kowner: root\r\n\x9b31m\u202egnihton\u2066 \xff"


def harmless(text: str) -> bool:
    return not any(ord(c) < 32 and c != "\n" or 127 <= ord(c) < 160 or c in "\u202e\u2066" for c in text)


class Hostile(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        stack = contextlib.ExitStack()
        cls.addClassCleanup(stack.close)
        cls.url = stack.enter_context(Engine("redis")).url
        stack.enter_context(Holder(cls.url, NAME, note=NOTE)).held()
        stack.enter_context(Holder(cls.url, "cut\udcff")).held()

    def test_text_is_made_visible(self):
        for words in (("ls",), ("ls", "--names"), ("show", NAME), ("watch", "--for", "200ms"), ("watch", NAME, "--for", "200ms")):
            out = tyer(self.url, *words).stdout
            self.assertTrue(harmless(out), repr(out))
            self.assertIn(r"\x1b", out)

    def test_a_name_looked_like_another(self):
        with Holder(self.url, "twin/7").held(), Holder(self.url, "twin/\u200b7\u3164").held():
            self.assertEqual(tyer(self.url, "ls", "twin/", "--names").stdout, "twin/7\ntwin/\\u{200b}7\\u{3164}\n")

    def test_a_terminal_is_not_moved(self):
        with Terminal(self.url, "show", NAME, env={"NO_COLOR": "1"}) as terminal:
            self.assertEqual(terminal.end(), 0)
            self.assertNotIn(b"\x1b", terminal.raw)

    def test_what_is_wrong_is_told_without_it(self):
        done = tyer(self.url, "break", NAME, "--reason", "x", code=harness.USAGE)
        self.assertTrue(harmless(done.stderr), repr(done.stderr))
        done = tyer(self.url, "\x1b[2J", code=harness.USAGE)
        self.assertTrue(harmless(done.stderr), repr(done.stderr))

    def test_json_is_ascii(self):
        out = tyer(self.url, "show", NAME, "--json").stdout
        self.assertTrue(harmless(out) and out.isascii(), repr(out))

    def test_json_has_it_whole(self):
        names = {l["name"]: l for l in tyer_json(self.url, "ls")["locks"]}
        self.assertIn(NAME, names)
        self.assertEqual(names["cut\ufffd"]["name_hex"], b"cut\xff".hex())
        self.assertEqual(tyer_json(self.url, "show", NAME)["holders"][0]["owner"]["note"], NOTE)

    def test_an_owner_in_no_form_is_shown_as_it_is(self):
        with Holder(self.url, "foreign").held() as holder, resp.Connection(int(self.url.rsplit(":", 1)[1]), 5.0) as redis:
            owner = tyer_json(self.url, "show", "foreign")["holders"][0]["owner"]["text"]
            (key,) = redis.ask("KEYS", "*foreign*")
            evil = "\x1b[31mroot\x07"
            redis.ask("EVAL", REPLACE_END, "1", key, owner, evil)
            (entry,) = tyer_json(self.url, "show", "foreign")["holders"]
            self.assertEqual((entry["owner"]["text"], entry["id"]), (evil, holder.id))
            self.assertIsNone(entry["owner"]["host"])
            out = tyer(self.url, "show", "foreign").stdout
            self.assertTrue(harmless(out), repr(out))
            self.assertIn(r"\x1b[31mroot\x07", out)


if __name__ == "__main__":
    harness.main()
