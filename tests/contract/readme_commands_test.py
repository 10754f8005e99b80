"""readme_commands_test.py ROOT BUILD WORK: runs every command of the README, unchanged and in
order, in a fresh copy of the tree.

 - `make install` writes to the system. So the test runs in its own namespaces, in which changes of
   /usr/local and /etc are private and port 6379 is free. Without namespaces it is skipped; `make
   clean-room` always has them.
 - `make test` contains this test, so make only prints its commands here; `make clean-room` runs it.
 - `bloomery serve` gets its own terminal, as in the README, and runs until the end.
   `redis-cli` gets one too: the README's input is typed there, prompt by prompt.
 - The first build reuses what BUILD has compiled and linked with the same command
   (reuse_object.sh). To link the module takes 13 s of processor time.

readme_example.py compares the block in C, and what it prints.
"""

import fcntl
import json
import os
import pathlib
import pty
import re
import select
import shutil
import signal
import socket
import struct
import subprocess
import sys
import time

PATIENCE = 600  # seconds; only reached if something hangs
PROMPT = "127.0.0.1:6379> "


def fail(text):
    sys.exit(f"README.md: {text}")


# ---- a world of its own ------------------------------------------------------------------------


def has_namespaces():
    """Enters namespaces by running itself with unshare(1); true inside."""
    if os.environ.get("README_INSIDE"):
        return True
    unshare = ["unshare", "--mount", "--net"] + ([] if os.geteuid() == 0 else ["--map-root-user"])
    try:
        subprocess.run([*unshare, "true"], check=True, capture_output=True)
    except (OSError, subprocess.CalledProcessError):
        return False
    os.environ["README_INSIDE"] = "1"
    os.execvp(unshare[0], [*unshare, sys.executable, "-B", *sys.argv])


def loopback_up():
    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as s:
        up = struct.pack("16sh14x", b"lo", 0x41)  # IFF_UP | IFF_RUNNING
        fcntl.ioctl(s, 0x8914, up)  # SIOCSIFFLAGS


def mount(*words):
    return subprocess.run(["mount", *words], check=False).returncode == 0


def cover(layers):
    """Redirects writes to the system into memory; false if that is not allowed. /usr/local becomes
    a tmpfs with links to the existing files, because only root can write to an overlay; in /etc one
    file is enough."""
    before = layers / "local"
    layers.mkdir()
    if not mount("-t", "tmpfs", "tmpfs", layers):
        return False
    for directory in ("local", "etc", "work"):
        (layers / directory).mkdir()
    cache = pathlib.Path("/var/cache/ldconfig")
    options = f"lowerdir=/etc,upperdir={layers}/etc,workdir={layers}/work"
    return (mount("--rbind", "/usr/local", before) and
            mount("-t", "tmpfs", "tmpfs", "/usr/local") and
            subprocess.run(["cp", "-rsT", before, "/usr/local"], check=False).returncode == 0 and
            mount("-t", "overlay", "overlay", "-o", options, "/etc") and
            (not cache.exists() or mount("-t", "tmpfs", "tmpfs", cache)))


# ---- the copy ----------------------------------------------------------------------------------


def copy_tree(root, copy):
    """Copies what a clone would have: no build directories."""
    def left_out(directory, names):
        return [name for name in names if name in (".git", "__pycache__", "node_modules") or
                (pathlib.Path(directory) == root and name.startswith("build"))]
    shutil.copytree(root, copy, symlinks=True, ignore=left_out)


def commands_of(build):
    """What compiled the files of BUILD and, if Ninja did it, linked the shared ones.
    Programs contain names of directories."""
    for entry in json.loads((build / "compile_commands.json").read_text()):
        yield entry["command"]
    if (build / "build.ninja").exists():
        said = subprocess.run(["ninja", "-C", build, "-t", "commands"], check=True, text=True,
                              stdout=subprocess.PIPE).stdout
        yield from re.findall(r"^: && (\S+cc .* -shared .*) && :$", said, flags=re.M)


def reuse(root, build, work, copy):
    """The environment for a build of the copy that reuses objects and linked files of BUILD."""
    table = work / "objects"
    with open(table, "w", encoding="utf-8") as lines:
        for command in commands_of(build):
            words = re.sub(r"^\S*ccache | -Werror(?= )", "", " ".join(command.split()))
            made = re.search(r" -o (\S+) ", words)
            if made and "\\" not in words:
                lines.write(f"{words.replace(str(root), str(copy))}\t{build / made.group(1)}\n")
    launcher = str(root / "tests/contract/reuse_object.sh")
    return {"CMAKE_C_COMPILER_LAUNCHER": launcher, "CMAKE_C_LINKER_LAUNCHER": launcher,
            "REUSE_TABLE": str(table)}


# ---- shells and terminals ----------------------------------------------------------------------


class Shell:
    """One bash for all commands, so that variables and the directory persist."""

    def __init__(self, directory, environment):
        self.process = subprocess.Popen(["bash"], cwd=directory, env=environment, text=True,
                                        stdin=subprocess.PIPE, stdout=subprocess.PIPE,
                                        stderr=subprocess.STDOUT, start_new_session=True)

    def run(self, command):
        """Returns the output; ends the test on failure."""
        mark = "-- end of a command of the README:"
        self.process.stdin.write(f"{{ {command}\n}} </dev/null\nprintf '%s %s\\n' '{mark}' $?\n")
        self.process.stdin.flush()
        said = []
        for line in self.process.stdout:
            if mark in line:
                before, _, code = line.partition(mark)
                said.append(before)
                break
            said.append(line)
        else:
            fail(f"`{command}` ended the shell:\n{''.join(said)}")
        if int(code) != 0:
            fail(f"`{command}` ended with{code}{''.join(said)}")
        return "".join(said)

    def environment(self):
        return dict(line.split("=", 1) for line in self.run("env -0").split("\0") if "=" in line)


class Terminal:
    """A command in its own terminal."""

    def __init__(self, command, directory, environment):
        self.command, self.said = command, ""
        self.master, slave = pty.openpty()
        self.process = subprocess.Popen(["bash", "-c", command], cwd=directory,
                                        env={**environment, "TERM": "dumb"}, stdin=slave,
                                        stdout=slave, stderr=slave, start_new_session=True)
        os.close(slave)

    def wait_for(self, text):
        """Returns the output since the last call, up to and including `text`."""
        end = time.monotonic() + PATIENCE
        while text not in self.said:
            ready, _, _ = select.select([self.master], [], [], end - time.monotonic())
            try:
                more = os.read(self.master, 65536) if ready else b""
            except OSError:  # the other side has gone
                more = b""
            if not more:
                fail(f"`{self.command}` did not say {text!r}, but:\n{self.said}")
            self.said += more.decode().replace("\r\n", "\n")
        before, _, self.said = self.said.partition(text)
        return before + text

    def type(self, line):
        os.write(self.master, f"{line}\n".encode())

    def close(self):
        os.killpg(self.process.pid, signal.SIGTERM)
        self.process.wait()
        os.close(self.master)


# ---- the commands ------------------------------------------------------------------------------


class Reader:
    """Runs the README, block by block."""

    def __init__(self, copy, environment):
        self.copy = copy
        self.shell = Shell(copy, environment)
        self.open = []
        self.ran = 0

    def terminal(self, command):
        self.open.append(Terminal(command, self.copy, self.shell.environment()))
        return self.open[-1]

    def sh(self, block):
        for line in filter(None, block.splitlines()):
            self.ran += 1
            command = line.partition("#")[0].strip()
            if command == "make test":
                self.shell.run("make -n test >/dev/null")
            elif command.startswith("bloomery serve"):
                self.terminal(line).wait_for("Ctrl-C")
            elif command == "redis-cli":
                self.terminal(line).wait_for(PROMPT)
            else:
                print(f"$ {line}\n{self.shell.run(line)}", flush=True)

    def console(self, block):
        if block.startswith(PROMPT):
            self.redis_session(block)
            return
        for command, expected in re.findall(r"^\$ (.*)\n((?:(?!\$ ).*\n)*)", block, flags=re.M):
            self.ran += 1
            said = self.shell.run(command)
            if said != expected:
                fail(f"`{command}` prints\n{said}and not\n{expected}")

    def redis_session(self, block):
        said = PROMPT
        for line in re.findall(rf"^{PROMPT}(.*)$", block, flags=re.M):
            self.ran += 1
            self.open[-1].type(line)
            said += self.open[-1].wait_for(PROMPT)
        if said != block + PROMPT:
            fail(f"in redis-cli it is\n{said}")

    def cmake(self, block):
        """The lines that a user adds to a CMake project with one program."""
        self.ran += 1
        project = self.copy / "project"
        project.mkdir()
        (project / "CMakeLists.txt").write_text(
            "cmake_minimum_required(VERSION 3.25)\nproject(user C)\n"
            "add_executable(program ../examples/quickstart.c)\n" + block)
        self.shell.run("cmake -S project -B project && cmake --build project && project/program")

    def close(self):
        for terminal in reversed(self.open):
            terminal.close()
        os.killpg(self.shell.process.pid, signal.SIGKILL)
        self.shell.process.wait()


def main(root, build, work):
    if not has_namespaces():
        print("skipped: this system does not allow unshare --mount --net")
        return 77
    shutil.rmtree(work, ignore_errors=True)
    work.mkdir(parents=True)
    loopback_up()
    if not cover(work / "layers"):
        print("skipped: this system does not allow overlays in a mount namespace")
        return 77
    copy = work / "bloomery"
    copy_tree(root, copy)
    outside = {name: value for name, value in os.environ.items() if not re.match(
        r"MAKE|MFLAGS|DESTDIR|PREFIX|JOBS|PORT|CC$|CFLAGS|CMAKE_|PKG_CONFIG|LD_LIBRARY", name)}
    reader = Reader(copy, {**outside, **reuse(root, build, work, copy), "NO_INSTALL": "1"})
    try:
        for language, block in re.findall(r"^```(\w*)\n(.*?)^```$",
                                          (root / "README.md").read_text(), flags=re.M | re.S):
            if language in ("sh", "console", "cmake"):
                getattr(reader, language)(block)
            elif language != "c":
                fail(f"nothing tests a block of the language {language!r}")
    finally:
        reader.close()
    print(f"{reader.ran} commands of the README work")
    return 0


if __name__ == "__main__":
    sys.exit(main(*(pathlib.Path(argument).resolve() for argument in sys.argv[1:])))
