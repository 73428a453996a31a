// Isolates the GPU, or the link between two GPUs, of a host that makes jobs fail or slow: after a
// host was isolated, or for a job with several GPU ranks on one host. Group testing by halves as
// for hosts (search.h), with jobs on some GPUs. In a job of several hosts the same GPUs of a good
// partner take part, so that faults between hosts show again and a single GPU can be tested.
// Reference jobs on good hosts with as many GPUs run where needed (device_trials.h). A symptom of
// all GPUs points to the host, or to something its GPUs share.
#pragma once

#include <string>
#include <vector>

#include "results/localisation/device_trials.h"
#include "results/localisation/incident.h"

namespace bench {

struct DeviceSearch {
  DeviceForm form;
  Devices devices = {};  // all GPUs of the searched job on that host
  DeviceTrials jobs = {};
  SearchStep step = {};              // with GPUs in place of hosts
  std::vector<DeviceJob> next = {};  // jobs to run now; empty when finished
  bool spent = false;                // the budget ended it
  std::string obstacle = {};         // why there is no search
};

/// One search for each host isolated by `of_hosts`, or for the host of a single-host job. None for
/// jobs without GPUs.
std::vector<DeviceSearch> device_searches(const Incident& incident, const SearchStep& of_hosts);

/// "device cuda:5 of node03: with it 8.3 GB/s on cuda:5; without it 2.3 GB/s on cuda:[0-4]".
std::string describe(const SearchFinding& finding, const DeviceSearch& search,
                     const Incident& incident);
/// Findings, or the obstacle; one line each.
std::vector<std::string> lines_of(const DeviceSearch& search, const Incident& incident);
Json to_json(const DeviceSearch& search, const Incident& incident);

}  // namespace bench
