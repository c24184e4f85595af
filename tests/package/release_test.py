#!/usr/bin/env python3
"""tools/release, on a copy of this tree that is a repository of its own: what it makes, and what it refuses.

Exits with 77 where this tree is no checkout, or where tools/setup has not installed what releases are made with.
"""
import contextlib
import importlib.machinery
import importlib.util
import json
import os
import pathlib
import re
import shutil
import signal
import subprocess
import sys
import tarfile
import tempfile
import time
import unittest
import unittest.mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tools/lib"))
sys.dont_write_bytecode = True
import package_chroot  # noqa: E402
import package_debs  # noqa: E402
import release_sbom  # noqa: E402
import release_sign  # noqa: E402

SKIPPED = 77
TOOL = (ROOT / "tools/release").read_text()
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

    def release(self, *words, home=None, **more):
        more |= {"GNUPGHOME": home} if home else {}
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
        self.assertEqual(set(packages), {"tyer"} | {entry["name"] for entry in release_sbom.read((ROOT / release_sbom.PATH).read_text())})
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
        refused(rf"^release: refused: 1 files are not committed: CHANGELOG.md; CHANGELOG.md has no section \[{VERSION}\]")
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
            self.tree.git("tag", "vfoo")
            other = self.tree.release("--key", key, "--debian", "none", "--tagged", "vfoo", "--out", self.work / "other", home=home)
            self.assertEqual(other.returncode, 1)
            self.assertRegex(other.stderr, f"the tag of {VERSION} is {TAG}, not vfoo")

    def test_a_key_that_cannot_sign_was_noticed_when_all_was_built(self):
        self.tree.name_the_version()
        self.tree.commit()
        with release_sign.throw_away() as (home, key):
            for secret in pathlib.Path(home, "private-keys-v1.d").iterdir():
                secret.unlink()  # gpg still lists it
            subprocess.run(["gpgconf", "--homedir", home, "--kill", "all"], check=True)
            with self.assertRaisesRegex(RuntimeError, "gpg --armor failed"):
                release_sign.must_be_able(key, home=home)
        self.assertLess(TOOL.index("must_be_able("), TOOL.index("said = make("))

    # --- what the machine has that makes it

    def tool(self, **environment):
        """Its functions, without the hour around them."""
        self.enterContext(unittest.mock.patch.dict(os.environ, NO_ACCOUNT | environment))
        loader = importlib.machinery.SourceFileLoader("release", str(self.tree.root / "tools/release"))
        module = importlib.util.module_from_spec(importlib.util.spec_from_loader("release", loader))
        loader.exec_module(module)
        return module

    def archived(self, tool):
        out = pathlib.Path(tempfile.mkdtemp(dir=self.work))
        with tarfile.open(tool.archive(tool.git("rev-parse", "HEAD"), NAME, str(out))) as archive:
            return archive.extractfile(f"{NAME}/LICENSE").read()

    def test_another_repository_that_the_environment_names_was_released(self):
        other = self.work / "other"
        other.mkdir()
        for words in (("init", "--quiet"), ("commit", "--quiet", "--allow-empty", "--message", "x")):
            subprocess.run(["git", "-C", other, *words], env=os.environ | NO_ACCOUNT, check=True)
        self.assertEqual(self.archived(self.tool(GIT_DIR=str(other / ".git"))), (ROOT / "LICENSE").read_bytes())

    def test_line_ends_were_those_of_the_machine(self):
        self.tree.git("config", "core.autocrlf", "true")
        self.assertEqual(self.archived(self.tool()), (ROOT / "LICENSE").read_bytes())

    def test_what_attributes_of_the_machine_say_not_to_export_was_not_in_it(self):
        info = self.tree.root / ".git/info"
        info.mkdir(exist_ok=True)
        for attribute in ("export-ignore", "eol=crlf"):
            (info / "attributes").write_text(f"LICENSE {attribute}\n")
            done = self.tree.release("--dry-run", "--out", self.work / "out")
            self.assertEqual(done.returncode, 1)
            self.assertRegex(done.stderr, f"refused: the archive is not what is committed: {NAME}/LICENSE. ")
            self.assertEqual([p.name for p in self.work.iterdir()], ["tree"])

    def test_the_version_was_that_of_a_file_that_is_not_committed(self):
        header = self.tree.root / "include/tyer/version.hpp"
        self.tree.git("update-index", "--assume-unchanged", "include/tyer/version.hpp")
        header.write_text(re.sub(r"VERSION_MINOR \d+", "VERSION_MINOR 77", header.read_text()))
        self.assertEqual(self.tool().version("HEAD"), VERSION)

    def test_one_that_was_ended_left_its_key_and_half_a_release(self):
        before = set(pathlib.Path("/tmp").glob("tyer-gpg-*"))
        process = subprocess.Popen([self.tree.root / "tools/release", "--dry-run", "--out", self.work / "out"], env=os.environ | NO_ACCOUNT,
                                   stdout=subprocess.DEVNULL, stderr=subprocess.PIPE)
        self.addCleanup(process.kill)
        limit = time.monotonic() + TOOL_S_MAX
        while not (self.work / "out.new" / "dry-run-key.gpg").exists() and time.monotonic() < limit:
            time.sleep(0.01)
        process.terminate()
        self.assertEqual((process.communicate(timeout=TOOL_S_MAX)[1].count(b"Traceback"), process.returncode), (0, 128 + signal.SIGTERM))
        self.assertEqual([p.name for p in self.work.iterdir()], ["tree"])
        self.assertLessEqual(set(pathlib.Path("/tmp").glob("tyer-gpg-*")), before)

    def test_what_one_that_was_killed_has_left_is_told_in_words(self):
        (self.work / "out.new").mkdir()
        done = self.tree.release("--dry-run", "--out", self.work / "out")
        self.assertEqual(done.returncode, 1)
        self.assertRegex(done.stderr, "refused: .*out.new is left of one that was killed")


class Packages(unittest.TestCase):
    def test_the_folder_for_packages_was_emptied_of_whatever_was_in_it(self):
        with tempfile.TemporaryDirectory(prefix="tyer [packages] ") as folder:
            folder = pathlib.Path(folder)
            (folder / "thesis").mkdir()
            for name in ("thesis/last.txt", "letter.txt", "old.deb"):
                (folder / name).write_text("mine")
            package_debs.remove_older(str(folder))
            self.assertEqual(sorted(p.name for p in folder.rglob("*")), ["last.txt", "letter.txt", "thesis"])
        self.assertNotIn("rmtree(out", pathlib.Path(package_debs.__file__).read_text())

    def test_a_path_with_blanks_was_mounted_elsewhere(self):
        read = re.search(r"while (read -r [a-z ]+); do", package_chroot.INSIDE)[1]
        for outside, shown in (("/a path: x", "/in|ro|/a path: x"), ("/a path: x:rw", "/in|rw|/a path: x")):
            said = subprocess.run(["sh", "-c", f'{read}; printf "%s|%s|%s" "$inside" "$mode" "$outside"'], capture_output=True, check=True,
                                  input=package_chroot.mounted({"/in": outside}), text=True).stdout
            self.assertEqual(said, shown)


if __name__ == "__main__":
    if not tracked() or not shutil.which("gpg") or not release_sbom.validator():
        print("release_test: skipped: no checkout, or no gpg or pyspdxtools: run tools/setup")
        sys.exit(SKIPPED)
    unittest.main()
