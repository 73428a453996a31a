// Series of a file in which a measurement may appear several times (cycles, repeated tables): equal
// identities are merged into one series with several samples.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "core/record.h"

namespace bench {

// Receives what an importer read from another tool's output, as jobs with series.

/// What was measured together: one test of a tool on one set of hosts. Equal ones are one job.
struct ImportedJob {
  std::string run = {};      // in a file that holds several runs: which one; else empty
  std::int64_t time_ns = 0;  // UTC, since 1970; 0 if unknown
  std::string tool = {};     // used as the probe name: "nccl_tests", prefix of the metrics
  std::string name = {};     // of the case: "all_reduce"
  std::string device = "host";
  std::vector<std::string> hosts = {};  // empty if unknown
  int ranks = 0;                        // 0: the file does not say
  int rank = 0;
  int repeat = 0;
  Json labels = Json::object();  // of its run, next to those of the import
};

class ImportSink {
 public:
  virtual ~ImportSink() = default;

  /// Values in base units. Throws Error(input) for a series that the job has already.
  virtual void series(const ImportedJob& job, const Samples& samples) = 0;
  /// The job failed (Status::failed) or had a wrong result (Status::invalid).
  virtual void ended(const ImportedJob& job, Status status, const std::string& reason) = 0;
  /// Facts of the job's first host, or (topic "program") of the tool.
  virtual void facts(const ImportedJob& job, const Facts& facts) = 0;
  /// Tells the user what was skipped.
  virtual void note(const std::string& text) = 0;

 protected:
  ImportSink() = default;
  ImportSink(const ImportSink&) = default;
  ImportSink& operator=(const ImportSink&) = default;
};

class CollectedSeries {
 public:
  /// Samples of one series may arrive in parts; the worst outcome counts.
  void add(const ImportedJob& job, Samples samples);
  /// In order of arrival.
  void emit(ImportSink& sink) const;
  /// Throws Error(input), "FILE: no TOOL results found", if there are none.
  void emit(ImportSink& sink, const std::string& file, const char* tool) const;
  bool empty() const { return series_.empty(); }

 private:
  std::vector<std::pair<ImportedJob, Samples>> series_;
  std::map<std::string, std::size_t> known_;
};

/// A series of one value, not flagged. Throws Error(input) for a value that is not finite.
Samples one_value(const std::string& metric, Unit unit, Better better, const Json& params,
                  double value);

/// Records what the tool itself found wrong with a series; nothing for "".
void mark_invalid(Samples& samples, const std::string& wrong);

/// Identity of a job, or of a series within it.
std::string identity_of(const ImportedJob& job);
std::string identity_of(const ImportedJob& job, const Samples& samples);

}  // namespace bench
