// Rows of RFC 4180: quoted cells may hold separators, quotes and line breaks.
#pragma once

#include <string>
#include <vector>

#include "results/importers/imported_lines.h"

namespace bench {

class CsvRows {
 public:
  /// Borrowed.
  explicit CsvRows(ImportedLines& lines) : lines_(lines) {}
  /// The next non-empty row; false at the end. Throws Error(input) for an unclosed quote, and for
  /// text after a closing one.
  bool next(std::vector<std::string>& cells);

 private:
  void row(std::vector<std::string>& cells);
  std::string quoted_cell(std::size_t& at);

  ImportedLines& lines_;
};

}  // namespace bench
