// A job of one probe on a fake device, with the parameters that its schema fills in.
#pragma once

#include <memory>
#include <set>
#include <string>
#include <vector>

#include "core/clean.h"
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

  /// Other processes use half of the machine from now on.
  void crowd() {
    device.fake_watch.next_machine = [readings = 0.0]() mutable {
      readings += 1.0;
      return MachineTime{.busy_s = 50.0 * readings, .all_s = 100.0 * readings, .tick_s = 0.01};
    };
  }

  /// Metrics of which a series has a clean sample.
  std::set<std::string> clean_metrics() const {
    std::set<std::string> clean;
    for (const Samples& samples : sink.samples())
      if (samples.outcome == Status::ok && count_clean(samples.flags) > 0)
        clean.insert(samples.metric);
    return clean;
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
