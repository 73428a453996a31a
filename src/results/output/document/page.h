// A report as one self-contained HTML file that works offline, on phones and in print: style and
// script are embedded, nothing is loaded, and all text is escaped. Tables sort by clicking a column
// and have a search field; colours follow the system or a switch. Readable without scripts.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace bench {

struct PageCell {
  std::string text;
  /// Sort key of a number cell, right-aligned. Without it cells sort by text.
  double sort = std::numeric_limits<double>::quiet_NaN();
  /// "pass", "fail", "inconclusive", "" and other verdicts in lower case: shown as a badge.
  std::string kind = {};
};

/// A cell sorted by this number; empty if not finite.
inline PageCell number_cell(double value, const std::string& text) {
  return std::isfinite(value) ? PageCell{text, value} : PageCell{};
}

/// Columns whose cells are all empty are omitted, as are cells beyond the columns.
struct PageTable {
  std::vector<std::string> columns;
  std::vector<std::vector<PageCell>> rows;
};

/// Elements appear in the order they were added.
class Page {
 public:
  explicit Page(std::string title);
  Page& heading(const std::string& text);
  Page& text(const std::string& text);
  /// A warning or caveat.
  Page& note(const std::string& text);
  Page& table(const PageTable& table);
  /// `svg`: of results/plots; nothing happens for "".
  Page& figure(const std::string& svg, const std::string& caption);
  std::string html() const;

 private:
  std::string title_, body_;
};

}  // namespace bench
