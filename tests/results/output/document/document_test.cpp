#include "results/output/document/document.h"

#include "tests/support/catch.h"

namespace bench {
namespace {

Document report() {
  return {
      .title = "Report <1>",
      .blocks = {Paragraph{"two hosts & a switch"}, Heading{"Hosts"},
                 DocumentTable{{{"host", false}, {"rate"}, {"empty"}, {"verdict", false}},
                               {{{"n1"}, {"9.5", 9.5}, {}, {.text = "pass", .tone = Tone::good}},
                                {{"n<2>"}, {"10", 10.0}, {}, {.text = "fail", .tone = Tone::bad}}}},
                 Figure{"<svg></svg>", "Rates"}, Note{"n3 was not measured"}}};
}

bool has(const std::string& text, const std::string& part) {
  return text.find(part) != std::string::npos;
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

TEST_CASE("control characters in a document never reach the terminal") {
  const Document hostile{.title = "",
                         .blocks = {Heading{"a\x1b[31mb"}, Paragraph{"c\x07"}, Note{"d\x1b]0;x"},
                                    DocumentTable{{{"e\x1b", false}}, {{{"f\x1b[2J"}}}}}};
  const std::string text = to_terminal(hostile, {});
  CHECK_FALSE(has(text, "\x1b"));
  CHECK_FALSE(has(text, "\x07"));
}

TEST_CASE("tones become colours in the terminal and badges on a page") {
  const Document document{
      .title = "",
      .blocks = {DocumentTable{{{"verdict", false}}, {{{.text = "bad", .tone = Tone::bad}}}}}};
  CHECK(has(to_terminal(document, {.colour = true}), "\x1b[31m"));
  CHECK(has(to_page(document), "fail"));
}

}  // namespace
}  // namespace bench
