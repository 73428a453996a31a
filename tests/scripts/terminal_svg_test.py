"""scripts/terminal_svg escapes text, keeps colours and columns, and removes other escape sequences."""

import pathlib
import subprocess
import sys
import unittest
import xml.etree.ElementTree as xml

SCRIPT = pathlib.Path(__file__).resolve().parents[2] / "scripts" / "terminal_svg"
TEXT = "{http://www.w3.org/2000/svg}text"


def drawn(text, *options):
    """[(x, text, attributes)] of what stands below the title bar."""
    done = subprocess.run([sys.executable, SCRIPT, *options], input=text.encode(), capture_output=True, check=True)
    root = xml.fromstring(done.stdout)
    lines = [element for element in root.iter(TEXT) if "textLength" in element.attrib]
    return [(float(line.get("x")), line.text, line.attrib) for line in lines]


class TerminalSvg(unittest.TestCase):
    def test_markup_is_escaped_in_text_and_title(self):
        self.assertEqual([text for _, text, _ in drawn('a < b & "c" > d\n', "--title", "<&>")], ['a < b & "c" > d'])

    def test_colours_and_bold_begin_and_end_where_the_text_says(self):
        (_, plain, first), (_, red, second), (_, after, third) = drawn("one \x1b[1;31mtwo\x1b[0m three\n")
        self.assertEqual((plain, red, after), ("one ", "two", " three"))
        self.assertNotIn("fill", first)
        self.assertEqual((second["fill"], second["font-weight"]), ("#f07178", "bold"))
        self.assertNotIn("fill", third)

    def test_a_coloured_part_stays_in_its_column(self):
        (first, _, _), (second, _, _) = drawn("1234\x1b[32m5\x1b[0m\n")
        self.assertAlmostEqual(second - first, 4 * 8.4)

    def test_other_escape_sequences_and_control_characters_are_removed(self):
        self.assertEqual([text for _, text, _ in drawn("\x1b]0;title\x07\x1b[2Ka\x08b\x1b[?25lc\n")], ["abc"])

    def test_a_long_line_is_cut_with_an_ellipsis(self):
        ((_, text, _),) = drawn("x" * 50 + "\n", "--width", "30")
        self.assertEqual(text, "x" * 29 + "…")

    def test_the_same_text_gives_the_same_drawing(self):
        self.assertEqual(drawn("a\nb\n"), drawn("a\nb\n"))


if __name__ == "__main__":
    unittest.main()
