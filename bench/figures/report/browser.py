"""Looks at a page in a real browser: Chromium without a window, through its DevTools on a pipe."""

import base64
import contextlib
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

PHONE, DESKTOP = (390, 844, True), (1280, 900, False)  # width, height, whether it is a phone
LIGHT, DARK = "light", "dark"
MOST_PIXELS = 8000  # height of one screenshot
LONGEST = 10000  # pixels of the page on a phone, with its figures closed
PATIENCE = 60  # seconds for an answer

# What the page is like, as the browser sees it.
PROBE = """(() => {
  const box = (element) => {
    const {width, height, right} = element.getBoundingClientRect();
    return {width, height, right};
  };
  const visible = (svg) => [...svg.querySelectorAll("path, text, circle, rect, polygon")]
    .filter((part) => part.getBoundingClientRect().width > 0).length;
  const light = (colour) => {
    const [red, green, blue] = colour.match(/[\\d.]+/g).map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  };
  const contrast = (one, other) => {
    const [low, high] = [light(one), light(other)].sort((a, b) => a - b);
    return (high + 0.05) / (low + 0.05);
  };
  const faint = (section) => [...section.querySelectorAll(".plot text, .legend li, dt, dd, a, .badge")]
    .map((part) => [part, getComputedStyle(part)])
    .filter(([part, style]) => contrast(part.closest("svg") ? style.fill : style.color,
                                        getComputedStyle(section).backgroundColor) < 4.5)
    .map(([part]) => part.textContent);
  const root = document.documentElement;
  const height = root.scrollHeight;
  scrollTo({top: height, behavior: "instant"});
  const {top, bottom} = document.querySelector("nav").getBoundingClientRect();
  scrollTo({top: 0, behavior: "instant"});
  document.querySelectorAll("details.figure").forEach((figure) => { figure.open = true; });
  const ids = [...document.querySelectorAll("[id]")].map((element) => element.id);
  return JSON.stringify({
    width: root.clientWidth,
    scroll: root.scrollWidth,
    closed: height,
    height: root.scrollHeight,
    inSight: top >= 0 && bottom <= innerHeight,
    gaps: [...document.querySelectorAll(".plots")]  // of two columns
      .filter((grid) => grid.querySelectorAll(":scope > :not(.above)").length % 2)
      .map((grid) => grid.parentElement.id),
    background: getComputedStyle(document.body).backgroundColor,
    figures: [...document.querySelectorAll("details.figure")].map((section) => ({
      id: section.querySelector(".body").id, ...box(section), faint: faint(section),
      plots: [...section.querySelectorAll("svg.plot")].map(
        (svg) => ({...box(svg), parts: visible(svg), label: svg.getAttribute("aria-label")})),
    })),
    wide: [...document.querySelectorAll("body *:not(svg *, .wide *)")]
      .filter((element) => element.getBoundingClientRect().right > root.clientWidth + 0.5)
      .map((element) => element.tagName + "#" + element.id).slice(0, 5),
    twice: ids.filter((id, at) => ids.indexOf(id) !== at),
    dangling: [...document.querySelectorAll('a[href^="#"]')].map((a) => a.getAttribute("href"))
      .filter((href) => !document.getElementById(href.slice(1))),
    fetched: performance.getEntriesByType("resource").map((entry) => entry.name)
      .filter((name) => !name.startsWith("data:")),
  });
})()"""


class BrowserError(Exception):
    pass


class Browser:
    """Sends commands and collects events; messages on the pipe end with a zero byte."""

    def __init__(self):
        program = shutil.which("chromium") or shutil.which("chromium-browser")
        if not program:
            raise BrowserError("there is no chromium")
        self.profile = tempfile.TemporaryDirectory(prefix="bloomery-chromium-",
                                                   ignore_cleanup_errors=True)
        to_read, self.commands = os.pipe()
        self.answers, to_write = os.pipe()
        command = [program, "--headless=new", "--remote-debugging-pipe", "--disable-gpu",
                   "--disable-dev-shm-usage", "--no-first-run", "--disable-extensions",
                   "--disable-background-networking", "--hide-scrollbars",
                   f"--user-data-dir={self.profile.name}", "about:blank"]
        if os.geteuid() == 0:  # root cannot use the sandbox
            command.insert(1, "--no-sandbox")
        # Chromium reads commands from descriptor 3 and answers on 4.
        self.process = subprocess.Popen(
            ["sh", "-c", f'exec "$0" "$@" 3<&{to_read} 4>&{to_write}', *command],
            pass_fds=(to_read, to_write), stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL, start_new_session=True)
        os.close(to_read)
        os.close(to_write)
        self.buffer, self.number, self.events = b"", 0, []

    def close(self):
        with contextlib.suppress(OSError):
            os.close(self.commands)
        self.process.terminate()
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()
            self.process.wait()
        os.close(self.answers)
        self.profile.cleanup()

    def receive(self, end):
        while b"\0" not in self.buffer:
            ready, _, _ = select.select([self.answers], [], [], max(0, end - time.monotonic()))
            data = os.read(self.answers, 1 << 20) if ready else b""
            if not data:
                raise BrowserError("chromium does not answer")
            self.buffer += data
        message, _, self.buffer = self.buffer.partition(b"\0")
        return json.loads(message)

    def call(self, method, session=None, **parameters):
        self.number += 1
        message = {"id": self.number, "method": method, "params": parameters}
        if session:
            message["sessionId"] = session
        os.write(self.commands, json.dumps(message).encode() + b"\0")
        end = time.monotonic() + PATIENCE
        while True:
            answer = self.receive(end)
            if answer.get("id") == self.number:
                if "error" in answer:
                    raise BrowserError(f"{method}: {answer['error']['message']}")
                return answer["result"]
            self.events.append(answer)

    def wait_for(self, method):
        end = time.monotonic() + PATIENCE
        while not any(event.get("method") == method for event in self.events):
            self.events.append(self.receive(end))

    def complaints(self):
        """What the page has written to the console, and what it could not load."""
        for event in self.events:
            parameters = event.get("params", {})
            if event.get("method") == "Runtime.exceptionThrown":
                yield parameters["exceptionDetails"].get("text", "exception")
            elif event.get("method") == "Log.entryAdded":
                yield parameters["entry"]["text"]
            elif event.get("method") == "Runtime.consoleAPICalled":
                yield f"console.{parameters['type']}"


def open_page(browser, path, device, scheme):
    """A tab of this size and colour scheme with the page; its session."""
    width, height, phone = device
    target = browser.call("Target.createTarget", url="about:blank")["targetId"]
    session = browser.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
    browser.events.clear()
    for domain in ("Page", "Runtime", "Log"):
        browser.call(f"{domain}.enable", session)
    browser.call("Emulation.setDeviceMetricsOverride", session, width=width, height=height,
                 deviceScaleFactor=2 if phone else 1, mobile=phone)
    browser.call("Emulation.setEmulatedMedia", session,
                 features=[{"name": "prefers-color-scheme", "value": scheme}])
    browser.call("Page.navigate", session, url=pathlib.Path(path).resolve().as_uri())
    browser.wait_for("Page.loadEventFired")
    return session


def screenshots(browser, session, page, stem, device):
    """Writes STEM.png, STEM-2.png, … from top to bottom."""
    width, _, phone = device
    scale = 0.5 if phone else 1  # a phone has two pixels where the page counts one
    for number, top in enumerate(range(0, int(page["height"]), MOST_PIXELS), 1):
        height = min(MOST_PIXELS, page["height"] - top)
        shot = browser.call("Page.captureScreenshot", session, captureBeyondViewport=True, clip={
            "x": 0, "y": top, "width": width, "height": height, "scale": scale})
        name = f"{stem}.png" if number == 1 else f"{stem}-{number}.png"
        pathlib.Path(name).write_bytes(base64.b64decode(shot["data"]))


def find_problems(page, names, complaints, scheme):
    """names: {figure: how many plots}"""
    yield from complaints
    if page["scroll"] > page["width"]:
        yield f"it scrolls sideways: {page['scroll']} of {page['width']} pixels {page['wide']}"
    for text in page["wide"]:
        yield f"{text} leaves the page"
    if (scheme == DARK) != (sum(map(int, page["background"][4:-1].split(","))) < 200):
        yield f"the background in {scheme} mode is {page['background']}"
    if page["width"] == PHONE[0] and page["closed"] > LONGEST:
        yield f"it is {page['closed']} pixels long, more than {LONGEST}"
    if not page["inSight"]:
        yield "the list of contents does not stay in sight"
    for kind in ("twice", "dangling", "fetched", "gaps"):
        yield from (f"{kind}: {what}" for what in page[kind])
    shown = {figure["id"]: figure for figure in page["figures"]}
    yield from (f"{name} is missing" for name in names if name not in shown)
    for name, count in names.items():
        plots = shown.get(name, {"plots": []})["plots"]
        if name in shown and len(plots) != count:
            yield f"{name} has {len(plots)} plots, not {count}"
        for text in shown.get(name, {}).get("faint", []):
            yield f"{name}: hard to read in {scheme} mode: {text!r}"
        for plot in plots:
            if plot["width"] < 200 or plot["height"] < 150 or plot["parts"] < 10 or not plot["label"]:
                yield f"{name}: a plot is not drawn: {plot}"


def look_at(path, names, stem):
    """Opens the page on a phone and on a desktop, in light and in dark mode; returns problems, and
    keeps screenshots STEM-phone-light.png and so on."""
    problems = []
    for old in pathlib.Path(stem).parent.glob(pathlib.Path(stem).name + "-*.png"):
        old.unlink()
    with contextlib.closing(Browser()) as browser:
        for kind, device in (("phone", PHONE), ("desktop", DESKTOP)):
            for scheme in (LIGHT, DARK):
                session = open_page(browser, path, device, scheme)
                answer = browser.call("Runtime.evaluate", session, expression=PROBE)
                if "value" not in answer["result"]:
                    raise BrowserError(f"the page cannot be inspected: {answer}")
                page = json.loads(answer["result"]["value"])
                screenshots(browser, session, page, f"{stem}-{kind}-{scheme}", device)
                found = find_problems(page, names, list(browser.complaints()), scheme)
                problems += [f"{kind}, {scheme}: {problem}" for problem in found]
    return problems
