#include "runner/nightly/night_history.h"

#include "core/error.h"
#include "core/log.h"
#include "core/text.h"
#include "results/journal.h"
#include "results/nightly/flags.h"
#include "results/regression/decisions.h"
#include "results/store_past.h"

namespace bench {
namespace {

constexpr std::size_t kLongestHistory = 60;  // runs

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

}  // namespace bench
