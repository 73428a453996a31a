// A report as one HTML file that works offline, on a phone, in print and after years: style and
// script stand in it, nothing is loaded from anywhere, and all text is taken as text. Tables are
// sorted by a click on a column's name and searched by a field above them; colours follow the
// reader's system, or a switch. Without scripts it reads as it is.
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

namespace bench {

struct PageCell {
  std::string text;
  /// What the column is sorted by; a cell with it is a number and stands to the right. Without it
  /// the text counts.
  double sort = std::numeric_limits<double>::quiet_NaN();
  /// "pass", "fail", "inconclusive", "" and other verdicts in lower case: shown as a badge.
  std::string kind = {};
};

/// A number that the column is sorted by; an empty cell where it is not finite.
inline PageCell number_cell(double value, const std::string& text) {
  return std::isfinite(value) ? PageCell{text, value} : PageCell{};
}

/// Columns in which every cell is empty are left out, and cells beyond the columns.
struct PageTable {
  std::vector<std::string> columns;
  std::vector<std::vector<PageCell>> rows;
};

/// Parts stand in the order in which they were added.
class Page {
 public:
  explicit Page(std::string title);
  Page& heading(const std::string& text);
  Page& text(const std::string& text);
  /// A warning or a limit of what is said.
  Page& note(const std::string& text);
  Page& table(const PageTable& table);
  /// `svg`: of results/plots; nothing happens for "".
  Page& figure(const std::string& svg, const std::string& caption);
  std::string html() const;

 private:
  std::string title_, body_;
};

}  // namespace bench
