#include "results/run/bands.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <set>

#include "core/error.h"
#include "core/locations.h"
#include "core/names.h"
#include "core/schema.h"

namespace bench {
namespace {

constexpr NameTable<BandKind, 3> kKinds{
    {{{BandKind::reached, "reached"}, {BandKind::observed, "observed"}, {BandKind::rule, "rule"}}}};
constexpr NameTable<BandPosition, 4> kPositions{{{{BandPosition::within, "within"},
                                                  {BandPosition::better, "better"},
                                                  {BandPosition::worse, "worse"},
                                                  {BandPosition::undecided, "undecided"}}}};

Band band_from(const Json& json) {
  Band band;
  band.id = json.at("id");
  band.metrics = json.at("metrics");
  band.kind = kKinds.value(json.at("kind").get<std::string>(), "kind");
  band.low = number_field(json, "low");
  band.high = number_field(json, "high");
  band.context = json.at("context");
  band.source = json.at("source");
  band.device = text_field(json, "device");
  band.workloads = json.value("workloads", band.workloads);
  band.where = object_field(json, "where");
  return band;
}

bool contains(const Json& all, const Json& some) {
  for (const auto& [name, value] : some.items())
    if (!all.contains(name) || all[name] != value) return false;
  return true;
}

bool applies(const Band& band, const BandSubject& subject) {
  const bool workload_fits =
      band.workloads.empty() ||
      std::ranges::find(band.workloads, subject.workload) != band.workloads.end();
  return std::ranges::find(band.metrics, subject.metric) != band.metrics.end() && workload_fits &&
         (band.device.empty() || band.device == subject.device) &&
         contains(subject.params, band.where);
}

std::string percent(double share) { return fmt::format("{:g}", std::round(1e4 * share) / 1e2); }

BandCatalogue read_installed() {
  std::vector<Band> all;
  const std::filesystem::path folder = data_root() / "bands";
  if (!std::filesystem::exists(folder)) return BandCatalogue({});
  for (const auto& entry : std::filesystem::directory_iterator(folder)) {
    if (entry.path().extension() != ".json") continue;
    const auto file = BandCatalogue::from_json(read_json(entry.path()), entry.path().string());
    all.insert(all.end(), file.all().begin(), file.all().end());
  }
  std::ranges::sort(all, {}, &Band::id);
  if (const auto twice = std::ranges::adjacent_find(all, {}, &Band::id); twice != all.end())
    throw Error(ErrorKind::input, folder.string() + ": two files have a band '" + twice->id + "'",
                "give each band an id of its own");
  return BandCatalogue(std::move(all));
}

}  // namespace

std::string_view to_string(BandKind kind) { return kKinds.name(kind); }
std::string_view to_string(BandPosition position) { return kPositions.name(position); }

BandPosition position_in(const Band& band, Interval interval, Better better) {
  if (!std::isfinite(interval.low) || !std::isfinite(interval.high)) return BandPosition::undecided;
  const double low = std::isnan(band.low) ? -HUGE_VAL : band.low;
  const double high = std::isnan(band.high) ? HUGE_VAL : band.high;
  if (interval.low >= low && interval.high <= high) return BandPosition::within;
  if (interval.low > high)
    return better == Better::higher ? BandPosition::better : BandPosition::worse;
  if (interval.high < low)
    return better == Better::higher ? BandPosition::worse : BandPosition::better;
  return BandPosition::undecided;
}

std::string range_text(const Band& band) {
  if (std::isnan(band.low)) return "at most " + percent(band.high) + " %";
  if (std::isnan(band.high)) return "at least " + percent(band.low) + " %";
  if (band.low == band.high) return percent(band.low) + " %";
  return percent(band.low) + " to " + percent(band.high) + " %";
}

BandCatalogue BandCatalogue::from_json(const Json& document, const std::string& origin) {
  static const Schema schema = Schema::load(schema_path("bands"));
  const Json checked = schema.check(document, origin);
  std::vector<Band> bands;
  std::set<std::string> seen;
  for (const Json& json : checked.at("bands")) {
    Band band = band_from(json);
    if (!seen.insert(band.id).second)
      throw Error(ErrorKind::input, origin + ": band '" + band.id + "' is there twice",
                  "give each band an id of its own");
    if (std::isnan(band.low) && std::isnan(band.high))
      throw Error(ErrorKind::input, origin + ": band '" + band.id + "' has neither low nor high",
                  "state at least one end");
    if (band.low > band.high)
      throw Error(ErrorKind::input,
                  fmt::format("{}: band '{}' has low {:g} above high {:g}", origin, band.id,
                              band.low, band.high),
                  "swap them");
    bands.push_back(std::move(band));
  }
  return BandCatalogue(std::move(bands));
}

const BandCatalogue& BandCatalogue::installed() {
  static const BandCatalogue catalogue = read_installed();
  return catalogue;
}

const Band* BandCatalogue::find(const std::string& id) const {
  const auto found = std::ranges::find(bands_, id, &Band::id);
  return found == bands_.end() ? nullptr : &*found;
}

std::vector<std::string> BandCatalogue::ids() const {
  std::vector<std::string> ids;
  for (const Band& band : bands_) ids.push_back(band.id);
  return ids;
}

std::vector<const Band*> BandCatalogue::of(const BandSubject& subject) const {
  std::vector<const Band*> found;
  for (const Band& band : bands_)
    if (applies(band, subject)) found.push_back(&band);
  return found;
}

}  // namespace bench
