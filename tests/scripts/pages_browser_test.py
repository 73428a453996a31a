"""Pages of reports in a headless browser: clicked, searched, switched to dark, on a phone, in print; their console stays silent.

    pages_browser_test.py PAGE_SAMPLES [SCREENSHOTS]

Skipped (77) where there is no Chromium. With SCREENSHOTS, a folder, it also keeps what it saw.
"""

import pathlib
import subprocess
import sys
import tempfile

from browser import Browser, find_browser

FIRST_COLUMN = "[...document.querySelectorAll('table')[0].tBodies[0].rows].map(r => r.cells[0].textContent)"
NUMBERS = ("(i => [...document.querySelectorAll('table')[0].tBodies[0].rows]"
           ".map(r => r.cells[i].getAttribute('data-s')).filter(s => s !== null).map(Number))")
SHOWN = "[...document.querySelectorAll('table')[0].tBodies[0].rows].filter(r => !r.hidden).length"
COLUMNS = "[...document.querySelectorAll('table')[0].tHead.rows[0].cells].map(c => c.textContent)"
PAPER = "getComputedStyle(document.body).backgroundColor"


def head(column):
    return f"table thead th:nth-child({column + 1}) button"


def check_sorting(page):
    page.click(head(0))
    names = page.value(FIRST_COLUMN)
    assert names == sorted(names), f"not sorted by name: {names[:5]}"
    page.click(head(0))
    assert page.value(FIRST_COLUMN) == names[::-1], "the second click does not turn the order"
    column = page.value(COLUMNS).index("passed")
    page.click(head(column))
    numbers = page.value(f"{NUMBERS}({column})")
    assert len(set(numbers)) > 1 and numbers == sorted(numbers), f"not sorted by number: {numbers[:9]}"
    assert page.value(f"document.querySelectorAll('th[aria-sort]').length") == 1, "two columns say that they are sorted"


def check_search(page, hosts):
    assert page.value(SHOWN) == hosts
    page.type("input[type=search]", "node0002")
    assert page.value(SHOWN) == 1, f"{page.value(SHOWN)} rows are shown"
    assert page.value("document.querySelector('.find span').textContent") == f"1 of {hosts} rows"


def check_colours(page):
    page.screen(1200, 800)
    light = page.value(PAPER)
    page.screen(1200, 800, dark=True)
    dark = page.value(PAPER)
    assert light != dark, "a dark system has no dark page"
    page.screen(1200, 800)
    page.click("#look")
    assert page.value(PAPER) == dark, "the switch does not make it dark"
    page.click("#look")
    assert page.value(PAPER) == light, "the switch does not make it light again"


def check_phone(page):
    page.screen(390, 844)
    wide = page.value("document.documentElement.scrollWidth")
    assert wide <= 390, f"a phone of 390 pixels has to scroll a page of {wide}"
    page.screen(1200, 800)


def check_fleet(browser, folder, hosts):
    path = folder / "fleet.html"
    assert path.stat().st_size < 3_000_000, f"{path.stat().st_size} bytes"
    page = browser.open(path)
    check_sorting(page)
    check_search(page, hosts)
    check_colours(page)
    check_phone(page)
    assert page.value("document.querySelectorAll('svg.plot').length") >= 2
    assert not page.troubles, page.troubles


def check_scaling(browser, folder):
    page = browser.open(folder / "scaling.html")
    check_colours(page)
    check_phone(page)
    assert page.value("document.querySelectorAll('svg circle').length") == 7
    assert page.pdf_pages() >= 1
    assert not page.troubles, page.troubles


def check_ladder(browser, folder):
    page = browser.open(folder / "ladder.html")
    check_colours(page)
    check_phone(page)
    assert page.value("document.querySelectorAll('svg circle').length") == 7, "four so far and three of a step"
    page.click(head(page.value(COLUMNS).index("cumulative")))
    steps = page.value(FIRST_COLUMN)
    assert steps[-2:] == ["4", "1"], f"the last has gained most, the first, without a gain, goes last: {steps}"
    assert not page.troubles, page.troubles


def check_training(browser, folder):
    page = browser.open(folder / "training.html")
    check_colours(page)
    check_phone(page)
    words = page.value("document.body.textContent")
    for asked in ("Bottleneck analysis", "bottleneck", "evidence", "potential gain", "confirm by", "not evaluated"):
        assert asked in words, f"the page does not say: {asked}"
    # A bar's pieces fill it: parts of a step add up to 1.
    pieces = page.value("[...document.querySelectorAll('svg rect')].filter(r => r.querySelector('title'))"
                        ".map(r => [r.x.baseVal.value, r.width.baseVal.value])")
    assert len(pieces) == 8, pieces
    ends = [x + width for x, width in pieces]
    assert all(abs(end - x) < 0.11 for end, (x, _) in zip(ends, pieces[1:])), pieces
    assert abs(sum(width for _, width in pieces) - 620) < 1, pieces
    assert page.pdf_pages() >= 1
    assert not page.troubles, page.troubles


def check_hostile(browser, folder):
    page = browser.open(folder / "hostile.html")
    page.click(head(0))
    assert page.value("document.title").startswith("</script>"), page.value("document.title")
    assert page.value("document.querySelectorAll('img').length") == 0
    assert page.value("document.scripts.length") == 1
    assert not page.troubles, page.troubles


def check_that_this_test_can_fail(browser, folder):
    """A script that fails, an error in the console and a picture from elsewhere are each found."""
    whole = (folder / "scaling.html").read_text()
    spoilt = folder / "spoilt.html"
    for name, old, new in (
        ("script", "look();\n", "look(); missing();\n"),
        ("console", "look();\n", "look(); console.error('no');\n"),
        ("request", "<h2>", "<img src=\"https://example.invalid/x.png\"><h2>"),
    ):
        assert old in whole, name
        spoilt.write_text(whole.replace(old, new, 1))
        assert browser.open(spoilt).troubles, f"{name}: nothing was found"


def keep_screenshots(browser, folder, kept):
    for name, size, dark in (("fleet", (1200, 900), False), ("training", (1200, 700), False), ("scaling", (1200, 900), False),
                             ("ladder", (1200, 900), False),
                             ("fleet", (1200, 900), True), ("fleet", (390, 844), False)):
        page = browser.open(folder / f"{name}.html")
        page.screen(*size, dark=dark)
        look = "phone" if size[0] < 500 else "dark" if dark else "light"
        if name == "training":
            page.value("[...document.querySelectorAll('h2')].find(h => h.textContent === 'Bottleneck analysis').scrollIntoView()")
            page.screenshot(kept / "diagnosis.png")
        elif name == "fleet" and look == "light":
            page.screenshot(kept / "fleet-light.png")
            page.value("[...document.querySelectorAll('h2')].find(h => h.textContent === 'Map').scrollIntoView()")
            page.screenshot(kept / "fleet-map.png")
        else:
            page.screenshot(kept / f"{name}-{look}.png")


def main():
    if find_browser() is None:
        print("skipped: there is no chromium here (scripts/install --browser)")
        sys.exit(77)
    hosts = 1000
    with tempfile.TemporaryDirectory() as text:
        folder = pathlib.Path(text)
        subprocess.run([sys.argv[1], folder, str(hosts)], check=True)
        with Browser() as browser:
            check_fleet(browser, folder, hosts)
            check_scaling(browser, folder)
            check_ladder(browser, folder)
            check_training(browser, folder)
            check_hostile(browser, folder)
            check_that_this_test_can_fail(browser, folder)
        if len(sys.argv) > 2:
            kept = pathlib.Path(sys.argv[2])
            kept.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.argv[1], folder, "48"], check=True)
            with Browser() as browser:
                keep_screenshots(browser, folder, kept)


main()
