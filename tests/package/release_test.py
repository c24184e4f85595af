#!/usr/bin/env python3
"""tools/release, on a copy of this tree that is a repository of its own: what it makes, and what it refuses.

Exits with 77 where this tree is no checkout, or where tools/setup has not installed what releases are made with.
"""
import contextlib
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tarfile
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lib"))
sys.dont_write_bytecode = True
import release_sbom  # noqa: E402
import release_sign  # noqa: E402

SKIPPED = 77
VERSION = ".".join(re.findall(r"define TYER_VERSION_\w+ (\d+)", (ROOT / "include/tyer/version.hpp").read_text()))
NAME = f"tyer-{VERSION}"
TAG = f"v{VERSION}"
TOOL_S_MAX = 240
NO_ACCOUNT = {
    "GIT_CONFIG_GLOBAL": os.devnull, "GIT_CONFIG_SYSTEM": os.devnull,
    "GIT_AUTHOR_NAME": "nobody", "GIT_AUTHOR_EMAIL": "nobody@tyer.invalid", "GIT_AUTHOR_DATE": "1700000000 +0000",
    "GIT_COMMITTER_NAME": "nobody", "GIT_COMMITTER_EMAIL": "nobody@tyer.invalid", "GIT_COMMITTER_DATE": "1700000000 +0000",
}


def tracked():
    """What a commit of everything here would have."""
    done = subprocess.run(["git", "-C", ROOT, "ls-files", "-z", "--cached", "--others", "--exclude-standard"], capture_output=True, check=False)
    return [name for name in done.stdout.decode().split("\0") if name and (ROOT / name).is_file()] if not done.returncode else []


class Repository:
    def __init__(self, folder):
        self.root = folder / "tree"
        for name in tracked():
            (self.root / name).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(ROOT / name, self.root / name)
        self.git("init", "--quiet")
        self.commit()

    def git(self, *words):
        return subprocess.run(["git", "-C", self.root, "-c", "core.fsync=none", *words], env=os.environ | NO_ACCOUNT, check=True, capture_output=True, text=True).stdout

    def commit(self):
        self.git("add", "--all")
        self.git("commit", "--quiet", "--allow-empty", "--message", "as it is")

    def release(self, *words, home=None):
        more = {"GNUPGHOME": home} if home else {}
        return subprocess.run([self.root / "tools/release", *words], env=os.environ | NO_ACCOUNT | more, capture_output=True,
                              text=True, timeout=TOOL_S_MAX, check=False)

    def forget_the_version(self):
        path = self.root / "CHANGELOG.md"
        path.write_text(path.read_text().replace(f"## [{VERSION}]", "## [before]"))

    def name_the_version(self):
        path = self.root / "CHANGELOG.md"
        text = path.read_text()
        if f"## [{VERSION}]" not in text:
            path.write_text(text.replace("## [Unreleased]", f"## [Unreleased]\n\n## [{VERSION}] - 2026-01-31", 1))


class Release(unittest.TestCase):
    def setUp(self):
        work = tempfile.TemporaryDirectory(prefix="tyer-release-test-")
        self.addCleanup(work.cleanup)
        self.work = pathlib.Path(work.name)
        self.tree = Repository(self.work)

    def dry_run(self, out):
        done = self.tree.release("--dry-run", "--out", out)
        self.assertEqual(done.returncode, 0, done.stderr)
        last = done.stdout.splitlines()[-1]
        self.assertRegex(last, r"^release: (\w+=\S+ ?)+$")
        return dict(word.split("=", 1) for word in last.split()[1:])

    def test_a_dry_run_makes_what_a_release_has(self):
        (self.tree.root / "build").mkdir()
        (self.tree.root / "build/left_over.o").write_text("ignored, and not to be released")
        out = self.work / "out"
        said = self.dry_run(out)
        self.assertEqual((said["version"], said["sbom"], said["debs"], said["dry_run"]), (VERSION, "valid", "0", "yes"))
        self.assertEqual({p.name for p in out.iterdir()},
                         {f"{NAME}.tar.gz", f"{NAME}.tar.gz.asc", f"{NAME}.spdx.json", "RELEASE-NOTES.md", "SHA256SUMS", "SHA256SUMS.asc",
                          "dry-run-key.gpg"})
        self.has_exactly_what_is_tracked(out / f"{NAME}.tar.gz")
        self.sums_and_signatures_notice_a_changed_byte(out, out / f"{NAME}.tar.gz")
        self.bill_names_the_archive(out / f"{NAME}.spdx.json", said["sha256"])
        again = self.work / "again"
        self.dry_run(again)
        for same in ("SHA256SUMS", f"{NAME}.tar.gz", f"{NAME}.spdx.json"):
            self.assertEqual((out / same).read_bytes(), (again / same).read_bytes(), f"{same}: the same commit, other bytes")
        self.assertIn("### Added", (out / "RELEASE-NOTES.md").read_text())
        self.assertNotIn("\n## [", (out / "RELEASE-NOTES.md").read_text())

    def has_exactly_what_is_tracked(self, path):
        with tarfile.open(path) as archive:
            files = {m.name for m in archive.getmembers() if not m.isdir()}
            self.assertEqual(files, {f"{NAME}/{file}" for file in tracked()})
            self.assertEqual({m.mtime for m in archive.getmembers()}, {1700000000})
            archive.extractall(self.work / "unpacked", filter="data") if hasattr(tarfile, "data_filter") else archive.extractall(self.work / "unpacked")
        for needed in ("CMakeLists.txt", "LICENSE", "NOTICE", "include/tyer/tyer.hpp", "src/CMakeLists.txt", "tools/setup",
                       "packaging/vcpkg/ports/tyer/vcpkg.json", "packaging/conan/conanfile.py"):
            self.assertEqual((self.work / "unpacked" / NAME / needed).read_bytes(), (self.tree.root / needed).read_bytes(), needed)

    def sums_and_signatures_notice_a_changed_byte(self, out, path):
        def sums():
            return subprocess.run(["sha256sum", "--check", "--strict", "--quiet", "SHA256SUMS"], cwd=out, capture_output=True, check=False).returncode

        def signed(file):
            return subprocess.run(["gpgv", "--keyring", out / "dry-run-key.gpg", f"{file}.asc", file], capture_output=True, check=False).returncode

        self.assertEqual((sums(), signed(path), signed(out / "SHA256SUMS")), (0, 0, 0))
        whole = path.read_bytes()
        changed = bytearray(whole)
        changed[len(changed) // 2] ^= 1
        path.write_bytes(changed)
        self.assertNotEqual(sums(), 0)
        self.assertNotEqual(signed(path), 0)
        path.write_bytes(whole)
        listed = (out / "SHA256SUMS").read_text()
        (out / "SHA256SUMS").write_text(listed.replace(listed[0], "0" if listed[0] != "0" else "1", 1))
        self.assertNotEqual(signed(out / "SHA256SUMS"), 0)
        (out / "SHA256SUMS").write_text(listed)

    def bill_names_the_archive(self, path, sha256):
        bill = json.loads(path.read_text())
        packages = {p["name"]: p for p in bill["packages"]}
        self.assertEqual(packages["tyer"]["checksums"][0]["checksumValue"], sha256)
        self.assertEqual(set(packages), {"tyer"} | {entry["name"] for entry in release_sbom.dependencies(ROOT)})
        broken = self.work / "broken.spdx.json"
        broken.write_text(path.read_text().replace('"SPDXRef-OpenSSL"', '"OpenSSL"', 1))
        with self.assertRaisesRegex(RuntimeError, "not valid"):
            release_sbom.validate(broken)

    def test_refuses_in_words_and_leaves_nothing(self):
        keys = contextlib.ExitStack()
        self.addCleanup(keys.close)
        home, _ = keys.enter_context(release_sign.throw_away())

        def refused(words, *more):
            done = self.tree.release("--key", "another@tyer.invalid", "--debian", "none", "--out", self.work / "out", *more, home=home)
            self.assertEqual(done.returncode, 1, done.stdout)
            self.assertRegex(done.stderr, words)
            self.assertNotIn("Traceback", done.stderr)
            self.assertEqual([p.name for p in self.work.iterdir()], ["tree"])

        self.tree.forget_the_version()
        self.tree.commit()
        refused(rf"^release: refused: CHANGELOG.md has no section \[{VERSION}\]")
        self.tree.name_the_version()
        refused("^release: refused: 1 files are not committed: CHANGELOG.md$")
        self.tree.commit()
        (self.tree.root / "new.txt").write_text("forgotten")
        refused("1 files are not committed: new.txt$")
        (self.tree.root / "new.txt").unlink()
        refused(f"no tag {TAG} on this commit$", "--tagged")
        self.tree.git("tag", TAG)
        refused(f"{VERSION} is released already: there is a tag {TAG}")
        self.tree.commit()
        refused(f"no tag {TAG} on this commit$", "--tagged")
        self.tree.git("tag", "--delete", TAG)
        refused("names no secret key")

    def test_a_release_is_signed_by_the_key_that_was_asked_for(self):
        self.tree.name_the_version()
        self.tree.commit()
        self.tree.git("tag", TAG)
        out = self.work / "out"
        with release_sign.throw_away() as (home, key):
            done = self.tree.release("--key", key, "--debian", "none", "--tagged", "--out", out, home=home)
            self.assertEqual(done.returncode, 0, done.stderr)
            self.assertRegex(done.stdout.splitlines()[-1], f" key={key} dry_run=no ")
            release_sign.verify(str(out / f"{NAME}.tar.gz"), key, home=home)
            again = self.tree.release("--key", key, "--debian", "none", "--tagged", "--out", out, home=home)
            self.assertEqual(again.returncode, 1)
            self.assertRegex(again.stderr, "is there already")


if __name__ == "__main__":
    if not tracked() or not shutil.which("gpg") or not release_sbom.validator():
        print("release_test: skipped: no checkout, or no gpg or pyspdxtools: run tools/setup")
        sys.exit(SKIPPED)
    unittest.main()
