#!/usr/bin/python3
"""Who has which slot, when the nodes of a cluster do not say the same."""

from __future__ import annotations

import os
import sys
import unittest

sys.path.insert(0, os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools", "lib"))
sys.dont_write_bytecode = True

import cluster_map

TEXT = """\
aa 127.0.0.1:10001@20001 myself,master - 0 0 1 connected 0-99 101 [100->-bb]
bb 127.0.0.1:10002@20002,name master - 0 1700000000000 2 connected 102-16383
cc 127.0.0.1:10003@20003 slave aa 0 1700000000000 1 connected
dd :0@0 master,noaddr - 0 1700000000000 0 disconnected
ee 127.0.0.1:10005@20005 handshake - 0 0 0 connected
"""


class ClusterMap(unittest.TestCase):
    def test_what_one_node_says(self) -> None:
        claims = cluster_map.parse(TEXT)
        self.assertEqual(set(claims), {10001, 10002, 10003})  # the others have not met, or are gone
        self.assertEqual(claims[10001].slots, (range(0, 100), range(101, 102)))
        self.assertTrue(claims[10001].is_self)
        self.assertEqual(claims[10003].master_id, "aa")
        self.assertEqual(cluster_map.port_of(claims, "bb"), 10002)
        self.assertIsNone(cluster_map.port_of(claims, "zz"))

    def test_a_slot_nobody_claims_has_no_owner(self) -> None:
        owners = cluster_map.owners(cluster_map.parse(TEXT))
        self.assertEqual(len(owners), cluster_map.SLOTS - 1)
        self.assertNotIn(100, owners)

    def test_a_master_that_comes_back_owns_nothing(self) -> None:
        old = "aa 127.0.0.1:10001@20001 myself,master - 0 0 1 connected 0-16383\n"
        new = "cc 127.0.0.1:10003@20003 myself,master - 0 0 7 connected 0-16383\n"
        gone = "aa 127.0.0.1:10001@20001 master,fail - 0 0 1 disconnected\n"
        truth = cluster_map.merged({10001: cluster_map.parse(old), 10003: cluster_map.parse(new + gone)})
        self.assertEqual(set(cluster_map.owners(truth).values()), {10003})

    def test_a_node_knows_itself_best(self) -> None:
        own = "aa 127.0.0.1:10001@20001 myself,master - 0 0 1 connected 1-2\n"
        hearsay = "aa 127.0.0.1:10001@20001 master - 0 0 1 connected 1-3\n"
        for order in ((own, hearsay), (hearsay, own)):
            truth = cluster_map.merged({port: cluster_map.parse(text) for port, text in enumerate(order)})
            self.assertEqual(truth[10001].slots, (range(1, 3),))

    def test_slots_are_shown_as_ranges(self) -> None:
        self.assertEqual(cluster_map.ranges([0, 1, 2, 4, 6, 7]), "0-2,4,6-7")
        self.assertEqual(cluster_map.ranges([]), "")


if __name__ == "__main__":
    unittest.main()
