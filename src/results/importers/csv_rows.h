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
  /// The next row that is not an empty line; false at the end. Throws Error(input) for a quote that
  /// does not close, and for text behind a closing one.
  bool next(std::vector<std::string>& cells);

 private:
  void row(std::vector<std::string>& cells);
  std::string quoted_cell(std::size_t& at);

  ImportedLines& lines_;
};

}  // namespace bench
