// What the database says of a night's series: their history, and what report regression makes of
// it.
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
  /// `index` must outlive it. A database that is not there yet knows nothing.
  NightHistory(std::filesystem::path database, const PastIndex& index, std::int64_t before_ns);

  /// Values of the last runs before the night, oldest first, without those that a night confirmed
  /// to be bad.
  std::vector<double> of(const SeriesIdentity& series) const;

  /// As take_flags() has it, with what people decided. Where the report cannot be made it is said
  /// why, and the night's own suspicions stand.
  void ask_regression_report(const RunSummary& night, const std::vector<std::string>& runs,
                             Suspicions& suspicions) const;

 private:
  std::filesystem::path database_;
  const PastIndex& index_;
  std::int64_t before_ns_;
  std::optional<Store> store_;
};

}  // namespace bench
