// The main loop of a rank: reads a job, runs its probe and answers with records, until the end of
// the input. Only rank 0 reads and writes; mpirun forwards stdin to it alone, so each job is
// broadcast.
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
  /// `counters` are read during jobs that request telemetry.
  RankServer(
      Group& group, Device& device, RecordSink& sink,
      SourceFactory counters = [] { return host_counters(SystemFiles(), read_nic); })
      : group_(group), device_(device), sink_(sink), counters_(std::move(counters)) {}

  /// Describes this program and this host; the dispatcher waits for it before the first job.
  void write_program_facts(const Json& program, const Json& host);

  /// Further facts before the first job.
  void write_facts(const std::vector<Facts>& facts);

  /// Serves jobs, one JSON text per line, until the end of `in`.
  void serve(std::istream& in);

 private:
  void serve_one(const std::string& line);
  Outcome run(const Job& job);
  Outcome measure(const Job& job);
  /// Reports the error counters of each host; `own` is null on all but one of its ranks.
  void write_counters(const std::string& job, Json own);
  /// Reports the faults of all ranks' devices; returns a fatal one as text, or "".
  std::string write_faults(const std::string& job);
  Outcome failed(const Job& job, std::string reason, Seconds elapsed);
  void answer(const std::string& job, decltype(Record::body) body) {
    write_record(sink_, group_, job, std::move(body));
  }

  Group& group_;
  Device& device_;
  RecordSink& sink_;
  SourceFactory counters_;
  bool first_on_host_ = true;      // among the ranks of this host
  bool counters_written_ = false;  // all of them, including those that did not change
  // Why a rank's device does not work or is absent: the job fails or is skipped on all ranks.
  std::string broken_, absent_;
};

}  // namespace bench
