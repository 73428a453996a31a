// A job of one probe on a fake device, with the parameters that its schema fills in.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "core/schema.h"
#include "probes/probe.h"
#include "probes/state.h"
#include "tests/support/fake_device.h"

namespace bench {

struct ProbeJob {
  Job job;
  FakeDevice device;
  std::unique_ptr<Group> group = make_self_group();
  CollectedRecords sink;

  ProbeJob(const std::string& probe, const Json& params) {
    job.id = "01.test.0";
    job.probe = probe;
    job.params = Schema::load("schemas/probes/" + probe + ".json").check(params, "test");
  }

  Outcome run() { return run_on(device, *group); }
  Outcome run_on(Device& on, Group& ranks) {
    const Probe& probe = find_probe(job.probe);
    State state(job, probe, on, ranks, sink);
    probe.run(state);
    return state.finish();
  }

  std::vector<Samples> of(const std::string& metric) const {
    std::vector<Samples> found;
    for (const Samples& samples : sink.samples())
      if (samples.metric == metric) found.push_back(samples);
    return found;
  }
};

}  // namespace bench
