"""Every state that a crash may leave has everything of the puts that were completed."""

import errno
import os
import shutil
import sys
import time

from crash_model import Recording, write_state
from dedup_runner import DedupCase, generate, main, run, snapshot

RECORDER = os.path.abspath(sys.argv[2])
PER_POINT = int(sys.argv[3])  # states at each call, beside the plain ones
EVERY = int(sys.argv[4])  # of how many states one is written to and checked deeply


class Crash(DedupCase):
    def record(self, *commands):
        """Runs commands and returns the recording, and the step at which each had ended."""
        base, log = self.directory / "base", self.directory / "log"
        shutil.copytree(self.repo, base)
        environment = {**os.environ, "LD_PRELOAD": RECORDER, "RECORD_ROOT": str(self.repo),
                       "RECORD_LOG": str(log)}
        ends = []
        for command in commands:
            self.run_ok(*command, cwd=self.directory, env=environment)
            ends.append(len(Recording(base, log).steps))
        recording = Recording(base, log)
        shutil.rmtree(base)
        log.unlink()
        return recording, ends

    def verify(self, recording, needed):
        """`needed(end)`: the archives that must be there, and their trees."""
        states = 0
        for states, (end, files, directories) in enumerate(recording.states(1, PER_POINT), 1):
            crashed = self.directory / "crashed"
            write_state(crashed, files, directories)
            # A command that writes completes what was begun; the archives are all there before, too.
            self.repo = crashed
            with self.subTest(end=end, state=states):
                for name, tree in needed(end).items():
                    self.assert_restores(name, tree)
                if states % EVERY == 0:
                    self.put("after the crash")
                    self.check()
                    self.run_ok("gc", self.repo, "--stale", "1%", "-q")
                    self.check()
                    for name, tree in needed(end).items():
                        self.assert_restores(name, tree)
            shutil.rmtree(crashed)
        self.assertGreater(states, 30)
        return states

    def start(self):
        self.init("--compress", "none")
        self.write("a", generate(1, 60_000))
        self.write("b", generate(2, 60_000))
        time.sleep(0.2)
        self.put("one")
        return snapshot(self.tree)

    def test_put(self):
        first = self.start()
        self.write("b", generate(2, 30_000) + generate(3, 60_000))
        second = snapshot(self.tree)
        recording, ends = self.record(("put", self.repo, "two", "tree", "-q"))
        self.verify(recording, lambda end: {"one": first, **(
            {"two": second} if end >= ends[0] else {})})

    def test_rm_and_gc(self):
        first = self.start()
        shutil.move(self.tree / "a", self.directory / "a")
        self.write("b", generate(2, 60_000) + generate(3, 60_000))
        second = snapshot(self.tree)
        self.put("two")
        recording, ends = self.record(("rm", self.repo, "one", "-q"),
                                      ("gc", self.repo, "--stale", "1%", "-q"),
                                      ("put", self.repo, "three", "tree", "-q"))
        self.assertIn("a", str(first))
        self.verify(recording, lambda end: {"two": second, **(
            {"three": second} if end >= ends[2] else {})})

    def test_rebuild(self):
        """Until the new index is complete, readers may be refused; then everything is there."""
        first = self.start()
        recording, ends = self.record(("rebuild-index", self.repo, "-q"))
        states = 0
        for states, (end, files, directories) in enumerate(recording.states(1, PER_POINT), 1):
            self.repo = self.directory / "crashed"
            write_state(self.repo, files, directories)
            with self.subTest(end=end):
                if states % EVERY == 0 or end >= ends[0]:
                    done = run("put", self.repo, "after", "tree", "-q", cwd=self.directory)
                    self.assertEqual(done.returncode, 0, done)
                    self.check()
                    self.assert_restores("one", first)
            shutil.rmtree(self.repo)
        self.assertGreater(states, 10)

    def test_failing_calls(self):
        """From any call on the disk is full, or fails: the command says so, and nothing is lost."""
        first = self.start()
        self.write("b", generate(2, 30_000) + generate(3, 60_000))
        second = snapshot(self.tree)
        for command in (("put", self.repo, "two", "tree", "-q"),
                        ("gc", self.repo, "--stale", "1%", "-q"),
                        ("rebuild-index", self.repo, "-q")):
            call, done, base = 0, None, self.directory / command[0]
            if command[0] == "gc":
                self.put("two")
                self.run_ok("rm", self.repo, "one", "-q")
            self.repo.rename(base)
            while done is None or done.returncode != 0 or done.stderr:
                call += 1
                self.assertLess(call, 200)
                shutil.copytree(base, self.repo)
                done = run(*command, cwd=self.directory, env={
                    **os.environ, "LD_PRELOAD": RECORDER, "RECORD_ROOT": str(self.repo),
                    "RECORD_LOG": "/dev/null", "RECORD_FAIL": str(call),
                    "RECORD_ERRNO": str((errno.ENOSPC, errno.EIO)[call % 2])})
                with self.subTest(command=command[0], call=call):
                    self.assertIn(done.returncode, (0, 3), done)
                    self.assertTrue(done.returncode == 0 or done.stderr, done)
                    names = [a["name"] for a in self.json("ls", self.repo)["archives"]]
                    if done.returncode == 0 and command[0] == "put":
                        self.assertIn("two", names)
                    run("put", self.repo, "after", "tree", "-q", cwd=self.directory)
                    self.check()
                    for name in names:
                        self.assert_restores(name, first if name == "one" else second)
                shutil.rmtree(self.repo)
            self.assertGreater(call, 10)
            shutil.copytree(self.directory / "put", self.repo)


main()
