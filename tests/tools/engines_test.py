#!/usr/bin/python3
"""The deployments of tools/engines: really ready when it says so, disturbed as asked, and nothing left behind."""

from __future__ import annotations

import contextlib
import json
import os
import shutil
import subprocess
import sys
import tempfile
import time
import unittest
from concurrent.futures import ThreadPoolExecutor

TOOLS = os.path.join(os.path.dirname(os.path.realpath(__file__)), "..", "..", "tools")
sys.path.insert(0, os.path.join(TOOLS, "lib"))
sys.dont_write_bytecode = True

import resp
from faults.psql import Psql
from processes import Process

COMMAND_S_MAX = 60
ANSWER_S_MAX = 2.0
SLOT = 15495  # of {a}
KINDS = ("Cluster", "Sentinel", "Redlock", "ClusterValkey", "SentinelValkey", "RedlockValkey", "Etcd3", "Etcd",
         "Postgres2", "PgBouncer")  # fmt: skip


def engines(*words: str, code: int = 0) -> str:
    """What it has printed; what it has complained of, if the code is another than 0."""
    done = subprocess.run(
        [os.path.join(TOOLS, "engines"), *words], capture_output=True, text=True, timeout=COMMAND_S_MAX, check=False
    )
    if done.returncode != code:
        raise AssertionError(f"engines {' '.join(words)} gave {done.returncode}: {done.stdout}{done.stderr}")
    return (done.stderr if code else done.stdout).strip()


def ask(port: int, *words: str | bytes):
    with resp.Connection(port, ANSWER_S_MAX) as connection:
        return connection.ask(*words)


class Deployment(unittest.TestCase):
    """An instance for each class; its tests run in the order of their names, each with what the last one left."""

    kind = ""
    options: tuple[str, ...] = ()

    @classmethod
    def setUpClass(cls) -> None:
        cls.folder = tempfile.mkdtemp(prefix="tyer-engines-test-")
        os.chmod(cls.folder, 0o711)  # servers that run as another user have to enter it
        os.environ["TYER_ENGINES_DIR"] = cls.folder
        cls.addClassCleanup(shutil.rmtree, cls.folder, ignore_errors=True)
        cls.addClassCleanup(engines, "down", "--all")
        facts = json.loads(engines("up", cls.kind, "--json", "--owner", str(os.getpid()), *cls.options))
        cls.engine, cls.uri, cls.nodes = facts["id"], facts["uri"], facts["nodes"]

    def members(self) -> dict[str, dict]:
        """By role."""
        return {member["role"]: member for member in json.loads(engines("members", self.engine, "--json"))}

    def ports(self, *roles: str) -> list[int]:
        members = self.members()
        return [members[role]["port"] for role in roles]

    def reach(self, port: int, key: str, replicas: int) -> int:
        """Writes, and tells how many replicas have it."""
        with resp.Connection(port, ANSWER_S_MAX) as connection:
            self.assertEqual(connection.ask("SET", key, "value"), "OK")
            return connection.ask("WAIT", str(replicas), "1000")

    def addresses(self, nodes: list[dict]) -> str:
        return ",".join(f"127.0.0.1:{node['ports']['client']}" for node in nodes)

    def test_9_nothing_is_left_behind(self) -> None:
        members = json.loads(engines("members", self.engine, "--json"))
        servers = [Process.of(member["pid"]) for member in members if member["state"] != "dead"]
        self.assertGreaterEqual(len(servers), len(members) - 1)
        engines("down", self.uri)
        self.assertEqual([server.pid for server in servers if server.alive()], [])
        store = os.path.join(self.folder, f"tyer-engines-{os.getuid()}")
        self.assertEqual(os.listdir(store), [])


class Redlock(Deployment):
    kind = "redlock"
    options = ("--clock-shift",)

    def test_1_five_masters_are_ready(self) -> None:
        self.assertEqual(self.uri, "redlock://" + self.addresses(self.nodes))
        self.assertEqual(len(self.nodes), 5)
        for node in self.nodes:
            self.assertEqual(ask(node["ports"]["client"], "ROLE")[0], "master")

    def test_2_some_can_be_killed_and_come_back(self) -> None:
        port = self.nodes[4]["ports"]["client"]
        self.assertEqual(engines("kill", self.engine, "node-1", str(port)).split(), ["node-1", "node-4"])
        with self.assertRaises(OSError):
            ask(port, "PING")
        self.assertEqual(ask(self.nodes[0]["ports"]["client"], "PING"), "PONG")
        engines("restart", self.engine, "node-1", "node-4")
        self.assertEqual(ask(port, "PING"), "PONG")

    def test_3_one_clock_can_be_wrong(self) -> None:
        right, wrong = (node["ports"]["client"] for node in self.nodes[:2])
        for shift in (+1.5, -100.25, 0.0):
            engines("clock", self.engine, "node-1", f"{shift:+}")
            ahead = _time(wrong) - _time(right)
            self.assertAlmostEqual(ahead, shift, delta=0.5)
        ask(wrong, "SET", "key", "value", "PX", "60000")
        engines("clock", self.engine, "node-1", "+61")
        self.assertIsNone(ask(wrong, "GET", "key"))
        engines("restart", self.engine, "node-1")
        self.assertAlmostEqual(_time(wrong) - _time(right), 61, delta=0.5)

    def test_4_what_it_has_not_is_refused(self) -> None:
        engines("failover", self.engine, code=2)
        engines("migrate", self.engine, "0", "node-1", code=2)
        engines("kill", self.engine, "node-5", code=2)

    def test_5_a_password_that_was_set_by_hand_kept_the_tool_out_until_it_gave_up(self) -> None:
        for kind in ("redis", self.kind):
            told = engines("up", kind, "--set", "requirepass=geheim", code=2)
            self.assertIn("--password", told)
            self.assertNotIn("geheim", told)


class RedlockValkey(Redlock):
    kind = "redlock-valkey"


class Sentinel(Deployment):
    kind = "sentinel"

    def test_1_all_are_in_place(self) -> None:
        sentinels = self.nodes[3:]
        self.assertEqual(self.uri, f"redis+sentinel://{self.addresses(sentinels)}/mymaster")
        members = self.members()
        self.assertEqual(set(members), {"master", "replica-0", "replica-1", *(node["name"] for node in sentinels)})
        self.assertEqual(self.reach(members["master"]["port"], "key", 2), 2)
        for node in sentinels:
            named = ask(node["ports"]["client"], "SENTINEL", "GET-MASTER-ADDR-BY-NAME", "mymaster")
            self.assertEqual(named, ["127.0.0.1", str(members["master"]["port"])])
            self.assertIn("OK 3", ask(node["ports"]["client"], "SENTINEL", "CKQUORUM", "mymaster"))

    def test_2_a_replica_takes_over_from_a_killed_master(self) -> None:
        killed = engines("kill", self.engine, "master")
        self.assertEqual(killed, "node-0")
        engines("wait", self.engine)
        master = self.members()["master"]
        self.assertNotEqual(master["name"], killed)
        self.assertEqual(self.reach(master["port"], "key", 1), 1)

    def test_3_the_members_know_who_is_who(self) -> None:
        engines("restart", self.engine, "node-0")
        members = json.loads(engines("members", self.engine, "--json"))
        # The sentinels have not told it yet, so it takes itself for a master; `master` still means the real one.
        self.assertEqual(members[0]["state"], "running")
        self.assertEqual([member["role"] for member in members].count("master"), 1)
        self.assertNotEqual(members[0]["role"], "master")

    def test_4_an_operator_can_ask_for_a_failover(self) -> None:
        engines("kill", self.engine, "node-0")
        before = self.members()["master"]["name"]
        after = engines("failover", self.engine)
        self.assertNotIn(after, (before, "node-0"))
        self.assertEqual(self.members()["master"]["name"], after)

    def test_5_to_continue_what_stands_still_was_given_up_at_the_first_that_is_dead(self) -> None:
        engines("pause", self.engine, "node-1")
        engines("resume", self.engine)  # node-0 is dead since the last test
        members = {member["name"]: member["state"] for member in json.loads(engines("members", self.engine, "--json"))}
        self.assertEqual((members["node-0"], members["node-1"]), ("dead", "running"))
        engines("resume", self.engine, "node-0", code=1)


class SentinelValkey(Sentinel):
    kind = "sentinel-valkey"


class SentinelWithPassword(Deployment):
    kind = "sentinel"
    options = ("--password", "a/b&c", "--user", "so@me")

    def test_1_the_uri_was_without_the_login_of_the_sentinels(self) -> None:
        login, sentinels = "so%40me:a%2Fb%26c", self.addresses(self.nodes[3:])
        self.assertEqual(self.uri, f"redis+sentinel://{login}@{sentinels}/mymaster?sentinel_user=so%40me&sentinel_password=a%2Fb%26c")


class Cluster(Deployment):
    kind = "cluster"

    def test_1_every_slot_has_a_master_with_a_replica(self) -> None:
        self.assertEqual(self.uri, "redis+cluster://" + self.addresses(self.nodes))
        members = self.members()
        self.assertEqual(set(members), {f"{role}-{i}" for role in ("master", "replica") for i in range(3)})
        for node in self.nodes:
            self.assertEqual(node["ports"]["bus"], node["ports"]["client"] + 10000)
            facts = ask(node["ports"]["client"], "CLUSTER", "INFO").split()
            self.assertLessEqual({"cluster_state:ok", "cluster_slots_ok:16384", "cluster_known_nodes:6"}, set(facts))
        for i, key in enumerate("bcd"):  # slots 3300, 7365, 11298
            self.assertEqual(self.reach(members[f"master-{i}"]["port"], key, 1), 1)

    def test_2_a_slot_moves_with_its_keys(self) -> None:
        keys = [b"{a}%d" % i for i in range(250)] + [b"{a}\xff\x00\r\n"]
        source, target = self.ports("master-2", "master-0")
        with resp.Connection(source, ANSWER_S_MAX) as connection:
            for key in keys:
                connection.ask("SET", key, b"of " + key)
        engines("migrate", self.engine, str(SLOT), "master-0")
        self.assertEqual(ask(target, "CLUSTER", "COUNTKEYSINSLOT", str(SLOT)), len(keys))
        with resp.Connection(target, ANSWER_S_MAX) as connection:
            self.assertEqual([connection.ask_bytes("GET", key) for key in keys], [b"of " + key for key in keys])
        with self.assertRaisesRegex(resp.ReplyError, f"MOVED {SLOT} 127.0.0.1:{target}"):
            ask(source, "GET", "{a}1")
        engines("migrate", self.engine, str(SLOT), "replica-0", code=2)
        engines("migrate", self.engine, "16384", "master-0", code=2)

    def test_3_a_slot_can_be_seen_on_its_way(self) -> None:
        source, target = self.ports("master-0", "master-1")
        command = [os.path.join(TOOLS, "engines"), "migrate", self.engine, str(SLOT), str(target), "--seconds", "1"]
        with subprocess.Popen(command) as moving:
            redirections = set()
            while moving.poll() is None:
                try:
                    ask(source, "GET", "{a}not there")
                except resp.ReplyError as error:
                    redirections.add(str(error))
                time.sleep(0.02)
        self.assertEqual(moving.returncode, 0)
        self.assertEqual(redirections - {f"MOVED {SLOT} 127.0.0.1:{target}"}, {f"ASK {SLOT} 127.0.0.1:{target}"})

    def test_4_an_operator_can_ask_for_a_failover(self) -> None:
        replica = self.members()["replica-2"]["name"]
        self.assertEqual(engines("failover", self.engine, "master-2"), replica)
        self.assertEqual(self.members()["master-2"]["name"], replica)

    def test_5_a_replica_takes_over_from_a_killed_master(self) -> None:
        killed = engines("kill", self.engine, f"slot-{SLOT}")
        self.assertEqual(killed, "node-1")
        engines("wait", self.engine)
        members = self.members()
        self.assertEqual(members["master-1"]["name"], "node-4")
        self.assertEqual(ask(members["master-1"]["port"], "GET", "{a}1"), "of {a}1")
        self.assertNotIn("replica-1", members)  # and the others keep their numbers
        self.assertIn("replica-2", members)
        engines("restart", self.engine, killed)
        engines("wait", self.engine)
        self.assertEqual(self.members()["replica-1"]["name"], killed)


class ClusterValkey(Cluster):
    kind = "cluster-valkey"


class Etcd3(Deployment):
    kind = "etcd3"
    options = ("--tls", "--password", "a/b c", "--user", "some body")

    def ctl(self, *words: str, code: int = 0) -> str:
        tls = os.path.join(self.folder, f"tyer-engines-{os.getuid()}", self.engine, "tls")
        ports = [node["ports"]["client"] for node in self.nodes]
        done = subprocess.run(
            ["etcdctl", f"--endpoints={','.join(f'https://127.0.0.1:{port}' for port in ports)}",
             f"--cacert={tls}/ca.crt", "--command-timeout=10s", *words],
            capture_output=True, text=True, timeout=COMMAND_S_MAX, check=False,
        )
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout.strip()

    def test_1_three_are_one_and_ask_for_the_password(self) -> None:
        self.assertEqual(self.uri.partition("?")[0], "etcds://some%20body:a%2Fb%20c@" + self.addresses(self.nodes))
        self.assertEqual(set(self.members()), {"leader", "follower-0", "follower-1"})
        self.assertEqual(self.ctl("--user=some body:a/b c", "put", "key", "value"), "OK")
        self.ctl("get", "key", code=1)

    def test_2_another_leads_when_the_leader_is_killed(self) -> None:
        killed = engines("kill", self.engine, "leader")
        engines("wait", self.engine)
        self.assertNotEqual(self.members()["leader"]["name"], killed)
        engines("restart", self.engine, killed)
        engines("wait", self.engine)
        self.assertIn(killed, (self.members()[f"follower-{i}"]["name"] for i in range(2)))
        self.assertEqual(self.ctl("--user=some body:a/b c", "get", "key").split(), ["key", "value"])

    def test_3_one_can_stand_still(self) -> None:
        paused = engines("pause", self.engine, "follower-0")
        self.assertEqual(self.members()["-"]["name"], paused)
        engines("resume", self.engine, paused)
        engines("wait", self.engine)
        self.assertEqual(len(self.members()), 3)

    def test_4_a_new_one_takes_the_place_of_one_that_is_gone(self) -> None:
        before = self.ctl("--user=root:a/b c", "member", "list").splitlines()
        replaced = engines("replace", self.engine, "leader")
        engines("wait", self.engine)
        after = self.ctl("--user=root:a/b c", "member", "list").splitlines()
        self.assertEqual(len(set(before) & set(after)), 2)
        self.assertIn(replaced, (self.members()[f"follower-{i}"]["name"] for i in range(2)))
        self.assertEqual(self.ctl("--user=some body:a/b c", "get", "key").split(), ["key", "value"])
        engines("kill", self.engine, replaced)
        engines("restart", self.engine, replaced)  # as the new one that it is
        engines("wait", self.engine)
        self.assertEqual(len(self.members()), 3)

    def test_5_they_reach_each_other_where_they_are_told_to(self) -> None:
        engines("announce", self.engine, "1", "2", code=2)
        swapped = [self.nodes[i]["ports"]["peer"] for i in (1, 2, 0)]  # somebody else answers there
        engines("announce", self.engine, *map(str, swapped))
        for i, node in enumerate(self.nodes):
            with open(os.path.join(node["dir"], "joined.json"), encoding="utf-8") as file:
                self.assertEqual(json.load(file)["initial-advertise-peer-urls"], f"http://127.0.0.1:{swapped[i]}")


class Etcd(Deployment):
    kind = "etcd"

    def test_1_one_is_enough(self) -> None:
        self.assertEqual(self.uri, "etcd://" + self.addresses(self.nodes))
        self.assertEqual(set(self.members()), {"leader"})

    def test_2_it_comes_back_with_its_data_or_without(self) -> None:
        ctl = ["etcdctl", f"--endpoints=127.0.0.1:{self.nodes[0]['ports']['client']}"]
        subprocess.run([*ctl, "put", "key", "value"], check=True, capture_output=True, timeout=COMMAND_S_MAX)
        for more, expected in ((), "key\nvalue\n"), (("--lose-data",), ""):
            engines("kill", self.engine)
            engines("restart", self.engine, *more)
            done = subprocess.run([*ctl, "get", "key"], check=True, capture_output=True, timeout=COMMAND_S_MAX, text=True)
            self.assertEqual(done.stdout, expected)


class Postgres2(Deployment):
    kind = "postgres2"
    options = ("--set", "synchronous_standby_names=*")

    def ask_sql(self, node: dict, text: str) -> list[str]:
        address, ports = self.uri.rpartition("@")[0], node.get("port") or node["ports"]["client"]
        with contextlib.closing(Psql(f"{address}@127.0.0.1:{ports}/postgres")) as server:
            return server.ask(text, COMMAND_S_MAX)

    def test_1_the_primary_waits_for_the_standby(self) -> None:
        self.assertIn(f"@{self.addresses(self.nodes)}/", self.uri)
        members = self.members()
        self.assertEqual(self.ask_sql(members["primary"], "SELECT sync_state FROM pg_stat_replication"), ["sync"])
        self.assertEqual(self.ask_sql(members["primary"], "CREATE TABLE kept (n int); INSERT INTO kept VALUES (7)"), [])
        self.assertEqual(self.ask_sql(members["standby"], "SELECT pg_is_in_recovery()"), ["t"])

    def test_2_the_standby_takes_over_with_all_that_was_answered(self) -> None:
        self.assertEqual(engines("failover", self.engine), "node-1")
        self.assertEqual(self.ask_sql(self.members()["primary"], "SELECT n FROM kept"), ["7"])
        self.ask_sql(self.members()["primary"], "INSERT INTO kept VALUES (8)")

    def test_3_the_old_one_comes_back_as_a_standby(self) -> None:
        engines("restart", self.engine, "node-0")
        engines("wait", self.engine)
        self.assertEqual(self.ask_sql(self.nodes[0], "SELECT pg_is_in_recovery(), count(*) FROM kept"), ["t|2"])

    def test_4_both_come_back_as_what_they_were(self) -> None:
        engines("failover", self.engine)
        engines("restart", self.engine)
        self.assertEqual(self.members()["primary"]["name"], "node-0")
        engines("failover", self.engine, "node-0", code=2)


class PgBouncer(Deployment):
    kind = "pgbouncer"

    def test_1_each_transaction_may_meet_another_process_of_the_server(self) -> None:
        with contextlib.closing(Psql(self.uri)) as one, contextlib.closing(Psql(self.uri)) as other:
            one.ask("BEGIN", COMMAND_S_MAX)
            first = one.ask("SELECT pg_backend_pid()", COMMAND_S_MAX)
            self.assertNotEqual(other.ask("SELECT pg_backend_pid()", COMMAND_S_MAX), first)
            one.ask("COMMIT", COMMAND_S_MAX)
            seen = {other.ask("SELECT pg_backend_pid()", COMMAND_S_MAX)[0] for _ in range(4)}
            self.assertIn(first[0], seen)

    def test_2_the_server_can_be_killed_without_the_pooler(self) -> None:
        self.assertEqual(engines("kill", self.engine, "main"), "main")
        engines("restart", self.engine, "main")
        deadline = time.monotonic() + COMMAND_S_MAX
        with contextlib.closing(Psql(self.uri)) as server:
            while True:
                try:
                    self.assertEqual(server.ask("SELECT 1", ANSWER_S_MAX), ["1"])
                    break
                except OSError:
                    self.assertLess(time.monotonic(), deadline)


def _time(port: int) -> float:
    seconds, microseconds = ask(port, "TIME")
    return int(seconds) + int(microseconds) / 1e6


del Deployment  # the kinds are the tests, not what they have in common


def in_own_process(kind: str) -> int:
    done = subprocess.run([__file__, kind], stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, check=False)
    print(done.stdout, flush=True)
    return done.returncode


def main() -> int:
    """Three kinds at a time: they mostly wait."""
    if len(sys.argv) > 1:
        unittest.main(verbosity=2)
    with ThreadPoolExecutor(3) as pool:
        return max(pool.map(in_own_process, KINDS))


if __name__ == "__main__":
    sys.exit(main())
