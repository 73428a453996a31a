#include "runner/nightly/night_past.h"

#include "core/locations.h"
#include "core/schema.h"
#include "core/text.h"
#include "results/store.h"
#include "results/store_past.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

std::int64_t days_ago_ns(double days) {
  return now_ns() - static_cast<std::int64_t>(days * kDay_s * 1e9);
}

}  // namespace

FaultCatalogue read_faults(const std::string& option) {
  const fs::path file =
      option.empty() ? data_root() / "hosts" / "faults" / "faults.json" : fs::path(option);
  const Json checked = Schema::load(schema_path("faults")).check(read_json(file), file.string());
  return fault_catalogue(checked, file.string());
}

NightPast read_past(const fs::path& database, double days) {
  if (!fs::exists(database)) return {};
  const Store store = Store::open(database, Access::read);
  const std::int64_t since_ns = days_ago_ns(days);
  NightPast past{past_checks(store, since_ns), {}};
  for (const PastEvent& event : past_events(store, kFindingEvent, since_ns))
    past.findings.push_back({event.time_ns, finding_from_json(event.value)});
  return past;
}

std::int64_t last_night_ns(const fs::path& database, const std::string& suite) {
  if (!fs::exists(database)) return 0;
  for (const RunRow& run : Store::open(database, Access::read).runs())
    if (run.suite == suite && run.labels.contains(kNightLabel)) return run.time_ns;
  return 0;
}

}  // namespace bench
