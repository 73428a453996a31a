// What the jobs of a search on some GPUs of a host say, as trials of the search in which GPUs stand
// for hosts. Fewer GPUs may well reach less than the gate asks of all, so of a job that is slow
// - all GPUs are slow as whole hosts are (incident.h),
// - fewer are slow where they are worse, by the incident's threshold, than equally many: of a host
//   that is known to be good (a reference), or of this one,
// - and fine where they are not and meet the gate, or have such a reference, or others of as many
//   that are worse; else nothing can be said of them before there is a reference.
#pragma once

#include <string>
#include <vector>

#include "results/localisation/device_names.h"
#include "results/localisation/incident.h"

namespace bench {

/// A way in which a host's GPUs are looked at.
struct DeviceForm {
  std::string host;
  std::string partner = {};  // of whose GPUs the same ones take part; "" for none
  Hosts reference = {};      // good hosts, as many as those of a job; empty for none
};

struct DeviceTrials {
  std::vector<Trial> trials = {};  // Trial::hosts are GPUs
  /// Of these a reference has to run before they say anything; they are none of the trials.
  std::vector<Devices> unreferenced = {};
  std::vector<Trial> references = {};  // Trial::hosts are GPUs of the reference
};

DeviceTrials device_trials(const Incident& incident, const DeviceForm& form);

/// The hosts of a job of the form.
Hosts hosts_of(const DeviceForm& form);

}  // namespace bench
