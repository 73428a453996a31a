#include "results/output/document/document.h"

#include <algorithm>
#include <iterator>

namespace bench {

Tone tone_of(Verdict verdict) {
  if (verdict == Verdict::pass) return Tone::good;
  return verdict == Verdict::fail ? Tone::bad : Tone::unsure;
}

Tone tone_of(Status outcome) {
  if (outcome == Status::ok) return Tone::good;
  return outcome == Status::skipped ? Tone::unsure : Tone::bad;
}

Tone tone_of(ExitCode code) {
  if (code == ExitCode::ok) return Tone::good;
  return code == ExitCode::not_measured ? Tone::unsure : Tone::bad;
}

DocumentCell verdict_cell(Verdict verdict) {
  std::string word(to_string(verdict));
  std::ranges::transform(word, word.begin(), [](char c) {
    return c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  });
  return {.text = std::move(word), .tone = tone_of(verdict)};
}

Document& Document::append(Document other) {
  std::ranges::move(other.parts, std::back_inserter(parts));
  return *this;
}

std::vector<bool> columns_with_text(const DocumentTable& table) {
  std::vector<bool> shown(table.columns.size(), false);
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < shown.size(); ++i)
      if (!row[i].text.empty()) shown[i] = true;
  return shown;
}

Lines lines_of(const std::vector<std::string>& texts) { return {{texts.begin(), texts.end()}}; }

}  // namespace bench
