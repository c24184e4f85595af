#!/usr/bin/python3
"""When a server's process has ended, and when it only seems to."""

from __future__ import annotations

import os
import subprocess
import sys
import unittest

TOOLS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools")
sys.path.insert(0, os.path.join(TOOLS, "lib"))
sys.dont_write_bytecode = True

from processes import Process

# The first thread has ended, another one goes on until our standard input is closed. It is what a server of several threads
# looks like that is being ended on a busy machine.
ONE_THREAD_LEFT = """
import os, threading
def go_on():
    while open("/proc/self/stat", "rb").read().rpartition(b")")[2].split()[0] != b"Z": pass
    print("one is left", flush=True)
    os.read(0, 1)
    os._exit(0)
threading.Thread(target=go_on).start()
import ctypes
ctypes.CDLL(None).pthread_exit(None)
"""


class Ending(unittest.TestCase):
    def test_a_server_one_of_whose_threads_had_ended_was_taken_for_dead_and_its_port_for_free(self):
        with subprocess.Popen([sys.executable, "-c", ONE_THREAD_LEFT], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as child:
            process = Process.of(child.pid)
            self.assertEqual(child.stdout.readline(), b"one is left\n")
            self.assertEqual(process.state(), "running")
            child.stdin.close()
            self.assertTrue(process.wait_end(10.0))
            self.assertEqual(process.state(), "dead", "though nobody has asked for its exit code yet")


if __name__ == "__main__":
    unittest.main(verbosity=2)
