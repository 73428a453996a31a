// History of a night's series in the database, and the regression report on it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "results/nightly/suspects.h"
#include "results/store.h"

namespace bench {

class NightHistory {
 public:
  /// `index` must outlive it. A missing database counts as empty.
  NightHistory(std::filesystem::path database, const PastIndex& index, std::int64_t before_ns);

  /// Values of the last runs before the night, oldest first, without confirmed bad ones.
  std::vector<double> of(const SeriesIdentity& series) const;

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

}  // namespace bench
