#include "runner/nightly/night_past.h"

#include "core/error.h"
#include "core/locations.h"
#include "core/log.h"
#include "core/schema.h"
#include "core/text.h"
#include "core/time.h"
#include "results/store/journal.h"
#include "results/store/store.h"
#include "results/store/store_past.h"
#include "results/verdicts/nightly/suspects.h"
#include "results/verdicts/regression/decisions.h"

namespace bench {
namespace {

constexpr std::size_t kLongestHistory = 60;  // runs
constexpr std::size_t kQuotasCompared = 20;  // runs: a quota that stays is usual after ten

}  // namespace

NightHistory::NightHistory(std::filesystem::path database, const PastIndex& index,
                           std::int64_t before_ns)
    : database_(std::move(database)), index_(index), before_ns_(before_ns) {
  if (std::filesystem::exists(database_)) store_.emplace(Store::open(database_, Access::read));
}

std::vector<double> NightHistory::of(const SeriesIdentity& series) const {
  std::vector<double> values;
  if (!store_) return values;
  for (const PastValue& run : past_values(*store_, series, before_ns_, kLongestHistory))
    if (!index_.is_known_bad(run.run, series)) values.push_back(run.value);
  return values;
}

std::vector<double> NightHistory::quotas_of(const std::string& host) const {
  return store_ ? past_cpu_quotas(*store_, host, before_ns_, kQuotasCompared)
                : std::vector<double>{};
}

void NightHistory::ask_regression_report(const RunSummary& night,
                                         const std::vector<std::string>& runs,
                                         Suspicions& suspicions) const try {
  if (!store_) return;
  RegressionOptions ask;
  ask.decisions = decisions_of(read_journal(journal_path(database_)));
  take_flags(regression_report(Histories(*store_), ask), night, runs, suspicions);
} catch (const Error& error) {
  say(Level::warning, printable("regression report skipped: " + std::string(error.what())));
}

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
  past.skips = past_skips(store, since_ns);
  return past;
}

std::int64_t last_night_ns(const fs::path& database, const std::string& suite) {
  if (!fs::exists(database)) return 0;
  for (const RunRow& run : Store::open(database, Access::read).runs())
    if (run.suite == suite && run.labels.contains(kNightLabel)) return run.time_ns;
  return 0;
}

}  // namespace bench
