// The group that all tests of this program share (MPI can be initialised once only), and one brief
// job of a probe on it.
#pragma once

#include <string>
#include <vector>

#include "core/schema.h"
#include "devices/host/host_device.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "tests/support/fake_device.h"
#include "training/host/host_kernels.h"

namespace bench {

Group& mpi_test_group();

struct MpiRun {
  Outcome outcome;
  std::vector<Samples> samples;  // at rank 0
  std::vector<Facts> facts;      // at rank 0
  std::vector<Chunk> chunks;     // at rank 0
};

/// On the host's device; the probe's schema fills in what `params` leaves out.
inline MpiRun run_briefly(Group& group, const std::string& name, const Json& params) {
  Job job;
  job.ranks = group.size();
  job.params = Schema::load("schemas/probes/" + name + ".json").check(params, "test");
  job.measure.max_time_s = 0.02;
  job.measure.min_time_s = 0.0;
  job.measure.warm_up_max_s = 0.01;
  const auto device = make_host_device(make_host_training_kernels);
  CollectedRecords sink;
  const Probe& probe = find_probe(name);
  State state(job, probe, *device, group, sink);
  probe.run(state);
  MpiRun run{state.finish(), sink.samples(), {}, {}};
  for (const Record& record : sink.records) {
    if (const auto* facts = std::get_if<Facts>(&record.body)) run.facts.push_back(*facts);
    if (const auto* chunk = std::get_if<Chunk>(&record.body)) run.chunks.push_back(*chunk);
  }
  return run;
}

}  // namespace bench
