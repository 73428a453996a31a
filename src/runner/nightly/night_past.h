// Inputs of a night: fault catalogue and past nights.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/store/store.h"
#include "results/verdicts/nightly/fault_catalogue.h"
#include "results/verdicts/nightly/past.h"
#include "results/verdicts/nightly/suspects.h"

namespace bench {

// History of a night's series in the database, and the regression report on it.

class NightHistory {
 public:
  /// `index` must outlive it. A missing database counts as empty.
  NightHistory(std::filesystem::path database, const PastIndex& index, std::int64_t before_ns);

  /// Values of the last runs before the night, oldest first, without confirmed bad ones.
  std::vector<double> of(const SeriesIdentity& series) const;
  /// CPU quotas of the host in the last runs before the night, as QuotasOf.
  std::vector<double> quotas_of(const std::string& host) const;

  /// Applies take_flags() with user decisions. If the report fails, logs why and keeps the
  /// suspicions.
  void ask_regression_report(const RunSummary& night, const std::vector<std::string>& runs,
                             Suspicions& suspicions) const;

 private:
  std::filesystem::path database_;
  const PastIndex& index_;
  std::int64_t before_ns_;
  std::optional<Store> store_;
};

/// Label of a night's runs; its value is the start of the night.
inline constexpr const char* kNightLabel = "night";

/// `file`: "" for hosts/faults/faults.json. Throws Error(input).
FaultCatalogue read_faults(const std::string& file);

/// Of the last `days`; empty without a database.
NightPast read_past(const std::filesystem::path& database, double days = 400.0);

/// Start of the newest night of that suite; 0 for none.
std::int64_t last_night_ns(const std::filesystem::path& database, const std::string& suite);

}  // namespace bench
