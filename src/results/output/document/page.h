// A report as one self-contained HTML file that works offline, on phones and in print: style and
// script are embedded, nothing is loaded, and all text is escaped. Tables sort by clicking a column
// and have a search field; colours follow the system or a switch. Readable without scripts.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "results/output/document/document.h"

namespace bench {

struct PageCell {
  std::string text;
  /// Sort key of a number cell, right-aligned. Without it cells sort by text.
  double sort = std::numeric_limits<double>::quiet_NaN();
  /// "pass", "fail", "inconclusive", "" and other verdicts in lower case: shown as a badge.
  std::string kind = {};
};

/// One self-contained page.
std::string to_page(const Document& document);

/// A cell sorted by this number; empty if not finite.
inline PageCell number_cell(double value, const std::string& text) {
  return std::isfinite(value) ? PageCell{text, value} : PageCell{};
}

/// Columns whose cells are all empty are omitted, as are cells beyond the columns.
struct PageTable {
  std::vector<std::string> columns;
  std::vector<std::vector<PageCell>> rows;
};

/// Being replaced by Document: adds its blocks.
class Page {
 public:
  explicit Page(std::string title) : document_{.title = std::move(title)} {}
  Page& heading(const std::string& text);
  Page& text(const std::string& text);
  Page& note(const std::string& text);
  Page& table(const PageTable& table);
  Page& figure(const std::string& svg, const std::string& caption);
  std::string html() const;

 private:
  Document document_;
};

}  // namespace bench
