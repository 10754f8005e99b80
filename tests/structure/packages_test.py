"""scripts/packages on a fake system: what it asks, installs, and leaves behind."""

import os
import pathlib
import pty
import subprocess
import tempfile
import unittest

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "packages"
TOOLS = "sh sed mv tee chmod rm env cat grep kill".split()

# The fake system has a list of installed packages and logs all requests.
FAKES = {
    "dpkg-query": """
if [ "$1" = -L ]; then
    printf '%s\\n' /usr/bin/x /lib/systemd/system/$2.service /lib/systemd/system/$2@.service
    exit 0
fi
shift 3
for name; do
    if grep -qx "$name" "$FAKE/installed"; then
        printf '%s=installed ' "$name"
    elif [ "$name" = cmake ]; then
        printf '%s=config-files ' "$name"
    else
        failed=1
    fi
done
exit ${failed:-0}
""",
    "apt-get": """
echo "apt-get $*" >>"$FAKE/log"
[ "$DEBIAN_FRONTEND" = noninteractive ] || echo "interactive" >>"$FAKE/log"
case " $* " in
*" update "*) exit 0 ;;
esac
[ ! -e "$POLICY_RC_D" ] || "$POLICY_RC_D" || echo "policy $?" >>"$FAKE/log"
case ${APT_DOES:-} in
fail) exit 100 ;;
interrupt) kill -INT $PPID; exit 130 ;;
kill) kill -KILL $PPID ;;
esac
""",
    "uname": 'echo "${FAKE_MACHINE:-x86_64}"\n',
    "id": 'echo "${FAKE_UID:-0}"\n',
    "sudo": 'echo "sudo $1" >>"$FAKE/log"\nexec "$@"\n',
    "systemctl": 'echo "systemctl $*" >>"$FAKE/log"\n',
}
BUILD = """build-essential cmake ninja-build pkg-config libxxhash-dev libhiredis-dev libpcap-dev
liblmdb-dev libssl-dev libzstd-dev python3""".split()


def read_until_hangup(terminal):
    text = b""
    try:
        while piece := os.read(terminal, 65536):
            text += piece
    except OSError: # on Linux, the end of a terminal that nobody has open
        pass
    return text.decode()


class Packages(unittest.TestCase):
    def setUp(self):
        self.directory = tempfile.TemporaryDirectory()
        self.addCleanup(self.directory.cleanup)
        self.root = pathlib.Path(self.directory.name)
        self.bin = self.root / "bin"
        self.bin.mkdir()
        for name, text in FAKES.items():
            (self.bin / name).write_text("#!/bin/sh\n" + text)
            (self.bin / name).chmod(0o755)
        for name in TOOLS:
            for place in ("/usr/bin", "/bin"):
                if os.path.exists(f"{place}/{name}"):
                    (self.bin / name).symlink_to(f"{place}/{name}")
                    break
        self.policy = self.root / "policy-rc.d"
        self.log = self.root / "log"
        self.installed()

    def installed(self, *names):
        (self.root / "installed").write_text("".join(name + "\n" for name in names))

    def run_script(self, *targets, script=SCRIPT, stdin=subprocess.DEVNULL, stderr=subprocess.PIPE,
                   **environment):
        self.log.write_text("")
        done = subprocess.run([script, *targets], stdin=stdin, stdout=subprocess.PIPE, stderr=stderr,
                              text=True, env={
            "PATH": str(self.bin), "FAKE": str(self.root), "POLICY_RC_D": str(self.policy),
            **environment})
        self.lines = self.log.read_text().splitlines()
        return done

    def with_service(self):
        """The script, with a package that contains a service for the target all."""
        text = SCRIPT.read_text()
        changed = text.replace('install) echo "$build"', 'install) echo "$build fake-server!"')
        self.assertNotEqual(text, changed)
        script = self.root / "packages"
        script.write_text(changed)
        script.chmod(0o755)
        return script

    def test_nothing_missing(self):
        self.installed(*BUILD)
        done = self.run_script("all")
        self.assertEqual((done.returncode, done.stdout, done.stderr), (0, "", ""))
        self.assertEqual(self.lines, [])

    def test_only_the_missing_ones(self):
        self.installed(*(name for name in BUILD if name not in ("cmake", "pkg-config")))
        done = self.run_script("all")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(len(self.lines), 2, self.lines)
        self.assertTrue(self.lines[0].endswith("update -q"), self.lines)
        self.assertTrue(self.lines[1].endswith(
            "install -qy --no-install-recommends cmake pkg-config"), self.lines)
        for line in self.lines:
            self.assertIn(line, done.stdout)
        self.assertFalse(self.policy.exists())

    def test_targets_add_up(self):
        self.installed(*BUILD)
        self.run_script("all", "test", "test")
        self.assertTrue(self.lines[1].endswith(
            " --no-install-recommends libcmocka-dev python3-xxhash git abigail-tools"
            " redis-server redis-tools libsqlite3-dev python3-redis nodejs npm"
            " gcc-aarch64-linux-gnu libc6-dev-arm64-cross qemu-user-static"), self.lines)
        self.run_script("test", FAKE_MACHINE="aarch64")
        self.assertTrue(self.lines[1].endswith(" nodejs npm"), self.lines)

    def test_programs_from_elsewhere(self):
        """Debian's Node is installed only if there is none."""
        for has, wants in ((["node", "npm"], []), (["node"], ["npm"]), ([], ["nodejs", "npm"])):
            with self.subTest(has=has):
                for name in ("node", "npm"):
                    (self.bin / name).unlink(missing_ok=True)
                for name in has:
                    (self.bin / name).write_text("#!/bin/sh\n")
                    (self.bin / name).chmod(0o755)
                done = self.run_script("test", NO_INSTALL="1")
                self.assertEqual(done.returncode, 1)
                self.assertEqual([name for name in done.stderr.split() if name in
                                  ("nodejs", "npm", "node")], wants)

    def test_forbidden(self):
        done = self.run_script("all", NO_INSTALL="1")
        self.assertEqual(done.returncode, 1)
        for name in BUILD:
            self.assertIn(name, done.stderr)
        self.assertEqual(self.lines, [])

    def test_sudo_only_when_not_root(self):
        self.run_script("all", FAKE_UID="1000")
        self.assertEqual([line for line in self.lines if line.startswith("sudo")],
                         ["sudo env", "sudo env"])
        self.run_script("all", FAKE_UID="0")
        self.assertNotIn("sudo env", self.lines)

    def test_asks_before_sudo_at_a_terminal(self):
        for answer, installs in (("\n", True), ("y\n", True), ("n\n", False), ("\x04", False)):
            with self.subTest(answer=answer):
                ours, theirs = pty.openpty()
                os.write(ours, answer.encode())
                done = self.run_script("all", stdin=theirs, stderr=theirs, FAKE_UID="1000")
                os.close(theirs)
                asked = read_until_hangup(ours)
                os.close(ours)
                self.assertIn("sudo? [Y/n]", asked)
                self.assertEqual((done.returncode == 0, bool(self.lines)), (installs, installs))
                self.assertEqual("Nothing was installed." in asked, not installs)

    def test_says_what_it_did(self):
        self.installed(*BUILD[1:])
        done = self.run_script("all", script=self.with_service())
        self.assertEqual(done.stdout.splitlines()[-2:], [
            f"Installed: {BUILD[0]} fake-server",
            "Services among them, not started and not enabled for the next boot: fake-server"])

    def test_neither_root_nor_sudo(self):
        (self.bin / "sudo").unlink()
        done = self.run_script("all", FAKE_UID="1000")
        self.assertEqual(done.returncode, 1)
        self.assertIn("as root", done.stderr)
        self.assertEqual(self.lines, [])

    def test_failure_is_passed_on(self):
        self.assertNotEqual(self.run_script("all", APT_DOES="fail").returncode, 0)

    def test_not_debian(self):
        (self.bin / "dpkg-query").unlink()
        done = self.run_script("all")
        self.assertEqual(done.returncode, 0)
        self.assertIn("cmake", done.stderr)
        self.assertEqual(self.lines, [])

    def test_no_script_names_a_mirror(self):
        """Packages come from where the system's own do."""
        for script in filter(pathlib.Path.is_file, SCRIPT.parent.rglob("*")):
            self.assertNotIn("://", script.read_text(), script)

    def test_unknown_target(self):
        self.assertEqual(self.run_script("nonsense").returncode, 2)
        self.assertEqual(self.run_script().returncode, 2)

    def test_service_is_not_started(self):
        self.installed(*BUILD)
        done = self.run_script("all", script=self.with_service())
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertTrue(self.lines[1].endswith("fake-server"), self.lines)
        self.assertEqual(self.lines[2:], ["policy 101",
                                          "systemctl disable --quiet fake-server.service"])
        self.assertFalse(self.policy.exists())

    def test_policy_comes_back(self):
        for does, code in (("", 0), ("fail", 100), ("interrupt", 130)):
            for text in (None, "#!/bin/sh\nexit 104\n"):
                with self.subTest(does=does, text=text):
                    self.policy.unlink(missing_ok=True)
                    if text:
                        self.policy.write_text(text)
                        self.policy.chmod(0o755)
                    done = self.run_script("all", script=self.with_service(), APT_DOES=does)
                    self.assertEqual(done.returncode, code, done.stderr)
                    self.assertIn("policy 101", self.lines)
                    self.assertEqual(self.policy.read_text() if self.policy.exists() else None,
                                     text)
                    self.assertEqual([p.name for p in self.root.glob("policy-rc.d*")],
                                     ["policy-rc.d"] if text else [])

    def test_policy_left_by_a_killed_run(self):
        """It decides nothing, and the next run removes it."""
        for text, decides in ((None, 0), ("#!/bin/sh\nexit 104\n", 104)):
            with self.subTest(text=text):
                if text:
                    self.policy.write_text(text)
                    self.policy.chmod(0o755)
                self.run_script("all", script=self.with_service(), APT_DOES="kill")
                self.assertIn("policy 101", self.lines)
                self.assertNotEqual(self.policy.read_text(), text)
                self.assertEqual(subprocess.run([self.policy]).returncode, decides)
                self.run_script("all", script=self.with_service())
                self.assertEqual(self.policy.read_text() if self.policy.exists() else None, text)


unittest.main()
