#include "results/output/document/text_style.h"

#include <sys/ioctl.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace bench {
namespace {

constexpr std::size_t kGap = 2;  // between columns

std::string_view escape(Paint paint) {
  switch (paint) {
    case Paint::bold:
      return "\033[1m";
    case Paint::dim:
      return "\033[2m";
    case Paint::green:
      return "\033[32m";
    case Paint::yellow:
      return "\033[33m";
    case Paint::red:
      return "\033[31m";
    case Paint::none:
      break;
  }
  return "";
}

std::string padded(const std::string& text, std::size_t width, bool right) {
  const std::size_t used = code_points(text);
  const std::string space(width > used ? width - used : 0, ' ');
  return right ? space + text : text + space;
}

std::size_t total(const std::vector<std::size_t>& widths) {
  std::size_t sum = 0;
  for (const std::size_t width : widths) sum += width == 0 ? 0 : width + kGap;
  return sum == 0 ? 0 : sum - kGap;
}

/// A column of width 0 is not shown.
void drop_columns_to_fit(const std::vector<Column>& columns, std::size_t room,
                         std::vector<std::size_t>& widths) {
  while (total(widths) > room) {
    std::size_t worst = columns.size();
    for (std::size_t i = 0; i < columns.size(); ++i)
      if (widths[i] > 0 && columns[i].drop > 0 &&
          (worst == columns.size() || columns[i].drop > columns[worst].drop))
        worst = i;
    if (worst == columns.size()) return;
    widths[worst] = 0;
  }
}

std::string table_line(const std::vector<Cell>& cells, const std::vector<Column>& columns,
                       const std::vector<std::size_t>& widths, std::size_t indent,
                       const TextStyle& style) {
  std::string text(indent, ' ');
  std::size_t owed = 0;  // spaces are written only before something, so that no line ends in them
  for (std::size_t i = 0; i < cells.size(); ++i) {
    if (widths[i] == 0) continue;
    const std::string cell = padded(cells[i].text, widths[i], columns[i].right);
    const std::size_t first = cell.find_first_not_of(' ');
    if (first == std::string::npos) {
      owed += widths[i] + kGap;
      continue;
    }
    const std::size_t last = cell.find_last_not_of(' ') + 1;
    text += std::string(owed + first, ' ');
    text += paint(cell.substr(first, last - first), cells[i].paint, style);
    owed = cell.size() - last + kGap;
  }
  return text + "\n";
}

}  // namespace

std::size_t terminal_columns(int fd) {
  winsize size{};
  return ioctl(fd, TIOCGWINSZ, &size) == 0 ? size.ws_col : 0;
}

std::string paint(std::string_view text, Paint paint, const TextStyle& style) {
  if (!style.colour || paint == Paint::none || text.empty()) return std::string(text);
  return std::string(escape(paint)) + std::string(text) + "\033[0m";
}

std::size_t code_points(std::string_view text) {
  return static_cast<std::size_t>(std::count_if(text.begin(), text.end(), [](char c) {
    return (static_cast<unsigned char>(c) & 0xc0) != 0x80;
  }));
}

std::string wrap(std::string_view text, std::size_t start, std::size_t indent,
                 const TextStyle& style) {
  const auto width = static_cast<std::size_t>(std::max(style.width, 20));
  std::string wrapped;
  std::size_t column = start;
  bool first = true;  // in its line
  while (!text.empty()) {
    const std::size_t space = text.find(' ');
    const std::string_view word = text.substr(0, space);
    text.remove_prefix(space == std::string_view::npos ? text.size() : space + 1);
    const std::size_t length = code_points(word);
    if (!first && column + 1 + length > width) {
      wrapped.append("\n").append(indent, ' ');
      column = indent;
      first = true;
    }
    if (!first) {
      wrapped += ' ';
      ++column;
    }
    wrapped += word;
    column += length;
    first = false;
  }
  return wrapped;
}

std::string bar(double share, std::size_t cells, const TextStyle& style) {
  static constexpr std::array<const char*, 8> kEighths = {"", "▏", "▎", "▍", "▌", "▋", "▊", "▉"};
  if (!(share > 0.0)) return "";
  const double filled = std::min(share, 1.0) * static_cast<double>(cells);
  if (!style.unicode)
    return std::string(static_cast<std::size_t>(std::max(1.0, std::round(filled))), '#');
  const auto eighths = static_cast<std::size_t>(std::max(1.0, std::round(filled * 8.0)));
  std::string text;
  for (std::size_t i = 0; i < eighths / 8; ++i) text += "█";
  return text + kEighths[eighths % 8];
}

void Table::add(std::vector<Cell> row) {
  row.resize(columns_.size());
  rows_.push_back({std::move(row), {}});
}

void Table::note(std::string text, Paint paint) {
  if (!rows_.empty()) rows_.back().notes.push_back({std::move(text), paint});
}

std::vector<std::size_t> Table::widths() const {
  std::vector<std::size_t> widths(columns_.size(), 0);
  for (const Row& row : rows_)
    for (std::size_t i = 0; i < columns_.size(); ++i)
      widths[i] = std::max(widths[i], code_points(row.cells[i].text));
  for (std::size_t i = 0; i < columns_.size(); ++i)
    if (widths[i] > 0) widths[i] = std::max(widths[i], code_points(columns_[i].title));
  return widths;
}

std::string Table::render(std::size_t indent, const TextStyle& style) const {
  auto shown = widths();
  const auto room = static_cast<std::size_t>(std::max(style.width, 20));
  drop_columns_to_fit(columns_, room > indent ? room - indent : 0, shown);
  std::vector<Cell> titles;
  for (const Column& column : columns_) titles.push_back({column.title, Paint::dim});
  std::string text = table_line(titles, columns_, shown, indent, style);
  for (const Row& row : rows_) {
    text += table_line(row.cells, columns_, shown, indent, style);
    for (const Cell& note : row.notes)
      text += std::string(indent + kGap, ' ') +
              paint(wrap(note.text, indent + kGap, indent + 2 * kGap, style), note.paint, style) +
              "\n";
  }
  return text;
}

}  // namespace bench
