// Converts jobs on some GPUs of a host into trials of a search over GPUs. Fewer GPUs may reach less
// than the gate requires of all, so in a slow job
// - all GPUs are judged as whole hosts (incident.h),
// - fewer are slow if worse, by the threshold of the incident, than as many GPUs of a good host (a
//   reference) or of this one,
// - and fine if not slow and they meet the gate, have a reference, or as many others are worse;
// else
//   unknown until there is a reference.
#pragma once

#include <string>
#include <vector>

#include "results/localisation/device_names.h"
#include "results/localisation/incident.h"

namespace bench {

/// How the GPUs of a host are tested.
struct DeviceForm {
  std::string host;
  std::string partner = {};  // host whose same GPUs take part; "" for none
  Hosts reference = {};      // good hosts, as many as in a job; empty for none
};

struct DeviceTrials {
  std::vector<Trial> trials = {};  // Trial::hosts are GPUs
  /// Sets that need a reference first; not among the trials.
  std::vector<Devices> unreferenced = {};
  std::vector<Trial> references = {};  // Trial::hosts are GPUs of the reference
};

DeviceTrials device_trials(const Incident& incident, const DeviceForm& form);

/// The hosts of a job in this form.
Hosts hosts_of(const DeviceForm& form);

}  // namespace bench
