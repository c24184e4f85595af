#!/usr/bin/python3
"""Two folders of servers on one machine: which ports they give."""

from __future__ import annotations

import os
import shutil
import socket
import sys
import tempfile
import unittest
from unittest import mock

TOOLS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools")
sys.path.insert(0, os.path.join(TOOLS, "lib"))
sys.dont_write_bytecode = True

import ports
from instances import EngineError, Instance, Store

OFFSETS = {"client": 0, "peer": 1}


class TwoFolders(unittest.TestCase):
    def setUp(self) -> None:
        self.folder = self.enterContext(tempfile.TemporaryDirectory())
        self.enterContext(mock.patch("instances.Claims", lambda: ports.Claims(os.path.join(self.folder, "ports"))))
        self.first, self.second = self.store("first"), self.store("second")

    def store(self, name: str) -> Store:
        base = os.path.join(self.folder, name)
        os.mkdir(base)
        with mock.patch.dict(os.environ, {"TYER_ENGINES_DIR": base}):
            return Store()

    def given(self, store: Store, wanted: int | None = None) -> Instance:
        """One that wishes for the same ports as every other, unless these are not free."""
        wishes = iter(n.to_bytes(4, "big") for n in range(1000))
        instance = store.create("etcd", ["node"], {"port": wanted}, None)
        with mock.patch("ports.os.urandom", lambda size: next(wishes)):
            store.assign_ports(instance, OFFSETS)
        return instance

    def test_the_port_of_a_dead_server_was_given_to_one_of_another_folder(self):
        dead = set(self.given(self.first).nodes[0].ports.values())
        self.assertFalse(dead & set(self.given(self.second).nodes[0].ports.values()))

    def test_a_port_that_is_asked_for_is_refused_while_it_belongs_to_another_folder(self):
        port = self.given(self.first).nodes[0].ports["peer"]
        with self.assertRaises(EngineError):
            self.given(self.second, port)

    def test_the_ports_of_what_is_gone_are_free(self):
        gone = self.given(self.first)
        shutil.rmtree(gone.folder)
        self.assertEqual(self.given(self.second).nodes[0].ports, gone.nodes[0].ports)

    def test_one_that_tries_other_ports_leaves_its_first_ones(self):
        instance = self.given(self.first)
        before = instance.nodes[0].ports["client"]
        with mock.patch("ports.os.urandom", lambda size: (100).to_bytes(4, "big")):
            self.first.assign_ports(instance, OFFSETS)
        self.assertEqual(self.given(self.second, before).nodes[0].ports["client"], before)

    def test_who_has_a_port_is_told(self):
        with socket.create_server(("127.0.0.1", 0)) as server:
            port = server.getsockname()[1]
            self.assertRegex(ports.listener(port), rf"^process {os.getpid()} \(.+\)$")
        self.assertEqual(ports.listener(port), "nobody")


if __name__ == "__main__":
    unittest.main()
