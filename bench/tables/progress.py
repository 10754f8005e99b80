"""Says which step runs, what is done, and how long the rest will take."""

import sys
import threading
import time


def clock(seconds):
    return f"{int(seconds) // 60}:{int(seconds) % 60:02}"


class Progress:
    """On a terminal one line that is kept up to date, elsewhere a line for each step."""

    def __init__(self, steps, out=sys.stderr):
        self.steps, self.out, self.terminal = steps, out, out.isatty()
        self.number, self.began, self.step_began = 0, time.monotonic(), 0.0
        self.over, self.ticker = threading.Event(), None

    def left(self):
        """By the seconds that the steps are known to take, corrected by what this machine needed so
        far."""
        now = time.monotonic()
        done = sum(step.seconds for step in self.steps[:self.number])
        speed = (self.step_began - self.began) / done if done else 1.0
        rest = sum(step.seconds for step in self.steps[self.number:])
        return max(0.0, rest * speed - (now - self.step_began))

    def line(self):
        step = self.steps[self.number]
        return (f"[{self.number + 1}/{len(self.steps)}] {step.title}; "
                f"{clock(time.monotonic() - self.began)} so far, about {clock(self.left())} left")

    def start(self, number):
        self.number, self.step_began = number, time.monotonic()
        if not self.terminal:
            print(self.line(), file=self.out, flush=True)
            return
        self.over.clear()
        self.ticker = threading.Thread(target=self.tick, daemon=True)
        self.ticker.start()

    def tick(self):
        while True:
            print(f"\r\033[K{self.line()}", end="", file=self.out, flush=True)
            if self.over.wait(1):
                return

    def stop(self, note=""):
        """The step has ended; a note is kept on the screen."""
        if self.ticker:
            self.over.set()
            self.ticker.join()
            print("\r\033[K", end="", file=self.out)
        step = self.steps[self.number]
        if note or self.terminal:
            print(f"{step.title}: {note or 'done'}, {clock(time.monotonic() - self.step_began)}",
                  file=self.out, flush=True)
