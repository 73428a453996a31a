#include "results/output/verdicts/band_output.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "core/text.h"

namespace bench {
namespace {

std::string values_text(const BandComparison& one) {
  const std::string lowest = format(one.lowest, Unit::ratio);
  const std::string highest = format(one.highest, Unit::ratio);
  return lowest == highest ? lowest : lowest + " to " + highest;
}

std::string_view kind_word(BandKind kind) {
  return kind == BandKind::rule ? "asked for" : to_string(kind);
}

DocumentCell position_cell(const BandComparison& one) {
  const bool open = std::isnan(one.band->low) || std::isnan(one.band->high);
  switch (one.position) {
    case BandPosition::within:
      return {.text = open ? "met" : "within"};
    case BandPosition::better:
      return {.text = "better", .tone = Tone::good};
    case BandPosition::worse:
      return {.text = open ? "not met" : "worse", .tone = Tone::unsure};
    case BandPosition::undecided:
      break;
  }
  return {.text = one.figures > 1 ? "differs" : "spans an end"};
}

}  // namespace

void add_bands(Document& document, const std::vector<BandComparison>& comparisons) {
  if (comparisons.empty()) return;
  DocumentTable table{{{"figure", false, 0, true},
                       {"of", false, 1, true},
                       {"value", true, 0, true},
                       {"published", false},
                       {"", false},
                       {"measured on", false, 2},
                       {"source", true, 0}}};
  std::vector<std::string> sources;
  for (const BandComparison& one : comparisons) {
    auto source = std::ranges::find(sources, one.band->source);
    if (source == sources.end()) source = sources.insert(source, one.band->source);
    table.rows.push_back({{one.metric},
                          {one.what},
                          numeric(one.lowest, values_text(one)),
                          {fmt::format("{} {}", kind_word(one.band->kind), range_text(*one.band))},
                          position_cell(one),
                          {one.band->context},
                          {fmt::format("[{}]", source - sources.begin() + 1)}});
  }
  document.add(Heading{"Published figures"}).add(std::move(table));
  Lines lines;
  for (std::size_t i = 0; i < sources.size(); ++i)
    lines.lines.push_back({fmt::format("[{}] {}", i + 1, sources[i]), Tone::faint});
  document.add(std::move(lines));
}

}  // namespace bench
