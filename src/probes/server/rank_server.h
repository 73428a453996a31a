// The life of a rank: read a job, run its probe, answer with records, until the input ends. Rank 0
// alone reads and writes; mpirun forwards stdin to it only, so each job is broadcast.
#pragma once

#include <istream>

#include "core/json.h"
#include "devices/counters/host_counters.h"
#include "devices/counters/nic_statistics.h"
#include "devices/device.h"
#include "devices/group.h"
#include "probes/server/job_telemetry.h"
#include "probes/state.h"

namespace bench {

class RankServer {
 public:
  /// `counters` are read during jobs that ask for telemetry.
  RankServer(
      Group& group, Device& device, RecordSink& sink,
      SourceFactory counters = [] { return host_counters(SystemFiles(), read_nic); })
      : group_(group), device_(device), sink_(sink), counters_(std::move(counters)) {}

  /// Says what this program and this host are; the dispatcher waits for it before the first job.
  void write_program_facts(const Json& program, const Json& host);

  /// What else is known before the first job.
  void write_facts(const std::vector<Facts>& facts);

  /// Serves jobs, one JSON text a line, until `in` ends.
  void serve(std::istream& in);

 private:
  void serve_one(const std::string& line);
  Outcome run(const Job& job);
  Outcome measure(const Job& job);
  /// Writes what each host's counters of errors came to; `own` is null on all but one of its ranks.
  void write_counters(const std::string& job, Json own);
  /// Writes what the devices of all ranks reported; the fatal ones in words, "" without any.
  std::string write_faults(const std::string& job);
  Outcome failed(const Job& job, std::string reason, Seconds elapsed);
  void answer(const std::string& job, decltype(Record::body) body) {
    write_record(sink_, group_, job, std::move(body));
  }

  Group& group_;
  Device& device_;
  RecordSink& sink_;
  SourceFactory counters_;
  bool first_on_host_ = true;      // of this host's ranks
  bool counters_written_ = false;  // all of them, with those that did not grow
  std::string broken_, absent_;    // why a rank's device does not work, or is not there: the job
                                   // fails or is skipped on all
};

}  // namespace bench
