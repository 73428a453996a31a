// A report as one value: facts, text, lists, tables of typed cells and figures. It is built once
// and rendered for the terminal (terminal.h), as an HTML page (page.h) and as Markdown
// (markdown.h). Renderers escape all text, so everything here takes unescaped text.
#pragma once

#include <cmath>
#include <functional>
#include <limits>
#include <map>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "core/error.h"
#include "core/record.h"
#include "core/units.h"
#include "results/run/gates.h"

namespace bench {

struct TextStyle;

/// What a text's colour or badge says of it. `strong` is bold without a judgement.
enum class Tone { none, good, bad, unsure, faint, strong };

Tone tone_of(Verdict verdict);
Tone tone_of(Status outcome);
/// pass is good, what failed or was not measured is not.
Tone tone_of(ExitCode code);

struct TextSpan {
  std::string text;
  Tone tone = Tone::none;
};

/// A run of text whose parts may have tones.
struct StyledText {
  StyledText(std::string text) : spans{{std::move(text)}} {}
  StyledText(const char* text) : spans{{text}} {}
  StyledText(std::string text, Tone tone) : spans{{std::move(text), tone}} {}
  StyledText(std::vector<TextSpan> parts) : spans(std::move(parts)) {}
  std::vector<TextSpan> spans;
};

struct DocumentCell {
  std::string text = {};
  double sort = std::numeric_limits<double>::quiet_NaN();  // key of a number; NaN sorts by text
  Tone tone = Tone::none;
  std::string detail = {};  // explains the text: below it, smaller; in the terminal in parentheses
  std::string link = {};    // of pages: a relative address
  double bar = std::numeric_limits<double>::quiet_NaN();  // a bar filled to this share, no text
};

/// A cell sorted by this number; empty if not finite.
inline DocumentCell numeric(double value, const std::string& text) {
  return std::isfinite(value) ? DocumentCell{text, value} : DocumentCell{};
}
DocumentCell count_cell(std::size_t count);
/// "3.2 %"
DocumentCell share_cell(double share, int digits = 1);
/// "1.5 GB/s"
DocumentCell value_cell(double value, Unit unit);
/// "PASS", "FAIL" or "INCONCLUSIVE" as a badge.
DocumentCell verdict_cell(Verdict verdict);

/// Columns of this `drop` or more are shown in pages and Markdown only.
inline constexpr int kPageOnly = 100;

struct DocumentColumn {
  std::string title;
  bool number = true;  // right-aligned in the terminal
  int drop = 0;        // a narrow terminal loses the columns with the highest first; 0 stays
  bool once = false;   // the terminal shows equal texts that follow each other only once
};

/// Columns whose cells are all empty are omitted.
struct DocumentTable {
  std::vector<DocumentColumn> columns;
  std::vector<std::vector<DocumentCell>> rows = {};
  /// Lines beneath a row of this index; in pages a last column "notes".
  std::map<std::size_t, std::vector<StyledText>> notes = {};
  /// The terminal shows so many rows and counts the rest.
  std::size_t most = std::numeric_limits<std::size_t>::max();
};

/// Which columns have a cell with text.
std::vector<bool> columns_with_text(const DocumentTable& table);

/// Begins a section. A page shows a folded one as its title only, until it is clicked.
struct Heading {
  StyledText text;
  bool folded = false;
};
struct Paragraph {
  StyledText text;
};
/// Short statements, each on a line of its own.
struct Lines {
  std::vector<StyledText> lines;
};
/// Labels and what they stand for. A label "" continues the one before.
struct FactList {
  std::vector<std::pair<StyledText, StyledText>> rows;
};
/// A statement with the lines that explain it.
struct ListItem {
  StyledText head;
  std::vector<StyledText> details = {};
};
struct ItemList {
  std::vector<ListItem> items;
  /// The terminal shows so many items and counts the rest.
  std::size_t most = std::numeric_limits<std::size_t>::max();
  /// In the terminal an item is one unindented line, so that editors can jump to its FILE:LINE.
  bool positions = false;
};
/// What a report says first: "FAIL: 1 of 6 hosts failed", the main reasons, what to do. The first
/// one is the banner of the page.
struct Headline {
  std::string verdict;  // "FAIL", "PASS", "NOT JUDGED"
  Tone tone = Tone::none;
  std::string text;
  ItemList reasons = {};
  std::string next_step = {};
};
/// A number to be seen at a glance, with its label above it and what it means below it.
struct SummaryCard {
  std::string label, value, detail = {};
  Tone tone = Tone::none;
};
/// Not in the terminal, where the headline says it in words.
struct Cards {
  std::vector<SummaryCard> cards;
};
/// A warning or caveat.
struct Note {
  StyledText text;
  std::string label = "note";
};
/// Only in pages, unless it has a drawing for the terminal. `svg`: of plot.h; "" is no figure.
struct Figure {
  std::string svg, caption;
  std::function<std::string(const TextStyle&)> drawing = {};  // lines of characters
};

/// Empty lists, facts and tables are not shown.
using Block = std::variant<Heading, Paragraph, Lines, FactList, ItemList, Headline, Cards, Note,
                           DocumentTable, Figure>;

/// Where a block is shown: a terminal has less room, a page has more use.
enum class Audience { all, terminal, page };

struct Document {
  struct Part {
    Block block;
    Audience audience = Audience::all;
  };

  std::string title;        // of the page
  DocumentCell badge = {};  // next to the title of a page without a headline
  std::vector<Part> parts = {};
  /// Pages that this one belongs to, outermost first: title and relative address.
  std::vector<std::pair<std::string, std::string>> parents = {};

  Document& add(Block block, Audience audience = Audience::all) {
    parts.push_back({std::move(block), audience});
    return *this;
  }
};

/// The headline of a document, if it has one.
const Headline* headline_of(const Document& document);

/// A line each.
Lines lines_of(const std::vector<std::string>& texts);

}  // namespace bench
