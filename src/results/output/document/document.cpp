#include "results/output/document/document.h"

#include <fmt/format.h>

#include "core/text.h"

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

DocumentCell count_cell(std::size_t count) {
  return {std::to_string(count), static_cast<double>(count)};
}

DocumentCell share_cell(double share, int digits) {
  return numeric(share, fmt::format("{:.{}f} %", 100.0 * share, digits));
}

DocumentCell value_cell(double value, Unit unit) { return numeric(value, format(value, unit)); }

DocumentCell verdict_cell(Verdict verdict) {
  return {.text = to_upper(to_string(verdict)), .tone = tone_of(verdict)};
}

std::vector<bool> columns_with_text(const DocumentTable& table) {
  std::vector<bool> shown(table.columns.size(), false);
  for (const auto& row : table.rows)
    for (std::size_t i = 0; i < row.size() && i < shown.size(); ++i)
      if (!row[i].text.empty() || std::isfinite(row[i].bar)) shown[i] = true;
  return shown;
}

const Headline* headline_of(const Document& document) {
  for (const Document::Part& part : document.parts)
    if (const auto* headline = std::get_if<Headline>(&part.block)) return headline;
  return nullptr;
}

Lines lines_of(const std::vector<std::string>& texts) { return {{texts.begin(), texts.end()}}; }

}  // namespace bench
