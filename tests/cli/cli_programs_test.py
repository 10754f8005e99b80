"""Commands that are programs of their own: `bloomery dedup` becomes bloomery-dedup."""

import os
import pathlib
import shutil
import signal
import subprocess
import sys

from cli_runner import PROGRAM, Case, DirectoryCase, main, run

APPS = sys.argv[3:]  # those that were built
FAKE = '#!/bin/sh\necho "{}:"\nprintf "<%s>\\n" "$@"\nexit 7\n'


def app_name(path):
    return os.path.basename(path).removeprefix("bloomery-")


class Same(Case):
    """By either name: the same output and exit code."""

    def same(self, app, *arguments, **options):
        by_command = run(app_name(app), *arguments, **options)
        by_program = subprocess.run([app, *arguments], stdin=subprocess.DEVNULL, text=True,
                                    capture_output=True, timeout=300, **options)
        for done in (by_command, by_program):
            self.assertEqual((done.returncode, done.stdout, done.stderr),
                             (by_command.returncode, by_command.stdout, by_command.stderr))
        return by_command

    def test_help(self):
        for app in APPS:
            done = self.same(app, "--help")
            self.assertIn(f"Usage: bloomery {app_name(app)} ", done.stdout)
            self.assertEqual(run("help", app_name(app)).stdout, done.stdout)
            self.assertIn(f"\n  {app_name(app)} ", run("--help").stdout)

    def test_version(self):
        of_bloomery = run("--version").stdout.removeprefix("bloomery ")
        for app in APPS:
            for option in ("-V", "--version"):
                done = self.same(app, option)
                self.assertEqual(done.stdout, f"bloomery {app_name(app)} {of_bloomery}")

    def test_misuse(self):
        for app in APPS:
            done = self.same(app, "--no-such-option")
            self.assertEqual((done.returncode, done.stdout), (2, ""))
            self.assertIn(f'\nTry "bloomery {app_name(app)} --help".\n', done.stderr)


class Place(DirectoryCase):
    def setUp(self):
        super().setUp()
        self.program = self.path("bin/bloomery")
        os.mkdir(self.path("bin"))
        os.mkdir(self.path("other"))
        shutil.copy2(PROGRAM, self.program)

    def fake(self, place, name="bloomery-dedup", mode=0o755):
        with open(self.path(f"{place}/{name}"), "w", encoding="utf-8") as file:
            file.write(FAKE.format(place))
        os.chmod(file.name, mode)

    def start(self, *arguments, program=None):
        return subprocess.run([program or self.program, *arguments], text=True, capture_output=True,
                              env={**os.environ, "PATH": f"{self.path('other')}:/bin"}, timeout=300)

    def finds(self, place, **options):
        done = self.start("dedup", "put", "two words", "", "--", "-q", **options)
        self.assertEqual((done.returncode, done.stdout, done.stderr),
                         (7, f"{place}:\n<put>\n<two words>\n<>\n<-->\n<-q>\n", ""))

    def test_missing(self):
        for name in ("dedup", "flows"):
            for arguments in ([name], [name, "--help"], ["help", name]):
                done = self.start(*arguments)
                self.assertEqual(
                    (done.returncode, done.stdout, done.stderr),
                    (3, "", f"bloomery: bloomery-{name} is not installed: "
                            f"install the package bloomery-{name}\n"))
        done = self.start("dedub")
        self.assertEqual(done.returncode, 2)
        self.assertIn('did you mean "dedup"?', done.stderr)

    def test_completions(self):
        """Of a command that is not installed the name is completed, and nothing else."""
        script = pathlib.Path(__file__).resolve().parents[2] / "scripts/completions"
        done = subprocess.run([sys.executable, "-B", script, self.program, self.path("made")],
                              env={**os.environ, "PATH": "/bin"}, stderr=subprocess.PIPE, text=True,
                              timeout=300)
        self.assertEqual((done.returncode, done.stderr.count(" is not installed: ")), (0, 2))
        with open(self.path("made/bloomery.fish"), encoding="utf-8") as file:
            fish = file.read()
        for name in ("dedup", "flows"):
            self.assertIn(f" -a {name} ", fish)
            self.assertNotIn(f"__fish_seen_subcommand_from {name}", fish)
        self.assertIn("__fish_seen_subcommand_from seen", fish)

    def test_order(self):
        self.fake("other")
        self.finds("other")
        self.fake("bin", mode=0o644)  # not executable: not a program
        self.finds("other")
        self.fake("bin")
        self.finds("bin")
        os.symlink(self.program, self.path("link"))
        self.finds("bin", program=self.path("link"))

    def test_not_a_program(self):
        self.fake("bin")
        with open(self.path("bin/bloomery-dedup"), "w", encoding="utf-8") as file:
            file.write("\0")
        done = self.start("dedup")
        path = self.path("bin/bloomery-dedup")
        self.assertEqual((done.returncode, done.stderr),
                         (3, f"bloomery: {path}: Exec format error\n"))

    def test_signals(self):
        """It is the same process."""
        with open(self.path("bin/bloomery-flows"), "w", encoding="utf-8") as file:
            file.write('#!/bin/sh\necho $$\nkill -INT $$\n')
        os.chmod(file.name, 0o755)
        process = subprocess.Popen([self.program, "flows"], stdout=subprocess.PIPE, text=True)
        self.assertEqual(process.communicate(timeout=300)[0], f"{process.pid}\n")
        self.assertEqual(process.returncode, -signal.SIGINT)


main()
