"""scripts/hooks: which subjects git accepts, and when a commit is refused."""

import os
import pathlib
import subprocess
import tempfile
import unittest

HOOKS = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "hooks"


class Hooks(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = pathlib.Path(self.directory.name)
        self.git("init", "--quiet")
        self.git("config", "core.hooksPath", HOOKS)
        self.makefile("@true")

    def makefile(self, recipe):
        (self.root / "Makefile").write_text(f"check:\n\t{recipe}\n")
        self.git("add", "Makefile")

    def git(self, *arguments):
        names = {f"GIT_{who}_{what}": "someone" for who in ("AUTHOR", "COMMITTER")
                 for what in ("NAME", "EMAIL")}
        return subprocess.run(["git", *arguments], cwd=self.root, capture_output=True, text=True,
                              env={**os.environ, **names, "GIT_CONFIG_GLOBAL": os.devnull})

    def commit(self, subject):
        return self.git("commit", "--allow-empty", "-m", subject)

    def test_subjects(self):
        for subject in ("map: refuse a capacity of zero", "scripts/lint: check Python", "a, b: do it",
                        "Merge branch 'x'", 'Revert "map: refuse"', "fixup! map: refuse zero"):
            self.assertEqual(self.commit(subject).returncode, 0, subject)
        for subject in ("wip", "map:", "map: refuse", "map: refuse ", "Refuse a capacity of zero",
                        ": refuse zero", "map:refuse zero"):
            done = self.commit(subject)
            self.assertEqual(done.returncode, 1, subject)
            self.assertIn("This one is: " + subject.strip(), done.stderr)

    def test_comments_are_not_the_subject(self):
        message = self.root / "message"
        message.write_text("# Please enter a message\n\nmap: refuse a capacity of zero\n")
        self.assertEqual(subprocess.run([HOOKS / "commit-msg", message]).returncode, 0)

    def test_checks_come_first(self):
        self.makefile("@echo not today; false")
        done = self.commit("map: refuse zero")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("not today", done.stdout + done.stderr)
        self.makefile("@test -z \"$$GIT_INDEX_FILE\"")
        self.assertEqual(self.commit("map: refuse zero").returncode, 0)


unittest.main()
