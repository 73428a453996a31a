#include "results/output/document/document.h"

#include "results/output/document/markdown.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/document/terminal.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

Document report() {
  Document document{.title = "Report <1>"};
  document.add(Paragraph{"two hosts & a switch"})
      .add(Heading{"Hosts"})
      .add(DocumentTable{{{"host", false}, {"rate"}, {"empty"}, {"verdict", false}},
                         {{{"n1"}, {"9.5", 9.5}, {}, {.text = "pass", .tone = Tone::good}},
                          {{"n<2>"}, {"10", 10.0}, {}, {.text = "fail", .tone = Tone::bad}}}})
      .add(Figure{"<svg></svg>", "Rates"})
      .add(Note{"n3 was not measured"});
  return document;
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
}

/// One of each block, all of this text.
Document of_text(const std::string& text) {
  Document document{.title = text, .badge = {.text = text, .tone = Tone::bad}};
  document.add(Heading{text})
      .add(Paragraph{text})
      .add(Lines{{text}})
      .add(FactList{{{text, text}}})
      .add(ItemList{{{text, {text}}}})
      .add(Note{text})
      .add(Figure{to_svg(Plot{text, text, text}), text})
      .add(DocumentTable{{{text}, {text}},
                         {{{.text = text, .detail = text, .link = text}, {text, 1.0}}},
                         {{0, {text}}}});
  return document;
}

TEST_CASE("a document renders its blocks in order for the terminal, without figures") {
  CHECK(to_terminal(report(), {}) ==
        "two hosts & a switch\n"
        "\n"
        "Hosts\n"
        "  host  rate  verdict\n"
        "  n1     9.5  pass\n"
        "  n<2>    10  fail\n"
        "\n"
        "note: n3 was not measured\n");
}

TEST_CASE("a page has every block, escapes all text, and keeps the sort keys of numbers") {
  const std::string page = to_page(report());
  CHECK(has(page, "Report &lt;1&gt;"));
  CHECK(has(page, "two hosts &amp; a switch"));
  CHECK(has(page, "n&lt;2&gt;"));
  CHECK_FALSE(has(page, "n<2>"));
  CHECK(has(page, "<svg></svg>"));
  CHECK(has(page, "10"));
  CHECK(has(page, "n3 was not measured"));
  CHECK_FALSE(has(page, ">empty<"));
}

TEST_CASE("Markdown has every block but figures, with tables whose cells cannot be left") {
  CHECK(to_markdown(report()) ==
        "# Report &lt;1\\>\n"
        "\n"
        "two hosts &amp; a switch\n"
        "\n"
        "## Hosts\n"
        "\n"
        "| host | rate | verdict |\n"
        "| --- | ---: | --- |\n"
        "| n1 | 9.5 | **pass** |\n"
        "| n&lt;2\\> | 10 | **fail** |\n"
        "\n"
        "> **note:** n3 was not measured\n");
  const std::string hostile = to_markdown(of_text("a|b\n# c [x](javascript:1) <b> `d` *e*"));
  CHECK_FALSE(has(hostile, "\n# c"));
  CHECK_FALSE(has(hostile, "a|b"));
  CHECK_FALSE(has(hostile, "[x]"));
  CHECK_FALSE(has(hostile, "<b>"));
}

TEST_CASE("control characters in a document never reach the terminal") {
  const std::string text = to_terminal(of_text("a\x1b[31mb\x07\x1b]0;x"), {});
  CHECK_FALSE(has(text, "\x1b"));
  CHECK_FALSE(has(text, "\x07"));
}

TEST_CASE("tones become colours in the terminal, badges on a page and bold in Markdown") {
  Document document;
  document.add(DocumentTable{{{"verdict", false}}, {{{.text = "bad", .tone = Tone::bad}}}});
  document.add(Paragraph{{{{"now "}, {"worse", Tone::unsure}, {" than before"}}}});
  const std::string text = to_terminal(document, {.colour = true});
  CHECK(has(text, "\x1b[31mbad\x1b[0m"));
  CHECK(has(text, "now \x1b[33mworse\x1b[0m than before"));
  CHECK(has(to_page(document), "<span class=\"v bad\">bad</span>"));
  CHECK(has(to_page(document), "now <span class=\"v unsure\">worse</span> than before"));
  CHECK(has(to_markdown(document), "now **worse** than before"));
}

TEST_CASE("long text of several tones wraps as a whole") {
  Document document;
  document.add(Paragraph{{{{"alpha beta "}, {"gamma delta", Tone::bad}, {" epsilon"}}}});
  CHECK(to_terminal(document, {.colour = true, .width = 20}) ==
        "alpha beta \x1b[31mgamma\ndelta\x1b[0m epsilon\n");
}

TEST_CASE("facts align their values, lists indent what explains an item") {
  Document document;
  document.add(FactList{{{"suite", "smoke"}, {"", "nightly"}}})
      .add(ItemList{{{"slow host", {"18 % worse", "-> check the fan"}}, {"other"}}, 1});
  CHECK(to_terminal(document, {}) ==
        "  suite     smoke\n"
        "            nightly\n"
        "\n"
        "  slow host\n"
        "      18 % worse\n"
        "      -> check the fan\n"
        "  and 1 more (see --verbose)\n");
  CHECK(has(to_page(document), "<li>slow host<br>18 % worse"));
  CHECK(has(to_page(document), "<li>other"));
}

TEST_CASE("a heading of a figure alone is no line of the terminal") {
  const Document document = Document{}
                                .add(Heading{"Map"}, Audience::page)
                                .add(Figure{"<svg></svg>", "hosts"})
                                .add(Heading{"Method"}, Audience::page)
                                .add(Paragraph{"by peers"}, Audience::page);
  CHECK(to_terminal(document, {}).empty());
  CHECK(to_terminal(document, {.verbose = true}) == "Method\nby peers\n");
}

TEST_CASE("items with positions begin their line and are not wrapped") {
  ItemList list{
      {{{{{"a file.txt:7:4: "}, {"error", Tone::bad}, {": wrong value"}}}, {"once more"}}}};
  list.positions = true;
  const Document document = Document{}.add(list);
  CHECK(to_terminal(document, {.width = 20}) ==
        "a file.txt:7:4: error: wrong value\n"
        "      once more\n");
  CHECK(to_terminal(document, {.colour = true}).starts_with("a file.txt:7:4: \033[31merror"));
}

TEST_CASE("a terminal omits columns and parts of pages, shows few rows, and notes beneath them") {
  Document document;
  document.add(DocumentTable{{{"host", false}, {"why", false, kPageOnly}},
                             {{{"n1"}, {"cold"}}, {{"n2"}, {"hot"}}},
                             {{0, {"checked"}}},
                             1});
  document.add(Paragraph{"all of it"}, Audience::page).add(Paragraph{"--all"}, Audience::terminal);
  CHECK(to_terminal(document, {}) ==
        "  host\n"
        "  n1\n"
        "    checked\n"
        "  and 1 more (see --verbose)\n"
        "\n"
        "--all\n");
  CHECK(to_terminal(document, {.verbose = true}) ==
        "  host  why\n"
        "  n1    cold\n"
        "    checked\n"
        "  n2    hot\n"
        "\n"
        "all of it\n"
        "\n"
        "--all\n");
  const std::string page = to_page(document);
  CHECK(has(page, "hot"));
  CHECK(has(page, "all of it"));
  CHECK_FALSE(has(page, "--all"));
  CHECK(has(page, "<td class=l><div>checked"));
  CHECK(has(to_markdown(document), "| n2 | hot |  |\n"));
}

TEST_CASE("the note of a row with too few cells stands in the column of notes") {
  Document document;
  document.add(DocumentTable{
      {{"host", false}, {"rate"}}, {{{"n1"}, {"9", 9.0}}, {{"n2"}}}, {{1, {"not measured"}}}});
  CHECK(has(to_page(document), "<tr><td>n2<td><td class=l><div>not measured"));
  CHECK(has(to_markdown(document), "| n2 |  | not measured |\n"));
}

TEST_CASE("notes follow one another without a gap, empty blocks are not shown") {
  Document document;
  document.add(DocumentTable{{{"host"}}}).add(ItemList{}).add(FactList{}).add(Lines{});
  document.add(Note{"one", "warning"}).add(Note{"two", "warning"});
  CHECK(to_terminal(document, {}) == "warning: one\nwarning: two\n");
  CHECK_FALSE(has(to_page(document), "<table"));
}

TEST_CASE("Markdown has no heading of figures only") {
  Document document;
  document.add(Heading{"Map"}).add(Figure{"<svg></svg>", "Hosts"});
  document.add(Heading{"Hosts"}).add(Paragraph{"two"});
  const std::string markdown = to_markdown(document);
  CHECK_FALSE(has(markdown, "## Map"));
  CHECK(has(markdown, "## Hosts\n\ntwo\n"));
}

}  // namespace
}  // namespace bench
