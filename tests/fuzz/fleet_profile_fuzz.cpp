// Hostile profiles of fleets: refused with an Error, or the same when they are written and read
// again; a fleet is judged by them without harm.
#include <cstdint>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/page.h"
#include "results/output/verdicts/fleet_output.h"
#include "tests/fuzz/demand.h"
#include "tests/support/rendered.h"

namespace {

using bench::fuzz::demand;

bench::FleetSeries series_of(const bench::ProfileEntry& entry) {
  bench::FleetSeries series{entry.key.metric, entry.key.params, entry.key.device,
                            entry.unit,       entry.better,     {}};
  for (int host = 0; host < 5; ++host)
    series.members.push_back({"node" + std::to_string(host),
                              entry.key.device,
                              entry.key.kind,
                              {{1, 100.0 + host}, {2, 101.0}, {3, 99.0}}});
  return series;
}

void judge(const bench::FleetProfile& profile) {
  bench::FleetSettings settings;
  settings.now_ns = 10;
  settings.profile = profile;
  bench::FleetJudge judge(settings);
  for (const bench::ProfileEntry& entry : profile.entries) judge.take(series_of(entry));
  const bench::FleetReport report = judge.finish();
  bench::to_text(report, {});
  bench::to_page(bench::to_document(report));
  bench::dump(bench::to_json(report));
}

void try_profile(const std::string& text) try {
  static const bench::Schema schema = bench::Schema::load(bench::schema_path("fleet_profile"));
  const bench::Json json = schema.check(bench::parse_json(text, "fuzz"), "fuzz");
  const bench::FleetProfile profile = bench::fleet_profile_from(json, "fuzz");
  const bench::Json again = bench::to_json(profile);
  demand(bench::to_json(bench::fleet_profile_from(schema.check(again, "again"), "again")) == again,
         "a profile changes: " + bench::dump(again));
  judge(profile);
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_profile(std::string(reinterpret_cast<const char*>(data), size));
  return 0;
}
