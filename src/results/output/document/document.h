// A report as one value: headings, paragraphs, notes, tables of typed cells and figures. A report
// is built once and rendered for the terminal or as an HTML page. Renderers escape all text, so
// cells take it as it is.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <variant>
#include <vector>

#include "results/output/document/text_style.h"

namespace bench {

/// What a cell's colour or badge says of it.
enum class Tone { none, good, bad, unsure, faint };

struct DocumentCell {
  std::string text;
  double sort = std::numeric_limits<double>::quiet_NaN();  // key of a number; NaN sorts by text
  Tone tone = Tone::none;
};

/// A cell sorted by this number; empty if not finite.
inline DocumentCell numeric(double value, const std::string& text) {
  return std::isfinite(value) ? DocumentCell{text, value} : DocumentCell{};
}

struct DocumentColumn {
  std::string title;
  bool number = true;  // right-aligned in the terminal
  int drop = 0;        // as Column::drop: a narrow terminal loses the highest first
};

/// Columns whose cells are all empty are omitted.
struct DocumentTable {
  std::vector<DocumentColumn> columns;
  std::vector<std::vector<DocumentCell>> rows = {};
};

struct Heading {
  std::string text;
};
struct Paragraph {
  std::string text;
};
/// Short statements, each on a line of its own.
struct Lines {
  std::vector<std::string> lines;
};
/// A warning or caveat.
struct Note {
  std::string text;
};
/// Only in pages: a terminal has the table next to it. `svg`: of plot.h; "" is no figure.
struct Figure {
  std::string svg, caption;
};

using Block = std::variant<Heading, Paragraph, Lines, Note, DocumentTable, Figure>;

struct Document {
  std::string title;  // of the page
  std::vector<Block> blocks = {};
};

/// Blocks are separated by empty lines, except a heading from what it heads. Ends with a newline.
std::string to_terminal(const Document& document, const TextStyle& style);

/// One self-contained page.
std::string to_page(const Document& document);

}  // namespace bench
