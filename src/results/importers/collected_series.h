// Series of a file in which a measurement may appear several times (cycles, repeated tables): equal
// identities are merged into one series with several samples.
#pragma once

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "results/importers/import_sink.h"

namespace bench {

class CollectedSeries {
 public:
  /// Samples of one series may arrive in parts; the worst outcome counts.
  void add(const ImportedJob& job, Samples samples);
  /// In order of arrival.
  void emit(ImportSink& sink) const;
  bool empty() const { return series_.empty(); }

 private:
  std::vector<std::pair<ImportedJob, Samples>> series_;
  std::map<std::string, std::size_t> known_;
};

/// A series of one value, not flagged. Throws Error(input) for a value that is not finite.
Samples one_value(const std::string& metric, Unit unit, Better better, const Json& params,
                  double value);

/// Identity of a job, or of a series within it.
std::string identity_of(const ImportedJob& job);
std::string identity_of(const ImportedJob& job, const Samples& samples);

}  // namespace bench
