"""Pages of reports in a headless browser: clicked, searched, switched to dark, on a phone, in print; their console stays silent.

    pages_browser_test.py PAGE_SAMPLES [SCREENSHOTS]

Skipped (77) where there is no Chromium. With SCREENSHOTS, a folder, it also keeps what it saw.
"""

import json
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


WIDTHS = (1280, 768, 390)
# What stands out to the right of the window or of its own box. Drawings scroll by themselves on a phone.
CUT_OFF = """(() => {
  const width = document.documentElement.clientWidth, found = [];
  if (document.documentElement.scrollWidth > width) found.push('the page is ' + document.documentElement.scrollWidth + ' wide');
  for (const one of document.querySelectorAll('h1,h2,p,li,dt,dd,th,td,td *,.card,summary,nav a')) {
    const box = one.getBoundingClientRect();
    if (box.width === 0 || one.closest('.fig')) continue;
    if (box.right > width + 1 || box.left < -1) found.push(one.tagName + ' at ' + Math.round(box.right) + ': ' + one.textContent.slice(0, 60));
    if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
      found.push(one.tagName + ' holds ' + one.scrollWidth + ' in ' + one.clientWidth + ': ' + one.textContent.slice(0, 60));
  }
  return found.slice(0, 5);
})()"""
# Text whose contrast to what lies behind it is below AA (4.5; 3 for large text), by the formula of WCAG 2.
LOW_CONTRAST = """(() => {
  const parse = text => (text.match(/[0-9.]+/g) || []).map(Number);
  const linear = c => (c /= 255) <= 0.03928 ? c / 12.92 : Math.pow((c + 0.055) / 1.055, 2.4);
  const light = c => 0.2126 * linear(c[0]) + 0.7152 * linear(c[1]) + 0.0722 * linear(c[2]);
  const behind = one => {
    for (; one; one = one.parentElement) {
      const c = parse(getComputedStyle(one).backgroundColor);
      if (c.length === 3 || c[3] > 0) return c;
    }
    return [255, 255, 255];
  };
  const found = new Set(), texts = document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT);
  while (texts.nextNode()) {
    const one = texts.currentNode.parentElement;
    if (!texts.currentNode.textContent.trim() || ['SCRIPT', 'STYLE', 'title'].includes(one.tagName)) continue;
    const style = getComputedStyle(one), drawn = one.closest('svg') !== null;
    const a = light(parse(drawn ? style.fill : style.color)), b = light(behind(one));
    const ratio = (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05), size = parseFloat(style.fontSize);
    const needed = size >= 24 || (size >= 18.66 && Number(style.fontWeight) >= 700) ? 3 : 4.5;
    if (ratio < needed) found.add(ratio.toFixed(1) + ' of ' + one.tagName + '.' + one.className + ': ' + texts.currentNode.textContent.slice(0, 40));
  }
  return [...found].slice(0, 5);
})()"""


def check_looks(browser, path):
    """Nothing cut off at any width, folded or not, and every text readable in light and dark."""
    page = browser.open(path)
    page.value("document.querySelectorAll('details').forEach(one => one.open = true)")
    assert page.value("(h => !h || getComputedStyle(h).borderLeftWidth === '6px')(document.querySelector('.headline'))"), path.name
    for width in WIDTHS:
        page.screen(width, 900)
        found = page.value(CUT_OFF)
        assert not found, f"{path.name} at {width} pixels: {found}"
    for dark in (False, True):
        page.screen(WIDTHS[0], 900, dark=dark)
        found = page.value(LOW_CONTRAST)
        assert not found, f"{path.name}, {'dark' if dark else 'light'}: {found}"
    assert not page.troubles, f"{path.name}: {page.troubles}"


def check_keyboard(browser, folder):
    """With the Tab key to a column's title, and Enter sorts by it; each stop on the way shows where it is."""
    page = browser.open(folder / "fleet.html")
    page.screen(1280, 900)
    for _ in range(200):
        page.press("Tab")
        place = page.value("(e => [e.tagName, e.closest('th') !== null, getComputedStyle(e).outlineStyle])(document.activeElement)")
        assert place[2] != "none", f"the focus on {place[0]} is not shown"
        if place[1]:
            break
    else:
        raise AssertionError("no column's title can be reached by the keyboard")
    page.press("Enter")
    assert page.value("document.activeElement.closest('th').getAttribute('aria-sort')") == "ascending"


def check_fleet(browser, folder, hosts):
    path = folder / "fleet.html"
    assert path.stat().st_size < 3_000_000, f"{path.stat().st_size} bytes"
    page = browser.open(path)
    check_sorting(page)
    check_search(page, hosts)
    check_colours(page)
    assert page.value("document.querySelectorAll('svg.plot').length") >= 2
    assert not page.troubles, page.troubles


def check_scaling(browser, folder):
    page = browser.open(folder / "scaling.html")
    check_colours(page)
    assert page.value("document.querySelectorAll('svg circle').length") == 7
    assert page.pdf_pages() >= 1
    assert not page.troubles, page.troubles


def check_ladder(browser, folder):
    page = browser.open(folder / "ladder.html")
    check_colours(page)
    assert page.value("document.querySelectorAll('svg circle').length") == 7, "four so far and three of a step"
    page.click(head(page.value(COLUMNS).index("cumulative")))
    steps = page.value(FIRST_COLUMN)
    assert steps[-2:] == ["4", "1"], f"the last has gained most, the first, without a gain, goes last: {steps}"
    assert not page.troubles, page.troubles


def check_training(browser, folder):
    page = browser.open(folder / "training.html")
    check_colours(page)
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
    """A script that fails, an error in the console, a picture from elsewhere, a wide column and faint text are each found."""
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
    page = browser.open(folder / "acceptance.html")
    page.screen(WIDTHS[0], 900)
    assert not page.value(CUT_OFF) and not page.value(LOW_CONTRAST)
    page.value("(c => { c.style.whiteSpace = 'nowrap'; c.textContent = 'x'.repeat(300); })(document.querySelector('td'))")
    assert page.value(CUT_OFF), "a wide column was not found"
    page.value("document.querySelector('td').style.color = '#999'")
    assert page.value(LOW_CONTRAST), "faint text was not found"


def make_site(benchctl, folder):
    """Pages of a database with two nights and two runs of this host. What they say of it is not judged here."""
    suite = folder / "site.json"
    suite.write_text(json.dumps({"suite": "site", "measure": {"max_time_s": 0.1}, "cases": [{"name": "one", "probe": "null"}]}))
    for words in (("nightly", "--suite", suite), ("nightly", "--suite", suite), ("run", suite), ("run", suite),
                  ("report", "site", folder / "site")):
        done = subprocess.run([benchctl, *words, "--db", folder / "results.sqlite"], capture_output=True, text=True)
        assert done.returncode in (0, 1, 3), f"{words}: {done.stderr}"
    return sorted((folder / "site").rglob("*.html"))


def check_site(browser, pages):
    kinds = {path.parent.name for path in pages}
    assert {"site", "runs", "nights", "hosts"} <= kinds, f"the site lacks pages: {kinds}"
    for path in pages:
        check_looks(browser, path)
        for link in browser.open(path).value("[...document.querySelectorAll('a[href]')].map(a => a.getAttribute('href'))"):
            assert link.startswith("#") or (path.parent / link).is_file(), f"{path.name} links to {link}, which is not there"


def keep_screenshots(browser, folder, kept):
    """Pages of the docs whose values are synthetic: a fit over many ranks, and a map of many hosts."""
    page = browser.open(folder / "scaling.html")
    page.screen(1200, 900)
    page.screenshot(kept / "scaling-light.png")
    page = browser.open(folder / "fleet.html")
    page.screen(1200, 900)
    page.value("[...document.querySelectorAll('h2')].find(h => h.textContent === 'Map').scrollIntoView()")
    page.screenshot(kept / "fleet-map.png")


def why_it_does_not_start():
    """As in a container without what its processes need; "" if it starts."""
    try:
        with Browser() as browser:
            browser.call("Browser.getVersion")
    except (OSError, RuntimeError, TimeoutError) as error:
        return str(error)
    return ""


def main():
    if find_browser() is None:
        print("skipped: there is no chromium here (scripts/install --browser)")
        sys.exit(77)
    if trouble := why_it_does_not_start():
        print(f"skipped: {find_browser()} does not start here: {trouble}")
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
            for path in sorted(folder.glob("*.html")):
                check_looks(browser, path)
            check_site(browser, make_site(pathlib.Path(sys.argv[1]).with_name("benchctl"), folder))
            check_keyboard(browser, folder)
            check_that_this_test_can_fail(browser, folder)
        if len(sys.argv) > 2:
            kept = pathlib.Path(sys.argv[2])
            kept.mkdir(parents=True, exist_ok=True)
            subprocess.run([sys.argv[1], folder, "48"], check=True)
            with Browser() as browser:
                keep_screenshots(browser, folder, kept)


main()
