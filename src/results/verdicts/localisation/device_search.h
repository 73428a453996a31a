// Isolates the GPU, or the link between two GPUs, of a host that makes jobs fail or slow: after a
// host was isolated, or for a job with several GPU ranks on one host. Group testing by halves as
// for hosts (search.h), with jobs on some GPUs. In a job of several hosts the same GPUs of a good
// partner take part, so that faults between hosts show again and a single GPU can be tested.
// Reference jobs on good hosts with as many GPUs run where needed. A symptom of all GPUs points to
// the host, or to something its GPUs share.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"
#include "results/verdicts/localisation/incident.h"

namespace bench {

// The GPUs of a host used by a job, as named in its part: {"device": "cuda:0,cuda:3"}.
// Numbered as by nvidia-smi.

using Devices = std::vector<std::string>;  // "cuda:3"

/// Empty for whole hosts.
Devices devices_in(const Json& part);
/// As in a part and in kDeviceVariable.
std::string device_words(const Devices& devices);
/// The GPUs of that many ranks on a host, one each: "cuda:0", "cuda:1", ...
Devices first_gpus(int ranks);

// Converts jobs on some GPUs of a host into trials of a search over GPUs. Fewer GPUs may reach less
// than the gate requires of all, so in a slow job
// - all GPUs are judged as whole hosts (incident.h),
// - fewer are slow if the best of three repeats is worse, by the threshold of the incident and
//   beyond twice the difference of repeats, than as many GPUs of a good host (a reference) or of
//   this one, repeated too,
// - and fine if not slow and they meet the gate, have a reference, or as many others are worse;
// otherwise the result is unknown until there is a reference.

/// How the GPUs of a host are tested.
struct DeviceForm {
  std::string host;
  std::string partner = {};  // host whose same GPUs take part; "" for none
  Hosts reference = {};      // good hosts, as many as in a job; empty for none
};

struct DeviceTrials {
  std::vector<Trial> trials = {};  // Trial::hosts are GPUs
  /// Sets that need a reference first, not among the trials; or its repeat.
  std::vector<Devices> unreferenced = {};
  std::vector<Trial> references = {};  // Trial::hosts are GPUs of the reference
};

DeviceTrials device_trials(const Incident& incident, const DeviceForm& form);

/// The hosts of a job in this form.
Hosts hosts_of(const DeviceForm& form);

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
