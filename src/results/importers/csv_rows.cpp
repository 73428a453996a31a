#include "results/importers/csv_rows.h"

#include <algorithm>

namespace bench {
namespace {

constexpr std::size_t kLongestCell = std::size_t{1} << 20;

}  // namespace

bool CsvRows::next(std::vector<std::string>& cells) {
  do {
    if (!lines_.next()) return false;
  } while (lines_.line().empty());
  row(cells);
  return true;
}

void CsvRows::row(std::vector<std::string>& cells) {
  cells.clear();
  for (std::size_t at = 0;;) {
    if (at < lines_.line().size() && lines_.line()[at] == '"') {
      cells.push_back(quoted_cell(at));
      if (at < lines_.line().size() && lines_.line()[at] != ',')
        lines_.refuse("has text after a closing quote");
    } else {
      const std::size_t end = std::min(lines_.line().find(',', at), lines_.line().size());
      cells.push_back(lines_.line().substr(at, end - at));
      at = end;
    }
    if (at >= lines_.line().size()) return;
    ++at;  // the comma
  }
}

/// Reads from the opening quote to the closing one, possibly over several lines.
std::string CsvRows::quoted_cell(std::size_t& at) {
  std::string cell;
  ++at;
  for (;;) {
    const std::string& line = lines_.line();
    const std::size_t quote = line.find('"', at);
    cell.append(line, at, quote - at);
    if (cell.size() > kLongestCell) lines_.refuse("has a cell that is too long");
    if (quote == std::string::npos) {
      cell += '\n';
      if (!lines_.next()) lines_.refuse("ends inside a quoted cell");
      at = 0;
      continue;
    }
    at = quote + 1;
    if (at >= line.size() || line[at] != '"') return cell;
    cell += '"';  // a doubled quote is one quote
    ++at;
  }
}

}  // namespace bench
