"""A headless Chromium that is told what to do over two pipes (the DevTools protocol), with nothing but Python's own library.

    with Browser() as browser:
        page = browser.open(path)
        page.value("document.title")
        page.troubles   # what its console, its scripts and its network said against it
"""

import base64
import json
import os
import pathlib
import select
import shutil
import subprocess
import tempfile
import time

NAMES = ("chromium", "chromium-headless-shell", "chromium-browser", "google-chrome")
PATIENCE = 60.0


def find_browser():
    return next((found for name in NAMES if (found := shutil.which(name))), None)


class Browser:
    def __init__(self, path=None):
        self.path = path or find_browser()
        self.folder = tempfile.mkdtemp(prefix="benchctl-browser-")
        self.messages, self.next, self.buffer = [], 0, b""

    def __enter__(self):
        to_browser, self.write_end = os.pipe()
        self.read_end, from_browser = os.pipe()

        def as_3_and_4():  # where --remote-debugging-pipe reads and writes
            high = [os.dup(to_browser), os.dup(from_browser)]
            os.dup2(high[0], 3)
            os.dup2(high[1], 4)

        command = [self.path, "--headless", "--remote-debugging-pipe", "--disable-gpu", "--no-first-run", "--hide-scrollbars",
                   "--disable-background-networking", "--disable-dev-shm-usage", f"--user-data-dir={self.folder}"]
        if os.geteuid() == 0:
            command.append("--no-sandbox")
        self.process = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
                                        preexec_fn=as_3_and_4, close_fds=False, env={**os.environ, "HOME": self.folder})
        os.close(to_browser)
        os.close(from_browser)
        return self

    def __exit__(self, *_):
        self.process.kill()
        self.process.wait()
        os.close(self.write_end)
        os.close(self.read_end)
        shutil.rmtree(self.folder, ignore_errors=True)

    def call(self, method, session=None, **params):
        self.next += 1
        message = {"id": self.next, "method": method, "params": params}
        if session:
            message["sessionId"] = session
        os.write(self.write_end, json.dumps(message).encode() + b"\0")
        number = self.next
        answer = self.wait(lambda one: one.get("id") == number)
        if "error" in answer:
            raise RuntimeError(f"{method}: {answer['error']}")
        return answer["result"]

    def wait(self, wanted, patience=PATIENCE):
        """The first message from now on that is wanted; the others are kept as events."""
        end = time.monotonic() + patience
        while True:
            for i, message in enumerate(self.messages):
                if wanted(message):
                    return self.messages.pop(i)
            ready, _, _ = select.select([self.read_end], [], [], max(0.0, end - time.monotonic()))
            if not ready:
                raise TimeoutError("the browser does not answer")
            data = os.read(self.read_end, 1 << 20)
            if not data:
                raise RuntimeError(f"the browser ended with {self.process.wait()}")
            *whole, self.buffer = (self.buffer + data).split(b"\0")
            self.messages += [json.loads(text) for text in whole]

    def open(self, path):
        target = self.call("Target.createTarget", url="about:blank")["targetId"]
        session = self.call("Target.attachToTarget", targetId=target, flatten=True)["sessionId"]
        page = Page(self, session)
        for domain in ("Page", "Runtime", "Log", "Network"):
            page.call(f"{domain}.enable")
        page.screen(1280, 900)
        page.call("Page.navigate", url=pathlib.Path(path).resolve().as_uri())
        self.wait(lambda one: one.get("sessionId") == session and one.get("method") == "Page.loadEventFired")
        return page


class Page:
    def __init__(self, browser, session):
        self.browser, self.session = browser, session

    def call(self, method, **params):
        return self.browser.call(method, session=self.session, **params)

    def value(self, expression):
        answer = self.call("Runtime.evaluate", expression=expression, returnByValue=True)
        if "exceptionDetails" in answer:
            raise RuntimeError(f"{expression}: {answer['exceptionDetails']}")
        return answer["result"].get("value")

    def click(self, selector):
        """As a finger does: at the middle of the element."""
        place = self.value(f"(e => {{ e.scrollIntoView({{block: 'center'}}); const r = e.getBoundingClientRect();"
                           f" return [r.x + r.width / 2, r.y + r.height / 2]; }})(document.querySelector({json.dumps(selector)}))")
        for kind in ("mousePressed", "mouseReleased"):
            self.call("Input.dispatchMouseEvent", type=kind, x=place[0], y=place[1], button="left", clickCount=1)

    def type(self, selector, text):
        self.click(selector)
        self.call("Input.insertText", text=text)

    def press(self, key):
        code = {"Tab": 9, "Enter": 13}[key]
        text = {"text": "\r"} if key == "Enter" else {}
        for kind in ("keyDown", "keyUp"):
            self.call("Input.dispatchKeyEvent", type=kind, key=key, code=key, windowsVirtualKeyCode=code, **(text if kind == "keyDown" else {}))

    def screen(self, width, height, dark=False):
        self.call("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.call("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": "dark" if dark else "light"}])

    def screenshot(self, path):
        pathlib.Path(path).write_bytes(base64.b64decode(self.call("Page.captureScreenshot", format="png")["data"]))

    def pdf_pages(self):
        data = base64.b64decode(self.call("Page.printToPDF")["data"])
        return data.count(b"/Type /Page\n") + data.count(b"/Type /Page ") or data.count(b"/Type/Page")

    @property
    def troubles(self):
        """Errors of scripts, errors in the console, requests to anywhere: all since the page was opened."""
        self.call("Runtime.evaluate", expression="0")  # what was said before this has arrived
        found = []
        for message in self.browser.messages:
            if message.get("sessionId") != self.session:
                continue
            method, params = message.get("method"), message.get("params", {})
            if method == "Runtime.exceptionThrown":
                details = params["exceptionDetails"]
                found.append(details.get("exception", {}).get("description", details.get("text")))
            elif method == "Runtime.consoleAPICalled" and params["type"] in ("error", "assert"):
                found.append(f"console: {params['args']}")
            elif method == "Log.entryAdded" and params["entry"]["level"] == "error":
                found.append(f"log: {params['entry']['text']}")
            elif method == "Network.requestWillBeSent" and not params["request"]["url"].startswith("file:"):
                found.append(f"request: {params['request']['url']}")
        return found
