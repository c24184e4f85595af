#!/usr/bin/env python3
"""What Tyer needs is written down once, in packaging/dependencies.json: the documentation and the vcpkg port say the same."""
import json
import pathlib
import re
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
PORT = ROOT / "packaging/vcpkg/ports/tyer"
VERSION = ".".join(re.findall(r"define TYER_VERSION_\w+ (\d+)", (ROOT / "include/tyer/version.hpp").read_text()))
NEEDED = json.loads((ROOT / "packaging/dependencies.json").read_text())["dependencies"]
NOT_SHIPPED = re.compile(r"^(developing|building the tests)$")


def table():
    """{job: (what we use, who needs it)} of docs/dependencies.md."""
    rows = re.findall(r"^\| (.+?) \| (.+?) \| (.*?) ?\| (.+?) \|$", (ROOT / "docs/dependencies.md").read_text(), re.M)
    return {job: (used, who) for job, used, _, who in rows if job not in ("job", "---")}


class Recipes(unittest.TestCase):
    def test_the_documentation_names_each_of_them_with_its_version(self):
        rows = table()
        for entry in NEEDED:
            self.assertIn(entry["job"], rows, entry["name"])
            used = rows[entry["job"]][0]
            self.assertIn(entry["name"], used)
            if entry["least"]:
                self.assertRegex(used, rf"≥ {re.escape(entry['least'])}\b", entry["name"])

    def test_nothing_that_is_shipped_is_only_in_the_documentation(self):
        shipped = {job for job, (_, who) in table().items() if not NOT_SHIPPED.match(who)}
        self.assertEqual(shipped, {entry["job"] for entry in NEEDED})

    def test_the_build_asks_for_the_same_versions(self):
        least = {entry["name"]: entry["least"] for entry in NEEDED}
        major, minor = least["Boost"].split(".")
        self.assertIn(f"boost_version LESS {major}0{minor}00", (ROOT / "cmake/tyer_boost.cmake").read_text())
        self.assertIn(f"find_package(PostgreSQL {least['libpq']} REQUIRED)", (ROOT / "CMakeLists.txt").read_text())

    def test_boost_is_asked_for_without_components_of_which_1_89_has_one_less(self):
        for folder in ("bench", "cli", "cmake", "docs", "examples", "packaging", "src", "tests"):
            for file in (ROOT / folder).rglob("*"):
                if file.suffix in (".txt", ".cmake", ".in", ".md"):
                    self.assertNotRegex(file.read_text(), r"(?:find_package|find_dependency)\(Boost\b[^)]*COMPONENTS|Boost::system", file)

    def test_the_port_is_of_this_version_and_depends_on_the_same(self):
        port = json.loads((PORT / "vcpkg.json").read_text())
        self.assertEqual(port["version"], VERSION)
        self.assertEqual(list(port["features"]), sorted({c for entry in NEEDED for c in entry["components"]}))
        for feature, of in port["features"].items():
            named = [d if isinstance(d, str) else d["name"] for d in of["dependencies"]]
            self.assertEqual(named, sorted(named), feature)
            wanted = {name for entry in NEEDED if feature in entry["components"] for name in entry["vcpkg"]}
            extra = {f"boost-{feature}"} & set(named)
            self.assertEqual(set(named), wanted | extra, feature)

    def test_the_port_switches_every_feature(self):
        text = (PORT / "portfile.cmake").read_text()
        options = dict(re.findall(r"^ +([a-z]+) +TYER_(\w+)$", text, re.M))
        self.assertEqual(options, {f: "CLI" if f == "tools" else f.upper() for f in json.loads((PORT / "vcpkg.json").read_text())["features"]})
        known = set(re.findall(r"^option\(TYER_(\w+)", (ROOT / "CMakeLists.txt").read_text(), re.M))
        self.assertLessEqual(set(re.findall(r"TYER_([A-Z]+)", text)), known)


if __name__ == "__main__":
    unittest.main()
