"""Debian 13, with nothing but its own packages: builds Tyer with that compiler, Boost, nghttp2 and protobuf, and tests it."""

from __future__ import annotations

import os

import package_chroot
from package_debs import ROOT

# Debian 13 has two Boosts. The one that libboost-dev names is 1.83, which is too old; 1.88 is the other.
PACKAGES = """
g++ cmake ninja-build pkg-config ccache python3 openssl
libboost1.88-dev libssl-dev libnghttp2-dev libprotobuf-dev protobuf-compiler libcli11-dev nlohmann-json3-dev
libgtest-dev libgmock-dev redis-server redis-tools nutcracker etcd-server etcd-client
""".split()

# Servers run inside too. What needs one that is not there (valkey, the databases) is asked on Debian 12. Other tests may run
# beside it, and some of them look at the time: so compiling gives way to them.
BUILD = """
export CCACHE_DIR=/ccache TYER_ENGINES_DIR=/tmp/engines
mkdir -m 711 /tmp/engines
. /etc/os-release
echo "$PRETTY_NAME: g++ $(g++ -dumpfullversion), $(dpkg-query -W -f '${Package} ${Version}, ' libboost1.88-dev libnghttp2-dev \\
  libprotobuf-dev redis-server etcd-server)"
cmake -S /tyer -B /build -G Ninja --log-level=NOTICE -DCMAKE_BUILD_TYPE=$kind -DTYER_REDIS=ON -DTYER_ETCD=ON \\
  -DTYER_CLI=$cli -DTYER_EXAMPLES=OFF -DTYER_BENCH=OFF
grep -q '^TYER_BOOST_INCLUDE:PATH=/usr/include$' /build/CMakeCache.txt
nice cmake --build /build --target $targets -- -j 2 --quiet
"""
UNIT = """
ctest --test-dir /build/tests/unit -j 2 --no-tests=error --output-on-failure -E valkey
"""
CONTRACT_OF_ENGINES = """
ctest --test-dir /build/tests/contract -j 2 --no-tests=error --output-on-failure -R '^engine_contract[.](redis|etcd)$'
"""
CONTRACT = """
ctest --test-dir /build/tests/contract -j 2 --no-tests=error --output-on-failure -E 'valkey|postgres|mariadb'
"""


def try_out(*, everything: bool, fresh: bool, build: str) -> None:
    machine = package_chroot.debian("trixie", PACKAGES, fresh=fresh)
    ccache = os.path.join(package_chroot.cache_dir(), "ccache-trixie")
    for folder in (build, ccache):
        os.makedirs(folder, exist_ok=True)
    if everything:
        script = "kind=Release cli=ON targets=all" + BUILD + UNIT + CONTRACT
    else:
        # Whether it compiles and does the same here is the question, not how fast it is: no time for optimising.
        script = "kind=None cli=OFF targets='tests/unit/all engine_contract'" + BUILD + UNIT + CONTRACT_OF_ENGINES
    machine.run(script, folders={"/tyer": ROOT, "/build": f"{build}:rw", "/ccache": f"{ccache}:rw"})
