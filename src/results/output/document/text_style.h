// Terminal output of reports: colours, width, and tables whose columns fit their content. Widths
// are in code points; external text must have gone through printable().
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace bench {

struct TextStyle {
  bool colour = false;
  bool unicode = true;
  int width = 100;       // maximum number of columns, where possible
  bool verbose = false;  // all rows of tables and lists, and the parts of a page that are text
};

/// Columns of the terminal behind a file descriptor; 0 if it is none, or does not say.
std::size_t terminal_columns(int fd);

enum class Paint { none, bold, dim, green, yellow, red };

std::string paint(std::string_view text, Paint paint, const TextStyle& style);

std::size_t code_points(std::string_view text);

/// Breaks at spaces; continuation lines are indented by `indent` spaces. `start` is the column of
/// the first line.
std::string wrap(std::string_view text, std::size_t start, std::size_t indent,
                 const TextStyle& style);

/// A bar of `cells` cells, filled to `share` (0..1).
std::string bar(double share, std::size_t cells, const TextStyle& style);

struct Column {
  std::string title;
  bool right = true;  // numbers
  int drop = 0;       // too wide a table loses its columns with the highest number first; 0 stays
};

struct Cell {
  std::string text;
  Paint paint = Paint::none;
};

class Table {
 public:
  explicit Table(std::vector<Column> columns) : columns_(std::move(columns)) {}

  /// One cell per column.
  void add(std::vector<Cell> row);
  /// A line beneath the last row.
  void note(std::string text, Paint paint);

  /// Omits columns whose cells are all empty. Ends with a newline.
  std::string render(std::size_t indent, const TextStyle& style) const;

 private:
  struct Row {
    std::vector<Cell> cells;
    std::vector<Cell> notes;
  };
  std::vector<std::size_t> widths() const;

  std::vector<Column> columns_;
  std::vector<Row> rows_;
};

}  // namespace bench
