#include "results/pages/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "results/acceptance/markup.h"
#include "results/pages/page_parts.h"

namespace bench {
namespace {

// Whatever got past the escaping could still load nothing and send nothing.
constexpr const char* kPolicy =
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; "
    "base-uri 'none'; form-action 'none'";

constexpr std::size_t kLong = 32;  // bytes of a cell that may be broken into lines

/// The name of a class in the style; "" for what cannot be one.
std::string badge_class(const std::string& kind) {
  const bool plain =
      std::ranges::all_of(kind, [](char c) { return (c >= 'a' && c <= 'z') || c == '_'; });
  return plain ? kind : "";
}

std::vector<bool> columns_with_text(const PageTable& table) {
  std::vector<bool> shown(table.columns.size(), table.rows.empty());
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < shown.size(); ++i)
      if (!row[i].text.empty()) shown[i] = true;
  return shown;
}

std::string cell_html(const PageCell& cell) {
  const std::string kind = badge_class(cell.kind);
  const std::string text =
      kind.empty() ? escaped(cell.text)
                   : fmt::format("<span class=\"v {}\">{}</span>", kind, escaped(cell.text));
  if (!std::isfinite(cell.sort)) return (cell.text.size() > kLong ? "<td class=l>" : "<td>") + text;
  return fmt::format("<td class=n data-s={:.7g}>{}", cell.sort, text);
}

}  // namespace

Page::Page(std::string title) : title_(std::move(title)) {}

Page& Page::heading(const std::string& text) {
  body_ += "<h2>" + escaped(text) + "</h2>\n";
  return *this;
}

Page& Page::text(const std::string& text) {
  body_ += "<p>" + escaped(text) + "</p>\n";
  return *this;
}

Page& Page::note(const std::string& text) {
  body_ += "<p class=\"w\">" + escaped(text) + "</p>\n";
  return *this;
}

Page& Page::table(const PageTable& table) {
  const std::vector<bool> shown = columns_with_text(table);
  body_ += "<div class=\"wide\"><table><thead><tr>";
  for (std::size_t i = 0; i < shown.size(); ++i)
    if (shown[i]) body_ += "<th>" + escaped(table.columns[i]) + "</th>";
  body_ += "</tr></thead>\n<tbody>";
  // HTML lets the end of cells and rows be left out: a fifth of the page of a thousand hosts.
  for (const auto& row : table.rows) {
    body_ += "\n<tr>";
    for (std::size_t i = 0; i < row.size() && i < shown.size(); ++i)
      if (shown[i]) body_ += cell_html(row[i]);
  }
  body_ += "</tbody></table></div>\n";
  return *this;
}

Page& Page::figure(const std::string& svg, const std::string& caption) {
  if (svg.empty()) return *this;
  body_ += "<figure><div class=\"fig\">" + svg + "</div><figcaption>" + escaped(caption) +
           "</figcaption></figure>\n";
  return *this;
}

std::string Page::html() const {
  std::string page = "<!DOCTYPE html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">\n";
  page += fmt::format("<meta http-equiv=\"Content-Security-Policy\" content=\"{}\">\n", kPolicy);
  page += "<meta name=\"viewport\" content=\"width=device-width,initial-scale=1\">\n<title>";
  page +=
      escaped(title_) + "</title><style>" + kPageStyle + "</style></head>\n<body>\n<header><h1>";
  page += escaped(title_) + "</h1></header>\n" + body_;
  return page + "<script>" + kPageScript + "</script></body></html>\n";
}

}  // namespace bench
