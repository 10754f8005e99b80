"""Says what runs, what is done, and how long the rest will take."""

import shutil
import sys
import threading
import time


def clock_text(seconds):
    minutes, seconds = divmod(int(seconds + 0.5), 60)
    return f"{minutes} min {seconds:02d} s" if minutes else f"{seconds} s"


class Progress:
    """A line for each task that has ended, and on a terminal one for what runs, rewritten every
    second. A context; `work` is the seconds that `count` tasks are expected to take together."""

    def __init__(self, work, count, out=None):
        self.work, self.count, self.out = work or 1, count, out or sys.stdout
        self.terminal = self.out.isatty()
        self.began, self.ended, self.spent, self.running = time.monotonic(), 0, 0.0, {}
        self.lock, self.over = threading.Lock(), threading.Event()
        self.ticker = threading.Thread(target=self.tick, daemon=True)

    def __enter__(self):
        if self.terminal:
            self.ticker.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        if self.terminal:
            self.ticker.join()
            self.write("")

    def write(self, text, end=""):
        print(("\r\033[K" if self.terminal else "") + text, end=end, file=self.out, flush=True)

    def left(self):
        """By what was expected of the tasks, corrected by what they took so far."""
        now = time.monotonic()
        done = self.spent + sum(min(now - since, 0.95 * expected) / at_once
                                for since, expected, at_once in self.running.values())
        pace = (now - self.began) / done if done > 0.02 * self.work else 1
        return max(0.0, self.work - done) * pace

    def tick(self):
        while not self.over.wait(1):
            with self.lock:
                text = (f"[{self.ended}/{self.count}] about {clock_text(self.left())} left: "
                        f"{', '.join(self.running)}")
                self.write(text[:shutil.get_terminal_size().columns - 1])

    def begin(self, name, expected, at_once=1):
        """One of as many tasks as run at once."""
        with self.lock:
            self.running[name] = time.monotonic(), expected, at_once

    def end(self, name, state="", notes=""):
        """Without a state: how long it took."""
        with self.lock:
            since, expected, at_once = self.running.pop(name)
            self.ended += 1
            self.spent += expected / at_once
            state = state or f"{time.monotonic() - since:.1f} s"
            self.write("\n    ".join([f"[{self.ended}/{self.count}] {name}: {state}",
                                      *notes.splitlines()]), end="\n")
