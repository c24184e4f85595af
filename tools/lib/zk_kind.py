"""ZooKeeper: one server, or three that are one."""

from __future__ import annotations

import os
import socket

import clock_shift
import throwaway_tls
from instances import EngineError, Instance, Node
from kinds import Kind
from members import Member, numbered

JAR = "/usr/share/java/zookeeper.jar"  # its manifest names all that it needs
LOGGING = "/usr/share/java/slf4j-simple.jar"
# What Netty needs besides, which is used for TLS alone, and which the manifest forgets.
NETTY = [f"/usr/share/java/netty-{part}.jar" for part in ("codec", "resolver", "transport-native-unix-common")]
ROUTER = os.path.join(os.path.dirname(os.path.realpath(__file__)), "peer_routes.c")
USER = "tyer"  # if none is named
ASK_S_MAX = 1.0
ANSWER_BYTES_MAX = 65536


class Zk(Kind):
    name = "zk"
    about = "one ZooKeeper server"
    node_names = ["node-0"]
    port_offsets = {"client": 0, "peer": 1, "election": 2, "plain": 3}
    accepts = frozenset({"tls", "password", "user", "set", "clock_shift"})
    settings_have_case = True
    ready_s_max = 60.0
    login_query = ""

    def prepare(self, instance: Instance) -> None:
        if instance.options["user"] and not instance.options["password"]:
            raise EngineError("--user needs --password", 2)
        if instance.options.get("clock_shift"):
            clock_shift.make(instance)
        if instance.options["tls"]:
            throwaway_tls.make(self._tls(instance))

    def configure(self, instance: Instance, node: Node) -> None:
        data = self.data(instance, node)
        os.makedirs(data, mode=0o700, exist_ok=True)
        with open(os.path.join(data, "myid"), "w", encoding="ascii") as file:
            file.write(f"{instance.nodes.index(node) + 1}\n")
        with open(self._config(instance, node), "w", encoding="ascii") as file:
            file.writelines(f"{key}={value}\n" for key, value in self._settings(instance, node).items())
        if instance.options["tls"]:
            self._write_key_store(instance, node)

    def _write_key_store(self, instance: Instance, node: Node) -> None:
        """Anew with every start: somebody may have exchanged the certificates."""
        with open(self._key_store(instance, node), "w", encoding="ascii") as pem:
            for part in ("server.key", "server.crt"):
                with open(f"{self._tls(instance)}/{part}", encoding="ascii") as file:
                    pem.write(file.read())

    def command(self, instance: Instance, node: Node) -> list[str]:
        if not os.path.exists(JAR):
            raise EngineError("ZooKeeper is not installed (run tools/setup)")
        # Few threads and little to warm up: a server of a test lives for seconds.
        java = [self.program("java"), "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:-UsePerfData"]
        java += ["-Dzookeeper.admin.enableServer=false", "-Dznode.container.checkIntervalMs=2000"]
        java += ["-Dorg.slf4j.simpleLogger.defaultLogLevel=warn", "-Djava.net.preferIPv4Stack=true"]
        java += [f"-Dorg.slf4j.simpleLogger.{key}" for key in ("showDateTime=true", "dateTimeFormat=HH:mm:ss.SSS")]
        if instance.options["tls"]:
            java += ["-Dzookeeper.serverCnxnFactory=org.apache.zookeeper.server.NettyServerCnxnFactory"]
        java += self.login_options(instance, node)
        classes = ":".join([JAR, LOGGING, *NETTY])
        return [*java, "-cp", classes, "org.apache.zookeeper.server.quorum.QuorumPeerMain", self._config(instance, node)]

    def login_options(self, instance: Instance, node: Node) -> list[str]:
        """Of the scheme digest a server knows nothing: whoever shows a user and a password has them."""
        return []

    def environment(self, instance: Instance, node: Node) -> dict[str, str]:
        found = clock_shift.environment(instance, node) if instance.options.get("clock_shift") else {}
        if os.path.exists(self._routes(instance, node)):
            library = os.path.relpath(self._router(instance), instance.node_folder(node))
            found["LD_PRELOAD"] = ":".join(filter(None, [found.get("LD_PRELOAD"), library]))
            found["TYER_PEER_ROUTES"] = self._routes(instance, node)
        return found

    def announce(self, instance: Instance, ports: list[int]) -> None:
        """For each server in turn, for each other server: where it reaches that one's peer port and its election port."""
        pairs = [(node, other) for node in instance.nodes for other in instance.nodes if other is not node]
        if len(instance.nodes) < 2 or len(ports) != 2 * len(pairs):
            raise EngineError(f"give {2 * len(pairs)} ports, two for each server's way to each other", 2)
        clock_shift.compile_to(self._router(instance), ROUTER)
        routes: dict[str, str] = {}
        for i, (node, other) in enumerate(pairs):
            ways = zip((other.ports["peer"], other.ports["election"]), ports[2 * i : 2 * i + 2], strict=True)
            routes[node.name] = routes.get(node.name, "") + "".join(f"{real} {way}\n" for real, way in ways)
        for node in instance.nodes:
            with open(self._routes(instance, node), "w", encoding="ascii") as file:
                file.write(routes[node.name])

    def answers(self, instance: Instance, node: Node) -> bool:
        """It is up to the settling to see that they are one: a single one of three serves nobody."""
        return bool(self._ask(instance, node, "ruok"))

    def unsettled(self, instance: Instance) -> str:
        roles = [self._role(instance, node) for node in instance.running()]
        return "" if roles.count("leader") + roles.count("standalone") == 1 and "" not in roles else "no leader yet"

    def members(self, instance: Instance) -> list[Member]:
        leader, followers, others = [], [], []
        for node in instance.nodes:
            try:
                role = self._role(instance, node) if node.state() == "running" else ""
            except OSError:
                role = ""
            if role in ("leader", "standalone"):
                leader = [Member(node, "leader")]
            elif role:
                followers.append(node)
            else:
                others.append(Member(node, "-"))
        found = leader + numbered(followers, "follower") + others
        return sorted(found, key=lambda member: instance.nodes.index(member.node))

    def uri(self, instance: Instance) -> str:
        from urllib.parse import quote

        options, scheme, query = instance.options, "zk", self.login_query if instance.options["password"] else ""
        login = f"{quote(options['user'] or USER, '')}:{quote(options['password'], '')}@" if options["password"] else ""
        if options["tls"]:
            scheme, query = "zks", "&".join(filter(None, [query, "ca=" + quote(f"{self._tls(instance)}/ca.crt")]))
        hosts = ",".join(f"127.0.0.1:{node.port}" for node in instance.nodes)
        return f"{scheme}://{login}{hosts}{'?' + query if query else ''}"

    def _settings(self, instance: Instance, node: Node) -> dict[str, str]:
        tls = self._tls(instance)
        settings = {
            "tickTime": "500",
            "initLimit": "40",
            "syncLimit": "20",
            "minSessionTimeout": "1000",
            "maxSessionTimeout": "600000",
            "maxClientCnxns": "0",
            "dataDir": self.data(instance, node),
            "clientPortAddress": "127.0.0.1",
            "clientPort": str(node.ports["plain"] if instance.options["tls"] else node.port),
            "4lw.commands.whitelist": "*",
            "admin.enableServer": "false",
        }
        if instance.options["tls"]:
            settings |= {
                "secureClientPort": str(node.port),
                "secureClientPortAddress": "127.0.0.1",
                "ssl.keyStore.location": self._key_store(instance, node),
                "ssl.keyStore.type": "PEM",
                "ssl.trustStore.location": f"{tls}/ca.crt",
                "ssl.trustStore.type": "PEM",
                "ssl.clientAuth": "want",
            }
        if len(instance.nodes) > 1:
            for number, other in enumerate(instance.nodes, 1):
                settings[f"server.{number}"] = f"127.0.0.1:{other.ports['peer']}:{other.ports['election']}"
        return settings | dict(instance.options["set"])

    def _role(self, instance: Instance, node: Node) -> str:
        for line in self._ask(instance, node, "srvr").splitlines():
            if line.startswith("Mode: "):
                return line[len("Mode: ") :]
        return ""

    def _ask(self, instance: Instance, node: Node, word: str) -> str:
        port, answer = node.ports["plain"] if instance.options["tls"] else node.port, b""
        with socket.create_connection(("127.0.0.1", port), ASK_S_MAX) as connection:
            connection.settimeout(ASK_S_MAX)
            connection.sendall(word.encode())
            while len(answer) < ANSWER_BYTES_MAX and (part := connection.recv(4096)):
                answer += part
        return answer.decode(errors="replace")

    def _config(self, instance: Instance, node: Node) -> str:
        return os.path.join(instance.node_folder(node), "zoo.cfg")

    def _key_store(self, instance: Instance, node: Node) -> str:
        return os.path.join(instance.node_folder(node), "server.pem")

    def _router(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "peer_routes.so")

    def _routes(self, instance: Instance, node: Node) -> str:
        return os.path.join(instance.node_folder(node), "peer_routes")

    def _tls(self, instance: Instance) -> str:
        return os.path.join(instance.folder, "tls")


class Zk3(Zk):
    name = "zk3"
    about = "three ZooKeeper servers that are one"
    node_names = [f"node-{i}" for i in range(3)]


class ZkSasl(Zk):
    """A password is checked by the server, and nobody is let in without it."""

    name = "zk-sasl"
    about = "one ZooKeeper server that lets nobody in without a login by SASL (DIGEST-MD5), if it has a --password"
    login_query = "auth=sasl"

    def configure(self, instance: Instance, node: Node) -> None:
        super().configure(instance, node)
        user, password = instance.options["user"] or USER, instance.options["password"] or ""
        password = password.replace("\\", "\\\\").replace('"', '\\"')
        with open(self._jaas(instance, node), "w", encoding="utf-8") as file:
            file.write("Server {\n  org.apache.zookeeper.server.auth.DigestLoginModule required\n")
            file.write(f'  user_{user}="{password}";\n}};\n')

    def login_options(self, instance: Instance, node: Node) -> list[str]:
        if not instance.options["password"]:
            return []
        provider = "org.apache.zookeeper.server.auth.SASLAuthenticationProvider"
        return [
            f"-Djava.security.auth.login.config={self._jaas(instance, node)}",
            f"-Dzookeeper.authProvider.1={provider}",
            "-Dzookeeper.sessionRequireClientSASLAuth=true",
        ]

    def _jaas(self, instance: Instance, node: Node) -> str:
        return os.path.join(instance.node_folder(node), "jaas.conf")
