#include "results/output/document/page_table.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>

#include "core/text.h"
#include "results/output/document/markup.h"

namespace bench {

std::string_view class_of(Tone tone) {
  switch (tone) {
    case Tone::good:
      return "v good";
    case Tone::bad:
      return "v bad";
    case Tone::unsure:
      return "v unsure";
    case Tone::strong:
      return "v";
    case Tone::faint:
      return "s";
    case Tone::none:
      break;
  }
  return "";
}

std::string toned_html(const std::string& text, Tone tone) {
  if (text.empty() || tone == Tone::none) return escaped(text);
  return fmt::format("<span class=\"{}\">{}</span>", class_of(tone), escaped(text));
}

std::string inline_html(const StyledText& text) {
  std::string html;
  for (const TextSpan& span : text.spans) html += toned_html(span.text, span.tone);
  return html;
}

std::string link_html(const std::string& html, const std::string& address) {
  const bool elsewhere = address.find_first_of(":\\") != std::string::npos;
  if (address.empty() || elsewhere || address.starts_with('/')) return html;
  return fmt::format("<a href=\"{}\">{}</a>", escaped(address), html);
}

namespace {

constexpr std::size_t kLongWord = 24;  // characters of a word that may be broken
constexpr double kCharacter_px = 8.4, kPadding_px = 17.0, kNotes_px = 210.0, kBar_px = 90.0;

/// Text of a page is not wider than this: a table that needs more is always shown as cards, one
/// that needs less than the smallest window never.
constexpr double kWidest_px = 1230.0, kNarrowest_px = 350.0, kMargins_px = 48.0;

std::size_t longest_word(std::string_view text) {
  std::size_t longest = 0;
  for (const std::string_view word : words_of(text)) longest = std::max(longest, code_points(word));
  return longest;
}

bool has_long_word(const DocumentCell& cell) {
  return std::max(longest_word(cell.text), longest_word(cell.detail)) > kLongWord;
}

/// Characters that stay together in one line: all of a number, words up to the longest.
std::size_t unbroken(const DocumentCell& cell) {
  const std::size_t text = std::isfinite(cell.sort) ? code_points(cell.text)
                                                    : std::min(kLongWord, longest_word(cell.text));
  return std::max(text, std::min(kLongWord, longest_word(cell.detail)));
}

/// Text of a CSS string, in which nothing can end the string or the style.
std::string css_text(std::string_view text) {
  std::string safe;
  for (const char c : printable(text)) {
    const auto byte = static_cast<unsigned char>(c);
    const bool plain = byte >= 0x80U || std::isalnum(byte) != 0 || c == ' ' || c == '%' || c == '.';
    safe += plain ? std::string(1, c) : fmt::format("\\{:x} ", byte);
  }
  return safe;
}

constexpr const char* kCards =
    "{{#t{0},#t{0} tbody,#t{0} tr{{display:block}}#t{0} thead{{display:none}}"
    // The titles stay as buttons to sort by, where there is a script for it.
    ".js #t{0} thead{{display:block}}.js #t{0} thead tr{{display:flex;flex-wrap:wrap;gap:.2em 1em;"
    "border:0;padding:0}}.js #t{0} thead th{{position:static;border:0;padding:0}}"
    "#t{0} tr{{border:1px solid var(--rule);border-radius:6px;margin:.5em 0;padding:.3em .7em}}"
    "#t{0} td,#t{0} td.n{{display:flex;gap:.7em;border:0;padding:.1em 0;min-width:0;"
    "text-align:left;white-space:normal;overflow-wrap:anywhere}}"
    "#t{0} td:empty{{display:none}}"
    "#t{0} td::before{{display:block;flex:0 0 8.5em;color:var(--soft)}}"
    "#t{0} td>*{{min-width:0}}}}";

class TableHtml {
 public:
  TableHtml(const DocumentTable& table, std::size_t number)
      : table_(table), number_(number), shown_(columns_with_text(table)) {
    for (std::size_t i = 1; i < shown_.size(); ++i)
      if (shown_[i] && is_constant(i)) {
        constant_ += fmt::format("{}{} {}", constant_.empty() ? "" : ", ", table.columns[i].title,
                                 table.rows.front()[i].text);
        shown_[i] = false;
      }
  }

  std::string text() const {
    std::string html = style();
    if (!constant_.empty()) html += "<p class=s>In every row: " + escaped(constant_) + "</p>\n";
    html += fmt::format("<table id=t{}>{}\n<tbody>", number_, head());
    // HTML allows omitting end tags of cells and rows: a fifth of the page of a thousand hosts.
    for (std::size_t i = 0; i < table_.rows.size(); ++i) html += row(i);
    return html + "</tbody></table>\n";
  }

 private:
  /// A verdict is always shown; the first column names the row.
  bool is_constant(std::size_t column) const {
    constexpr std::size_t kFewRows = 4, kShortText = 40;
    if (table_.rows.size() < kFewRows || column >= table_.rows.front().size()) return false;
    const DocumentCell& first = table_.rows.front()[column];
    if (first.text.empty() || first.text.size() > kShortText) return false;
    return std::ranges::all_of(table_.rows, [&](const std::vector<DocumentCell>& row) {
      if (column >= row.size()) return false;
      const DocumentCell& cell = row[column];
      return cell.text == first.text && cell.detail.empty() && cell.link.empty() &&
             cell.tone == Tone::none && !std::isfinite(cell.bar);
    });
  }

  double least_width(std::size_t column) const {
    double most = static_cast<double>(longest_word(table_.columns[column].title)) + 1.0;
    for (const std::vector<DocumentCell>& row : table_.rows) {
      if (column >= row.size()) continue;
      if (std::isfinite(row[column].bar)) return kBar_px;
      most = std::max(most, static_cast<double>(unbroken(row[column])));
    }
    return most * kCharacter_px + kPadding_px;
  }

  double least_width() const {
    double width = table_.notes.empty() ? 0.0 : kNotes_px;
    for (std::size_t i = 0; i < shown_.size(); ++i)
      if (shown_[i]) width += least_width(i);
    return width;
  }

  /// Of the columns shown, in order.
  std::vector<std::string> titles() const {
    std::vector<std::string> titles;
    for (std::size_t i = 0; i < shown_.size(); ++i)
      if (shown_[i]) titles.push_back(table_.columns[i].title);
    if (!table_.notes.empty()) titles.emplace_back("notes");
    return titles;
  }

  std::string head() const {
    std::string html = "<thead><tr>";
    for (const std::string& title : titles()) html += "<th scope=col>" + escaped(title) + "</th>";
    return html + "</tr></thead>";
  }

  /// The titles again, as labels, and from which width on rows are cards with them.
  std::string style() const {
    const double least = least_width();
    if (least <= kNarrowest_px) return "";
    std::string css;
    std::size_t place = 0;
    for (const std::string& title : titles())
      css += fmt::format("#t{} td:nth-child({})::before{{content:\"{}\"}}", number_, ++place,
                         css_text(title));
    css += least > kWidest_px ? "@media all"
                              : fmt::format("@media(max-width:{:.0f}px)", least + kMargins_px);
    return "<style>" + css + fmt::format(fmt::runtime(kCards), number_) + "</style>";
  }

  static std::string cell(const DocumentCell& cell) {
    if (std::isfinite(cell.bar))
      return fmt::format("<td><meter value={:.3g}></meter>", std::clamp(cell.bar, 0.0, 1.0));
    std::string text = link_html(toned_html(cell.text, cell.tone), cell.link);
    // One element, as the parts of a card's line stand next to each other.
    if (!cell.detail.empty())
      text = "<div>" + text + "<br><span class=s>" + escaped(cell.detail) + "</span></div>";
    if (!std::isfinite(cell.sort)) return (has_long_word(cell) ? "<td class=l>" : "<td>") + text;
    return fmt::format("<td class=n data-s={:.7g}>{}", cell.sort, text);
  }

  std::string row(std::size_t at) const {
    std::string html = "\n<tr>";
    const std::vector<DocumentCell>& cells = table_.rows[at];
    for (std::size_t i = 0; i < shown_.size(); ++i)
      if (shown_[i]) html += i < cells.size() ? cell(cells[i]) : "<td>";
    if (const auto notes = table_.notes.find(at); notes != table_.notes.end()) {
      html += "<td class=l><div>";
      for (std::size_t i = 0; i < notes->second.size(); ++i)
        html += (i == 0 ? "" : "<br>") + inline_html(notes->second[i]);
      html += "</div>";
    }
    return html;
  }

  const DocumentTable& table_;
  std::size_t number_;
  std::vector<bool> shown_;
  std::string constant_ = {};
};

}  // namespace

std::string table_html(const DocumentTable& table, std::size_t number) {
  return table.rows.empty() ? "" : TableHtml(table, number).text();
}

}  // namespace bench
