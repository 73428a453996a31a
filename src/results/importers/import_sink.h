// Receives what an importer read from another tool's output, as jobs with series.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "core/record.h"

namespace bench {

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
};

class ImportSink {
 public:
  virtual ~ImportSink() = default;

  /// Values in base units. Throws Error(input) for a series that the job has already.
  virtual void series(const ImportedJob& job, const Samples& samples) = 0;
  /// The job did not end well: Status::failed, or Status::invalid for a wrong result.
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

}  // namespace bench
