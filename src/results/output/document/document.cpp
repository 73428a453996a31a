#include "results/output/document/document.h"

#include "core/text.h"
#include "results/output/document/page.h"

namespace bench {
namespace {

constexpr std::size_t kIndent = 2;

Paint paint_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return Paint::green;
    case Tone::bad:
      return Paint::red;
    case Tone::unsure:
      return Paint::yellow;
    case Tone::faint:
      return Paint::dim;
    case Tone::none:
      break;
  }
  return Paint::none;
}

/// The badge of a page's cell.
const char* badge_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "pass";
    case Tone::bad:
      return "fail";
    case Tone::unsure:
      return "inconclusive";
    default:
      return "";
  }
}

struct TerminalBlock {
  const TextStyle& style;

  std::string operator()(const Heading& block) const {
    return paint(printable(block.text), Paint::bold, style) + "\n";
  }
  std::string operator()(const Paragraph& block) const {
    return wrap(printable(block.text), 0, 0, style) + "\n";
  }
  std::string operator()(const Lines& block) const {
    std::string text;
    for (const std::string& line : block.lines)
      text += std::string(kIndent, ' ') + wrap(printable(line), kIndent, 2 * kIndent, style) + "\n";
    return text;
  }
  std::string operator()(const Note& block) const {
    return paint(wrap("note: " + printable(block.text), 0, kIndent, style), Paint::yellow, style) +
           "\n";
  }
  std::string operator()(const DocumentTable& block) const {
    std::vector<Column> columns;
    for (const DocumentColumn& column : block.columns)
      columns.push_back({printable(column.title), column.number, column.drop});
    Table table(std::move(columns));
    for (const auto& row : block.rows) {
      std::vector<Cell> cells;
      for (const DocumentCell& cell : row)
        cells.push_back({printable(cell.text), paint_of(cell.tone)});
      table.add(std::move(cells));
    }
    return table.render(kIndent, style);
  }
  std::string operator()(const Figure&) const { return ""; }
};

struct PageBlock {
  Page& page;

  void operator()(const Heading& block) const { page.heading(block.text); }
  void operator()(const Paragraph& block) const { page.text(block.text); }
  void operator()(const Note& block) const { page.note(block.text); }
  void operator()(const Lines& block) const {
    for (const std::string& line : block.lines) page.text(line);
  }
  void operator()(const Figure& block) const { page.figure(block.svg, block.caption); }
  void operator()(const DocumentTable& block) const {
    PageTable table;
    for (const DocumentColumn& column : block.columns) table.columns.push_back(column.title);
    for (const auto& row : block.rows) {
      std::vector<PageCell> cells;
      for (const DocumentCell& cell : row)
        cells.push_back({cell.text, cell.sort, badge_of(cell.tone)});
      table.rows.push_back(std::move(cells));
    }
    page.table(table);
  }
};

}  // namespace

std::string to_terminal(const Document& document, const TextStyle& style) {
  std::string text;
  bool after_heading = false;
  for (const Block& block : document.blocks) {
    const std::string piece = std::visit(TerminalBlock{style}, block);
    if (piece.empty()) continue;
    if (!text.empty() && !after_heading) text += "\n";
    text += piece;
    after_heading = std::holds_alternative<Heading>(block);
  }
  return text;
}

std::string to_page(const Document& document) {
  Page page(document.title);
  for (const Block& block : document.blocks) std::visit(PageBlock{page}, block);
  return page.html();
}

}  // namespace bench
