// Which GPU of a host, or which link between two of its GPUs, makes jobs fail or slow: the search
// that follows where a host was named, or where a job of one host has several ranks with a GPU
// each. Group testing by halves as among hosts (search.h), with jobs on some of the host's GPUs;
// where a host was named beside others, the same GPUs of a host that is known to be good take part,
// so that what shows only between hosts shows again, and one GPU can be asked alone. What jobs on a
// good host reach with as many GPUs is asked where it is needed (device_trials.h).
// What all GPUs of a host show alike is not a GPU's: the host, or what its GPUs share.
#pragma once

#include <string>
#include <vector>

#include "results/localisation/device_trials.h"
#include "results/localisation/incident.h"

namespace bench {

struct DeviceSearch {
  DeviceForm form;
  Devices devices = {};  // all that the searched job drives there
  DeviceTrials jobs = {};
  SearchStep step = {};              // its hosts are GPUs
  std::vector<DeviceJob> next = {};  // jobs to run now, without results. Empty: it has ended
  bool spent = false;                // the budget ended it
  std::string obstacle = {};         // why no GPU can be named; nothing is searched
};

/// For each host that `of_hosts`, the ended search among hosts, names; or for the one host of the
/// incident's job. Nothing for jobs that measure no GPU.
std::vector<DeviceSearch> device_searches(const Incident& incident, const SearchStep& of_hosts);

/// "device cuda:5 of node03: with it 8.3 GB/s on cuda:5; without it 2.3 GB/s on cuda:[0-4]".
std::string describe(const SearchFinding& finding, const DeviceSearch& search,
                     const Incident& incident);
/// What it found, or why it could not; one line each.
std::vector<std::string> lines_of(const DeviceSearch& search, const Incident& incident);
Json to_json(const DeviceSearch& search, const Incident& incident);

}  // namespace bench
