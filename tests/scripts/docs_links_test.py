"""Links of the README and the docs lead to files and headings that exist, and so do the paths in the source tree that they name."""

import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parents[2]
PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", ROOT / "SECURITY.md", *sorted((ROOT / "docs").glob("**/*.md")),
         *sorted((ROOT / "hosts").glob("*/README.md")), *sorted((ROOT / "src").glob("**/README.md"))]
LINK = re.compile(r"\]\(([^)\s]+)\)")
FENCE = re.compile(r"^```.*?^```", re.MULTILINE | re.DOTALL)
SOURCE = re.compile(r"`((?:src|tests|scripts)/[\w./-]+)`")
HEADING = re.compile(r"^#+ (.*)$", re.MULTILINE)


def anchor(heading):
    """The anchor that GitHub gives a heading."""
    plain = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", re.sub(r"[`*]", "", heading.strip()))
    return re.sub(r"[^\w\- ]", "", plain.lower()).replace(" ", "-")


def main():
    anchors = {page: {anchor(heading) for heading in HEADING.findall(FENCE.sub("", page.read_text()))} for page in PAGES}
    wrong, links = [], 0
    for page in PAGES:
        for link in LINK.findall(FENCE.sub("", page.read_text())):
            if re.match(r"[a-z]+:", link):
                continue
            links += 1
            path, _, fragment = link.partition("#")
            target = (page.parent / path).resolve() if path else page
            if not target.exists():
                wrong.append(f"{page.relative_to(ROOT)}: there is no {link}")
            elif fragment and target in anchors and fragment not in anchors[target]:
                wrong.append(f"{page.relative_to(ROOT)}: there is no heading {link}")
        for path in SOURCE.findall(page.read_text()):
            if not any((ROOT / (path + ending)).exists() for ending in ("", ".h", ".cpp")):
                wrong.append(f"{page.relative_to(ROOT)}: there is no {path}")
    print("\n".join(wrong) if wrong else f"{links} links")
    sys.exit(1 if wrong or links < 50 else 0)


if __name__ == "__main__":
    main()
