#include "results/output/document/terminal.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace bench {
namespace {

constexpr std::size_t kIndent = 2;
constexpr std::size_t kLeastLabel = 8;
constexpr std::size_t kBarCells = 24;

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
    case Tone::strong:
      return Paint::bold;
    case Tone::none:
      break;
  }
  return Paint::none;
}

/// Wraps the text as a whole, then paints its spans: wrap() only turns spaces into line breaks.
std::string wrapped(const StyledText& text, std::size_t start, std::size_t indent,
                    const TextStyle& style) {
  std::string plain;
  std::vector<std::pair<std::size_t, Paint>> spans;  // characters that are no space, and colour
  const auto solid = [](char c) { return c != ' ' && c != '\n'; };
  for (const TextSpan& span : text.spans) {
    const std::string part = printable(span.text);
    spans.emplace_back(std::ranges::count_if(part, solid), paint_of(span.tone));
    plain += part;
  }
  const std::string lines = wrap(plain, start, indent, style);
  std::string painted;
  std::size_t at = 0;
  for (const auto& [count, colour] : spans) {
    std::size_t end = at;
    for (std::size_t left = count; left > 0; ++end) left -= solid(lines[end]) ? 1 : 0;
    const std::size_t first = std::min(lines.find_first_not_of(" \n", at), end);
    painted +=
        lines.substr(at, first - at) + paint(lines.substr(first, end - first), colour, style);
    at = end;
  }
  return painted;
}

std::string line(const StyledText& text, std::size_t indent, std::size_t more,
                 const TextStyle& style) {
  return std::string(indent, ' ') + wrapped(text, indent, indent + more, style) + "\n";
}

std::string unwrapped(const StyledText& text, const TextStyle& style) {
  std::string line;
  for (const TextSpan& span : text.spans)
    line += paint(printable(span.text), paint_of(span.tone), style);
  return line + "\n";
}

std::string rest_line(std::size_t all, std::size_t shown) {
  return all > shown ? fmt::format("{}and {} more (see --verbose)\n", std::string(kIndent, ' '),
                                   all - shown)
                     : "";
}

std::string cell_text(const DocumentCell& cell, const TextStyle& style) {
  if (std::isfinite(cell.bar)) return bar(cell.bar, kBarCells, style);
  return printable(cell.detail.empty() ? cell.text : cell.text + " (" + cell.detail + ")");
}

std::string title_text(const std::string& title, const TextStyle& style) {
  return !style.unicode && title == "±" ? "+-" : printable(title);
}

std::size_t width_of(const StyledText& text) {
  std::size_t width = 0;
  for (const TextSpan& span : text.spans) width += code_points(printable(span.text));
  return width;
}

/// Spans without a tone of their own get this one.
StyledText with_tone(StyledText text, Tone tone) {
  for (TextSpan& span : text.spans)
    if (span.tone == Tone::none) span.tone = tone;
  return text;
}

/// Of so many rows, by what a table or list allows.
std::size_t shown_rows(std::size_t all, std::size_t most, const TextStyle& style) {
  return style.verbose ? all : std::min(all, most);
}

struct TerminalBlock {
  const TextStyle& style;

  std::string operator()(const Heading& block) const {
    return line(with_tone(block.text, Tone::strong), 0, kIndent, style);
  }
  std::string operator()(const Paragraph& block) const { return line(block.text, 0, 0, style); }
  std::string operator()(const Lines& block) const {
    std::string text;
    for (const StyledText& one : block.lines) text += line(one, kIndent, kIndent, style);
    return text;
  }
  std::string operator()(const FactList& block) const {
    std::size_t width = kLeastLabel;
    for (const auto& [label, value] : block.rows) width = std::max(width, width_of(label));
    const std::size_t column = kIndent + width + 2;
    std::string text;
    for (const auto& [label, value] : block.rows)
      text += std::string(kIndent, ' ') +
              wrapped(with_tone(label, Tone::faint), kIndent, kIndent, style) +
              std::string(column - kIndent - width_of(label), ' ') +
              wrapped(value, column, column, style) + "\n";
    return text;
  }
  std::string operator()(const ItemList& block) const {
    std::string text;
    const std::size_t shown = shown_rows(block.items.size(), block.most, style);
    for (std::size_t i = 0; i < shown; ++i) {
      text += block.positions ? unwrapped(block.items[i].head, style)
                              : line(block.items[i].head, kIndent, kIndent, style);
      for (const StyledText& detail : block.items[i].details)
        text += line(detail, 3 * kIndent, kIndent, style);
    }
    return text + rest_line(block.items.size(), shown);
  }
  std::string operator()(const Headline& block) const {
    std::string text =
        line({{{block.verdict, block.tone}, {": " + block.text}}}, 0, kIndent, style) +
        (*this)(block.reasons);
    if (!block.next_step.empty()) text += (*this)(Note{block.next_step, "next step"});
    return text;
  }
  std::string operator()(const Cards&) const { return ""; }
  std::string operator()(const Note& block) const {
    StyledText text = block.text;
    text.spans.insert(text.spans.begin(), {block.label + ": "});
    return line(with_tone(std::move(text), Tone::unsure), 0, kIndent, style);
  }
  std::string operator()(const DocumentTable& block) const {
    if (block.rows.empty()) return "";
    std::vector<Column> columns;
    for (const DocumentColumn& column : block.columns)
      if (is_shown(column))
        columns.push_back({title_text(column.title, style), column.number, column.drop});
    Table table(std::move(columns));
    const std::size_t shown = shown_rows(block.rows.size(), block.most, style);
    for (std::size_t i = 0; i < shown; ++i) {
      table.add(terminal_cells(block, i));
      const auto notes = block.notes.find(i);
      if (notes == block.notes.end()) continue;
      for (const StyledText& note : notes->second)
        for (const TextSpan& span : note.spans)
          table.note(printable(span.text), paint_of(span.tone));
    }
    return table.render(kIndent, style) + rest_line(block.rows.size(), shown);
  }
  std::string operator()(const Figure& block) const {
    return block.drawing ? block.drawing(style) : "";
  }

 private:
  bool is_shown(const DocumentColumn& column) const {
    return style.verbose || column.drop < kPageOnly;
  }

  std::vector<Cell> terminal_cells(const DocumentTable& table, std::size_t at) const {
    const std::vector<DocumentCell>& row = table.rows[at];
    std::vector<Cell> cells;
    for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i) {
      if (!is_shown(table.columns[i])) continue;
      const bool again =
          table.columns[i].once && at > 0 && row[i].text == table.rows[at - 1][i].text;
      cells.push_back({again ? "" : cell_text(row[i], style), paint_of(row[i].tone)});
    }
    return cells;
  }
};

/// Whether a block follows the one before without an empty line.
bool joined(const Block& before, const Block& block) {
  const bool line_block =
      std::holds_alternative<Note>(block) || std::holds_alternative<FactList>(block);
  return std::holds_alternative<Heading>(before) || std::holds_alternative<Lines>(block) ||
         (std::holds_alternative<Lines>(before) && std::holds_alternative<DocumentTable>(block)) ||
         (line_block && before.index() == block.index());
}

/// A heading of nothing but a figure that the terminal cannot draw.
bool heads_figure(const Document& document, std::size_t at) {
  if (!std::holds_alternative<Heading>(document.parts[at].block)) return false;
  if (at + 1 == document.parts.size()) return true;
  const auto* figure = std::get_if<Figure>(&document.parts[at + 1].block);
  return figure != nullptr && !figure->drawing;
}

}  // namespace

std::string to_terminal(const Document& document, const TextStyle& style) {
  std::string text;
  const Block* before = nullptr;
  for (std::size_t i = 0; i < document.parts.size(); ++i) {
    const auto& [block, audience] = document.parts[i];
    if (audience == Audience::page && (!style.verbose || heads_figure(document, i))) continue;
    const std::string piece = std::visit(TerminalBlock{style}, block);
    if (piece.empty()) continue;
    if (before != nullptr && !joined(*before, block)) text += "\n";
    text += piece;
    before = &block;
  }
  return text;
}

}  // namespace bench
