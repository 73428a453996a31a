#include "results/output/document/markdown.h"

#include <algorithm>
#include <utility>

#include "core/text.h"
#include "results/output/document/text_style.h"

namespace bench {
namespace {

constexpr std::size_t kBarWidth = 12;

/// Text that cannot start a construct of Markdown or HTML, nor leave a table cell.
std::string plain(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    if (c == '<')
      safe += "&lt;";
    else if (c == '&')
      safe += "&amp;";
    else if (std::string_view("\\`*_{}[]#|~>").find(c) != std::string_view::npos)
      safe.append(1, '\\').append(1, c);
    else
      safe += c == '\n' ? ' ' : c;
  }
  return safe;
}

std::string emphasized(const std::string& text, Tone tone) {
  const bool bold = tone != Tone::none && tone != Tone::faint && !text.empty();
  return bold ? "**" + plain(text) + "**" : plain(text);
}

std::string inline_markdown(const StyledText& text) {
  std::string line;
  for (const TextSpan& span : text.spans) {
    // Bold must neither begin nor end in a space.
    const std::size_t first = std::min(span.text.find_first_not_of(' '), span.text.size());
    const std::size_t last = span.text.find_last_not_of(' ') + 1;
    if (first >= last) {
      line += span.text;
      continue;
    }
    line += std::string(first, ' ') + emphasized(span.text.substr(first, last - first), span.tone) +
            std::string(span.text.size() - last, ' ');
  }
  return line;
}

std::string cell_markdown(const DocumentCell& cell) {
  if (std::isfinite(cell.bar)) return bar(cell.bar, kBarWidth, {});
  const std::string text = emphasized(cell.text, cell.tone);
  return cell.detail.empty() ? text : text + "<br>" + plain(cell.detail);
}

struct MarkdownBlock {
  std::string operator()(const Heading& block) const {
    return "## " + inline_markdown(block.text) + "\n";
  }
  std::string operator()(const Paragraph& block) const {
    return inline_markdown(block.text) + "\n";
  }
  std::string operator()(const Headline& block) const {
    std::string text = emphasized(block.verdict, block.tone) + ": " + plain(block.text) + "\n";
    if (!block.reasons.items.empty()) text += "\n" + (*this)(block.reasons);
    if (!block.next_step.empty()) text += "\n" + (*this)(Note{block.next_step, "next step"});
    return text;
  }
  std::string operator()(const Cards& block) const {
    std::string text;
    for (const SummaryCard& card : block.cards)
      text += "- " + plain(card.label) + ": " + emphasized(card.value, card.tone) +
              (card.detail.empty() ? "" : ", " + plain(card.detail)) + "\n";
    return text;
  }
  std::string operator()(const Note& block) const {
    return "> **" + plain(block.label) + ":** " + inline_markdown(block.text) + "\n";
  }
  std::string operator()(const Lines& block) const {
    std::string text;
    for (const StyledText& line : block.lines) text += "- " + inline_markdown(line) + "\n";
    return text;
  }
  std::string operator()(const FactList& block) const {
    std::string text;
    for (const auto& [label, value] : block.rows) {
      const std::string name = inline_markdown(label);
      text += "- " + (name.empty() ? "" : name + ": ") + inline_markdown(value) + "\n";
    }
    return text;
  }
  std::string operator()(const ItemList& block) const {
    std::string text;
    for (const ListItem& item : block.items) {
      text += "- " + inline_markdown(item.head) + "\n";
      for (const StyledText& detail : item.details) text += "  - " + inline_markdown(detail) + "\n";
    }
    return text;
  }
  /// Pages have the plots.
  std::string operator()(const Figure&) const { return ""; }
  std::string operator()(const DocumentTable& block) const {
    if (block.rows.empty()) return "";
    const std::vector<bool> shown = columns_with_text(block);
    std::string titles = "|", rule = "|";
    for (std::size_t i = 0; i < shown.size(); ++i) {
      if (!shown[i]) continue;
      titles += " " + plain(block.columns[i].title) + " |";
      rule += block.columns[i].number ? " ---: |" : " --- |";
    }
    if (!block.notes.empty()) titles += " notes |", rule += " --- |";
    std::string text = titles + "\n" + rule + "\n";
    for (std::size_t row = 0; row < block.rows.size(); ++row)
      text += row_markdown(block, row, shown);
    return text;
  }

 private:
  static std::string row_markdown(const DocumentTable& table, std::size_t row,
                                  const std::vector<bool>& shown) {
    std::string text = "|";
    for (std::size_t i = 0; i < shown.size(); ++i)
      if (shown[i])
        text += " " + (i < table.rows[row].size() ? cell_markdown(table.rows[row][i]) : "") + " |";
    if (table.notes.empty()) return text + "\n";
    std::vector<std::string> notes;
    if (const auto found = table.notes.find(row); found != table.notes.end())
      for (const StyledText& note : found->second) notes.push_back(inline_markdown(note));
    return text + " " + join(notes, "<br>") + " |\n";
  }
};

}  // namespace

std::string to_markdown(const Document& document) {
  std::string text = "# " + plain(document.title);
  if (!document.badge.text.empty())
    text += " " + emphasized(document.badge.text, document.badge.tone);
  text += "\n";
  std::string heading;  // until something follows it: what it heads may be figures only
  for (const auto& [block, audience] : document.parts) {
    if (audience == Audience::terminal) continue;
    const std::string piece = std::visit(MarkdownBlock{}, block);
    if (std::holds_alternative<Heading>(block))
      heading = "\n" + piece;
    else if (!piece.empty())
      text += std::exchange(heading, "") + "\n" + piece;
  }
  return text;
}

}  // namespace bench
