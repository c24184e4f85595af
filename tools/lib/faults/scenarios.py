"""The scenarios: which engine, which load, which faults, and what the last line says."""

from __future__ import annotations

import re
import subprocess
import sys
from dataclasses import dataclass, field, replace

from faults import kinds
from faults.children import LabError
from faults.clients import Load
from faults.cluster import Cluster
from faults.engine import Servers
from faults.etcd import Etcd
from faults.lab import Lab
from faults.mariadb import MariaDB
from faults.postgres import Postgres
from faults.postgres_around import Pair, Pooled
from faults.redlock import Redlock
from faults.sentinel import Sentinel
from faults.single import Single
from faults.zk import CONNECTIONS_MAX, Zk

# From this length on, a fault of the scenario that never happened is a finding: then the run proved nothing about it.
FULL_RUN_S = 30.0
CHECKER_S_MAX = 60.0
_BREACH = re.compile(r"^(?!double_grants|tokens_)\w+ at ([\d.]+):", re.MULTILINE)  # those are counted, no failure
BREACHES_SHOWN = 5

# What a run is measured by: two sizes, one that must not be 0, and those that must. Last, and no failure: losses that
# were late because the machine did not let the process run.
COUNTS = (
    "faults", "acquisitions", "stale_offered",
    "stale_accepted", "token_order", "overlaps", "late_loss", "needless_loss", "stuck", "keys_left",
)  # fmt: skip
COUNTS_OF_MODES = ("readers_beside_writer", "permits_over")
COUNTS_OF_QUEUES = ("order",)  # where the proxy knows what goes by
# What an engine of several servers cannot prevent, and how long it takes.
COUNTS_OF_FAILOVERS = ("tokens_crossed", "double_grants", "double_grants_per_1000", "failover_to_grant_ms")
EXCUSED = ("starved",)
MUST_BE_ZERO = COUNTS[3:] + COUNTS_OF_MODES + COUNTS_OF_QUEUES
# A lease of etcd has two seconds at the least, ends up to one late, and gets an election's time on top from a new leader.
ETCD_LINGERS_MS = 3000
# The clock of a database is set back by so much at the most.
SQL_LINGERS_MS = 1000
# A session has 2.25 times the ttl, ends up to a tick late, and is as long as that once more from a new leader on.
ZK_LINGERS_MS = 4000


@dataclass
class Scenario:
    name: str
    about: str
    engine: tuple[str, list[str]]
    faults: list[kinds.Fault]
    servers: type[Servers] = Single
    load: Load = field(default_factory=Load)
    replicas: int = 0  # that each master has
    confirmed_by: int = 0  # of these, for a grant to count
    lingers_ms: int = 0  # how much longer than its ttl the engine keeps what a dead process has left
    shift: float = 0.0  # between the clocks of the servers
    settings: str = ""  # of the engine, for the URI
    shown: tuple[str, ...] = COUNTS + COUNTS_OF_MODES + COUNTS_OF_QUEUES + EXCUSED  # in the last line, in this order

    def __post_init__(self):
        if any(isinstance(fault, kinds.DropReplyOfClient) for fault in self.faults):
            self.load = replace(self.load, drops=True)

    def with_replicas(self, count: int) -> Scenario:
        if count > self.replicas:
            raise LabError(f"{self.name} has {self.replicas or 'no'} replicas of a master")
        return replace(self, confirmed_by=count)

    def with_shift(self, seconds: float) -> Scenario:
        """Tokens may then run backwards after a failover: how far is what is measured."""
        if not self.replicas:
            raise LabError(f"{self.name} has no server that takes over from another")
        kind, options = self.engine
        shown = tuple(name for name in self.shown if name != "starved") + ("backwards_ms_max", "starved")
        return replace(self, engine=(kind, [*options, "--clock-shift"]), shift=seconds, shown=shown)

    def with_only(self, acts: list[str]) -> Scenario:
        turns = [fault for fault in self.faults if isinstance(fault, kinds.Turns)]
        known = set().union(*(fault.names() for fault in turns))
        if not known.issuperset(acts):
            raise LabError(f"{self.name} has only: {', '.join(sorted(known)) or 'nothing to choose from'}")
        others = [fault for fault in self.faults if fault not in turns]
        return replace(self, faults=[*others, kinds.Turns(*acts, rest_s=turns[0].rest_s)])

    def must_be_zero(self) -> set[str]:
        if self.shift:
            return set(MUST_BE_ZERO) - {"token_order"}
        # What every replica has, no failover forgets.
        all_have_it = self.replicas > 0 and self.confirmed_by == self.replicas
        return set(MUST_BE_ZERO) | ({"double_grants"} if all_have_it else set())

    def query(self) -> str:
        """Added to the URI."""
        all_of_them = [self.settings] if self.settings else []
        if self.confirmed_by:
            all_of_them.append(f"replicas={self.confirmed_by}")
        return "?" + "&".join(all_of_them) if all_of_them else ""

    def expected(self) -> set[str]:
        return set().union(*(fault.names() for fault in self.faults))

    # As fault_checker counts: the waiter_ttl that a ttl of the load gives by default.
    def waiter_ttl_ms(self) -> int:
        return min(max(self.load.ttl_ms // 3, 500), 3000)

    def stuck_s(self) -> float:
        """B: how long a free lock may be without a grant while somebody waits and the engine answers."""
        return (2 * self.load.ttl_ms + self.waiter_ttl_ms() + 3 * self.lingers_ms) / 1000 + 2.0

    def sees_queue(self) -> bool:
        """Whether the proxy knows the requests that go by."""
        return self.servers.sees_queue


# A server that refuses to write; one that has lost one key of a name.
REFUSALS = ("oom", "noreplicas", "misconf")
KEY_LOSSES = ("state_lost", "queue_lost", "waiters_lost", "holders_lost")


def _everything(*dropped: str) -> list[kinds.Fault]:
    """All that may happen to one server, to its clients and between them."""
    return [
        kinds.KillClient(),
        kinds.PauseClient(),
        kinds.DropReply(*dropped),
        kinds.ResetConnections(),
        kinds.FreezeNetwork(),
        kinds.SlowNetwork(),
        kinds.RestartServer(),
        kinds.RestartServerWithoutData(),
        kinds.FlushAll(),
        kinds.ScriptFlush(),
        kinds.Turns(*REFUSALS, "readonly", *KEY_LOSSES, "clock_ahead", "clock_behind", rest_s=1.0),
    ]


def _of_several(*acts: str) -> list[kinds.Fault]:
    """What may happen to several servers, and to their clients beside it."""
    return [
        kinds.KillClient(),
        kinds.PauseClient(),
        kinds.Turns(*acts),
        kinds.DropReplyOfClient(),
        kinds.OnSomeServer("script_flush", 3.0, "SCRIPT", "FLUSH"),
        kinds.OnSomeServer("config_rewrite", 7.0, "CONFIG", "REWRITE"),
        kinds.OnSomeServer("reset", 2.0, "CLIENT", "KILL", "TYPE", "normal"),
        kinds.OnSomeServer("reset_subscribers", 3.0, "CLIENT", "KILL", "TYPE", "pubsub"),
    ]


_ETCD3 = Scenario(
    name="etcd3",
    about="every primitive on three etcd servers, which fail, are stopped, cut off, and replaced; leases are revoked",
    engine=("etcd3", []),
    servers=Etcd,
    load=Load(mix="modes", clocks=True),
    lingers_ms=ETCD_LINGERS_MS,
    faults=[
        # What the dead have left blocks a name three times as long as in Redis.
        kinds.KillClient(every_s=2.5),
        kinds.PauseClient(every_s=2.0, ttls_max=5.0),
        kinds.MoveClientClock(),
        kinds.Turns(
            "leader_kill", "leader_pause_short", "leader_pause_long", "leader_moves", "leader_alone",
            "follower_alone", "follower_kill", "follower_pause", "member_replaced", "clients_without_one",
            "clients_without_all",
        ),
        kinds.DropReply("acquire", "keep", "release", "lease"),
        kinds.ByOperator("lease_revoke", 0.8),
        kinds.ByOperator("compact", 1.0),
        kinds.ByOperator("defrag", 3.0),
    ],  # fmt: skip
    shown=COUNTS + COUNTS_OF_MODES + ("leader_loss_to_grant_ms",) + EXCUSED,
)

def _clients_of_postgres(*turns: str) -> list[kinds.Fault]:
    return [
        kinds.KillClient(),
        kinds.PauseClient(),
        kinds.DropReplyOfClient(),
        kinds.ResetConnections(),
        kinds.SlowNetwork(),
        kinds.Turns(*turns),
        kinds.ByOperator("connections_ended", 1.0),
        kinds.ByOperator("statements_cancelled", 0.5),
        kinds.ByOperator("vacuum", 3.0),
    ]


_POSTGRES = Scenario(
    name="postgres",
    about="every primitive on a PostgreSQL server, which is killed, stopped, cut off, locked and told the wrong time",
    engine=("postgres", ["--clock-shift"]),
    servers=Postgres,
    load=Load(mix="modes"),
    lingers_ms=SQL_LINGERS_MS,
    settings="schema=apply",
    faults=_clients_of_postgres(
        "server_kill", "server_restart", "backend_crash", "server_pause_short", "server_pause_long",
        "clients_without_it", "table_locked", "clock_ahead", "clock_behind",
    ),  # fmt: skip
    shown=COUNTS + COUNTS_OF_MODES + EXCUSED,
)

SCENARIOS = {
    scenario.name: scenario
    for scenario in (
        Scenario(
            name="redis-smoke",
            about="mutexes on one Redis server, and everything that may happen to it, to its clients and between them",
            engine=("redis", ["--persist", "aof", "--clock-shift"]),
            faults=_everything("acquire", "claim", "keep", "wait", "release"),
        ),
        Scenario(
            name="redis-modes",
            about="the same with every primitive: mutex, shared, semaphore, several at once, recursive; conversions",
            engine=("redis", ["--persist", "aof", "--clock-shift"]),
            faults=_everything("acquire", "claim", "keep", "wait", "release", "convert"),
            load=Load(mix="modes"),
        ),
        Scenario(
            name="sentinel",
            about="every primitive on a master with replicas and sentinels, that fail, are stopped, or cut off",
            engine=("sentinel", ["--set", "down-after-milliseconds=1000"]),
            servers=Sentinel,
            replicas=2,
            load=Load(mix="modes"),
            faults=_of_several(
                "leader_kill", "planned_failover", "partition", "leader_pause", "replica_kill", "sentinel_kill",
                *REFUSALS, "readonly", *KEY_LOSSES,
            ),  # fmt: skip
            shown=COUNTS + COUNTS_OF_MODES + COUNTS_OF_FAILOVERS + EXCUSED,
        ),
        Scenario(
            name="sentinel-slow",
            about="the same with Redis' own failover-timeout of three minutes, and replicas that cannot follow a new master",
            engine=(
                "sentinel",
                [
                    *("--set", "down-after-milliseconds=1000"),
                    *("--set", "failover-timeout=default", "--set", "parallel-syncs=default"),
                ],
            ),
            servers=Sentinel,
            replicas=2,
            load=Load(mix="modes"),
            # No client is stopped: one that sleeps through it may go on at the old master, and nothing could be judged.
            faults=[
                kinds.KillClient(),
                kinds.Turns("slow_failover", "slow_kill"),
                kinds.OnSomeServer("script_flush", 3.0, "SCRIPT", "FLUSH"),
                kinds.OnSomeServer("config_rewrite", 7.0, "CONFIG", "REWRITE"),
                kinds.OnSomeServer("reset", 2.0, "CLIENT", "KILL", "TYPE", "normal"),
                kinds.OnSomeServer("reset_subscribers", 3.0, "CLIENT", "KILL", "TYPE", "pubsub"),
            ],
            shown=COUNTS + COUNTS_OF_MODES + COUNTS_OF_FAILOVERS + EXCUSED,
        ),
        Scenario(
            name="cluster",
            about="every primitive on a cluster, whose masters fail, are cut off, stopped and replaced, and whose slots move",
            engine=("cluster", ["--set", "cluster-require-full-coverage=no"]),
            servers=Cluster,
            replicas=1,
            load=Load(mix="modes"),
            faults=_of_several(
                "leader_kill", "planned_failover", "takeover", "partition", "leader_pause", "migrate", "replica_kill",
                *REFUSALS, *KEY_LOSSES,
            ),  # fmt: skip
            shown=COUNTS + COUNTS_OF_MODES + COUNTS_OF_FAILOVERS + EXCUSED,
        ),
        Scenario(
            name="redlock",
            about="every primitive on a majority of five servers, which fail, are slow, forget, or tell the wrong time",
            engine=("redlock", ["--persist", "aof", "--clock-shift"]),
            servers=Redlock,
            load=Load(mix="modes"),
            faults=_of_several(
                "one_dead", "two_dead", "three_dead", "one_without_data", "one_paused", "clock_ahead", "clock_behind",
                "slow_one", "slow_two", "mute_two",
            ),  # fmt: skip
            shown=COUNTS + COUNTS_OF_MODES + ("tokens_lost", "double_grants", "double_grants_per_1000") + EXCUSED,
        ),
        Scenario(
            name="mariadb",
            about="every primitive on one MariaDB server, which is killed, stopped, and loses rows; connections are cut",
            engine=("mariadb", ["--clock-shift"]),
            servers=MariaDB,
            load=Load(mix="modes"),
            lingers_ms=1000,  # as far as the clock is set back
            settings="schema=apply",
            faults=[
                kinds.KillClient(),
                kinds.PauseClient(),
                kinds.DropReplyOfClient(),
                kinds.ResetConnections(),
                kinds.FreezeNetwork(),
                kinds.SlowNetwork(),
                kinds.RestartServer(),
                kinds.RestartServerWithoutData(),
                kinds.ByOperator("connections_killed", 1.5),
                kinds.ByOperator("statements_killed", 0.7),
                kinds.ByOperator("bells_lost", 3.0),
                kinds.Turns(
                    "sessions_lost", "places_lost", "tables_lost", "rows_locked", "server_paused", "readonly", "clock_ahead",
                    "clock_behind", rest_s=1.0,
                ),
            ],  # fmt: skip
            shown=COUNTS + COUNTS_OF_MODES + EXCUSED,
        ),
        _ETCD3,
        replace(
            _ETCD3,
            name="etcd3-go",
            about="the same in the layout of etcd's own client in Go, which has mutexes only",
            settings="protocol=go&prefix=tyer:",  # so that what is left is found
        ),
        _POSTGRES,
        replace(
            _POSTGRES,
            name="pgbouncer",
            about="the same behind PgBouncer in transaction mode, which is killed and stopped too",
            engine=("pgbouncer", []),
            servers=Pooled,
            faults=_clients_of_postgres(
                "server_kill", "server_restart", "backend_crash", "server_pause_short", "server_pause_long",
                "clients_without_it", "table_locked", "pooler_kill", "pooler_pause",
            ),  # fmt: skip
        ),
        replace(
            _POSTGRES,
            name="postgres2",
            about="the same on a primary that waits for its standby, which is promoted again and again",
            engine=("postgres2", ["--set", "synchronous_standby_names=*"]),
            servers=Pair,
            faults=_clients_of_postgres("promotion", "standby_pause", "backend_crash", "clients_without_it"),
        ),
        Scenario(
            name="zk3",
            about="every primitive on three ZooKeeper servers, which fail, are stopped and cut off; nodes are removed",
            engine=(
                "zk3",
                [
                    *("--clock-shift", "--set", "syncLimit=4"),
                    *("--set", "initLimit=10"),  # a server that takes a silent one for its leader waits for so long
                    *("--set", f"maxClientCnxns={CONNECTIONS_MAX}"),
                ],
            ),
            servers=Zk,
            load=Load(mix="modes", clocks=True),
            lingers_ms=ZK_LINGERS_MS,
            faults=[
                kinds.KillClient(every_s=2.5),
                kinds.PauseClient(every_s=2.0, ttls_max=5.0),
                kinds.MoveClientClock(),
                kinds.Turns(
                    "leader_kill", "leader_pause_short", "leader_pause_long", "leader_alone", "follower_alone",
                    "follower_kill", "follower_pause", "all_killed", "server_clock", "clients_without_one",
                    "clients_without_all", "one_is_full", "all_are_full",
                ),
                kinds.DropReply("acquire", "claim", "keep", "release"),
                kinds.ByOperator("node_removed", 0.8),
            ],  # fmt: skip
            shown=COUNTS + COUNTS_OF_MODES + ("leader_loss_to_grant_ms",) + EXCUSED,
        ),
    )
}


@dataclass
class Verdict:
    counts: dict[str, float]
    must_be_zero: set[str]
    problems: list[str]  # what the counts do not show

    def good(self) -> bool:
        return (
            not self.problems
            and self.counts["stale_offered"] > 0
            and all(self.counts[name] == 0 for name in self.must_be_zero)
        )


def run(scenario: Scenario, build: str, seconds: float, seed: int, keep: bool, verbose: bool) -> Verdict:
    with Lab(
        build,
        scenario.servers,
        scenario.engine,
        scenario.load,
        scenario.query(),
        scenario.shift,
        scenario.confirmed_by,
        seed,
        keep,
        verbose,
    ) as lab:
        lab.disturb(scenario.faults, seconds, complete=seconds >= FULL_RUN_S)
        lab.heal(calm_s=2.0, drain_s=scenario.stuck_s() + 4.0)
        lab.engine.look_back()
        left = lab.engine.leftovers(build, 3 * (scenario.load.ttl_ms + scenario.lingers_ms) / 1000 + 2.0)
        counts = _check(lab, scenario)
        counts["backwards_ms_max"] = counts["backwards_us_max"] // 1000
        counts["double_grants_per_1000"] = round(1000 * counts["double_grants"] / max(1, counts["acquisitions"]), 2)
        counts["leader_loss_to_grant_ms"] = counts["failover_to_grant_ms"]
        counts["keys_left"] = len(left)
        problems = [f"keys_left: {words}" for words in left[:BREACHES_SHOWN]]
        problems += [f"a worker crashed: {words}" for words in lab.clients.crashes[:BREACHES_SHOWN]]
        if scenario.sees_queue() and counts["places_seen"] == 0:
            problems.append("nobody was ever seen in a queue: the order was not observed")
        if lab.not_ended:
            problems.append(f"{lab.not_ended} worker processes did not end when asked to")
        if seconds >= FULL_RUN_S:
            missing = sorted(name for name in scenario.expected() if lab.done[name] == 0)
            problems += [f"the fault {name} never happened" for name in missing]
        if verbose:
            for name, count in sorted(lab.done.items()):
                print(f"faults: {name} {count}", file=sys.stderr)
            for words in lab.clients.complaints():
                print(f"faults: a worker said: {words}", file=sys.stderr)
        verdict = Verdict(counts, scenario.must_be_zero(), problems)
        lab.keep |= not verdict.good()
        return verdict


def _check(lab: Lab, scenario: Scenario) -> dict[str, int]:
    command = [lab.programs["fault_checker"], lab.folder, "--ttl-ms", str(scenario.load.ttl_ms)]
    command += ["--waiter-ttl-ms", str(scenario.waiter_ttl_ms()), "--explain", str(BREACHES_SHOWN)]
    command += ["--lingers-ms", str(scenario.lingers_ms)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=CHECKER_S_MAX, check=False)
    if done.returncode != 0:
        raise LabError(f"the checker gave no verdict: {done.stderr.strip()}")
    sys.stderr.write(done.stderr)
    breaches = [float(found.group(1)) for found in _BREACH.finditer(done.stderr)]
    for words in lab.said_around(breaches):
        print(f"faults: done at {words}", file=sys.stderr)
    return {key: int(value) for key, value in (word.split("=") for word in done.stdout.split())}
