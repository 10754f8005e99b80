"""Runs programs that measure, several at a time.

Programs run in sessions of their own, so that Ctrl-C reaches this program alone. It then interrupts
each of them once, and waits until they have stopped their servers.
"""

import dataclasses
import pathlib
import signal
import subprocess
import sys
import threading
import time

sys.path.append(str(pathlib.Path(__file__).resolve().parents[2] / "tables"))

from progress import Progress  # noqa: E402


@dataclasses.dataclass
class Task:
    name: str
    command: list[str]
    expected: float  # seconds
    seconds: float = 0.0
    error: str = ""  # the last lines of stderr if it failed
    notes: str = ""  # stderr if it did not: what had to be left out


class Runner:
    def __init__(self):
        self.children = set()
        self.stopped = False
        self.lock = threading.Lock()

    def start(self, command):
        with self.lock:
            if self.stopped:
                return None
            child = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
                                     stderr=subprocess.PIPE, text=True, errors="replace",
                                     start_new_session=True)
            self.children.add(child)
            return child

    def run(self, task, progress, at_once=1):
        begin = time.monotonic()
        try:
            child = self.start(task.command)
        except OSError as error:
            child, task.error = None, str(error)
        if not child and not task.error:
            return
        progress.begin(task.name, task.expected, at_once)
        if child:
            _, errors = child.communicate()
            with self.lock:
                self.children.discard(child)
            lines = errors.strip().splitlines()[-5:]
            if child.returncode != 0:
                task.error = "\n".join(lines or [f"exit code {child.returncode}"])
            else:
                task.notes = "\n".join(lines)
        task.seconds = time.monotonic() - begin
        if not self.stopped:
            progress.end(task.name, "FAILED" if task.error else "", task.error or task.notes)

    def stop(self, patience=20):
        """Interrupts what runs, and waits for it."""
        with self.lock:
            self.stopped = True
            children = list(self.children)
        for child in children:
            child.send_signal(signal.SIGINT)
        end = time.monotonic() + patience
        for child in children:
            try:
                child.wait(max(0.1, end - time.monotonic()))
            except subprocess.TimeoutExpired:
                child.kill()

    def run_all(self, tasks, workers, progress):
        """Runs tasks on several threads. Python's own thread waits, so that it sees Ctrl-C."""
        queue = list(tasks)

        def work():
            while True:
                with self.lock:
                    if not queue or self.stopped:
                        return
                    task = queue.pop(0)
                self.run(task, progress, workers)
        threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        for thread in threads:
            while thread.is_alive():
                thread.join(0.5)


def measure(side_by_side, alone, workers):
    """Runs the first tasks several at a time and the others, which measure times, one by one. On
    Ctrl-C, stops them all and raises KeyboardInterrupt."""
    runner = Runner()
    seconds = (sum(task.expected for task in side_by_side) / workers +
               sum(task.expected for task in alone))
    with Progress(seconds, len(side_by_side) + len(alone)) as progress:
        try:
            runner.run_all(sorted(side_by_side, key=lambda task: -task.expected), workers, progress)
            runner.run_all(alone, 1, progress)
        except KeyboardInterrupt:
            print("interrupted; stopping what runs", file=sys.stderr, flush=True)
            runner.stop()
            raise
