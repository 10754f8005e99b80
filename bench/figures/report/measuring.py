"""Runs programs that measure, several at a time, and shows how far it is.

Programs run in sessions of their own, so that Ctrl-C reaches this program alone. It then interrupts
each of them once, and waits until they have stopped their servers.
"""

import dataclasses
import shutil
import signal
import subprocess
import sys
import threading
import time


@dataclasses.dataclass
class Task:
    name: str
    command: list[str]
    expected: float  # seconds
    seconds: float = 0.0
    error: str = ""  # the last lines of stderr if it failed
    notes: str = ""  # stderr if it did not: what had to be left out


def clock_text(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


class Progress:
    """On a terminal a line that is rewritten, elsewhere a line per task that has ended."""

    def __init__(self, tasks, workers):
        self.total = sum(task.expected for task in tasks) or 1
        self.count, self.workers = len(tasks), workers
        self.ended, self.spent, self.running = 0, 0.0, {}
        self.terminal = sys.stdout.isatty()
        self.lock = threading.Lock()

    def done(self):
        """The share of the work, by what is expected of each task."""
        now = time.monotonic()
        running = sum(min(now - since, 0.95 * task.expected)
                      for task, since in list(self.running.values()))
        return min((self.spent + running) / self.total, 1.0)

    def left(self, pace):
        return clock_text((1 - self.done()) * self.total * pace)

    def show(self, pace):
        if not self.terminal:
            return
        with self.lock:
            names = ", ".join(self.running)
            text = (f"[{100 * self.done():3.0f} %] {self.ended} of {self.count}, about "
                    f"{self.left(pace)} left: {names}")
            print("\r\033[K" + text[:shutil.get_terminal_size().columns - 1], end="", flush=True)

    def begin(self, task):
        with self.lock:
            self.running[task.name] = task, time.monotonic()

    def end(self, task):
        with self.lock:
            self.running.pop(task.name)
            self.ended += 1
            self.spent += task.expected
            start = "\r\033[K" if self.terminal else ""
            state = f"{task.seconds:6.1f} s" if not task.error else "  FAILED"
            print(f"{start}[{100 * self.done():3.0f} %] {task.name:<12} {state}", flush=True)
            for line in (task.error or task.notes).splitlines():
                print("    " + line, flush=True)

    def clear(self):
        if self.terminal:
            print("\r\033[K", end="", flush=True)


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

    def run(self, task, progress):
        begin = time.monotonic()
        try:
            child = self.start(task.command)
        except OSError as error:
            child, task.error = None, str(error)
        if not child and not task.error:
            return
        progress.begin(task)
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
            progress.end(task)

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

    def run_all(self, tasks, workers, progress, pace):
        """Runs tasks on several threads; the caller's thread shows the progress."""
        queue = list(tasks)

        def work():
            while True:
                with self.lock:
                    if not queue or self.stopped:
                        return
                    task = queue.pop(0)
                self.run(task, progress)
        threads = [threading.Thread(target=work, daemon=True) for _ in range(workers)]
        for thread in threads:
            thread.start()
        while any(thread.is_alive() for thread in threads):
            progress.show(pace)
            threads[0].join(0.5)
            if not threads[0].is_alive():
                threads.append(threads.pop(0))
                time.sleep(0.1)


def measure(side_by_side, alone, workers):
    """Runs the first tasks several at a time and the others, which measure times, one by one. On
    Ctrl-C, stops them all and raises KeyboardInterrupt."""
    runner, progress = Runner(), Progress([*side_by_side, *alone], workers)
    shared = sum(task.expected for task in side_by_side)
    longest = max((task.expected for task in side_by_side), default=0)
    pace = (max(shared / workers, longest) + progress.total - shared) / progress.total
    try:
        runner.run_all(sorted(side_by_side, key=lambda task: -task.expected), workers, progress, pace)
        runner.run_all(alone, 1, progress, pace)
    except KeyboardInterrupt:
        progress.clear()
        print("interrupted; stopping what runs", file=sys.stderr, flush=True)
        runner.stop()
        raise
    finally:
        progress.clear()
