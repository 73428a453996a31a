// The GPUs of a host used by a job, as named in its part: {"device": "cuda:0,cuda:3"}.
// Numbered as by nvidia-smi.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

using Devices = std::vector<std::string>;  // "cuda:3"

/// Empty for whole hosts.
Devices devices_in(const Json& part);
/// As in a part and in kDeviceVariable.
std::string device_words(const Devices& devices);
/// The GPUs of that many ranks on a host, one each: "cuda:0", "cuda:1", ...
Devices first_gpus(int ranks);

}  // namespace bench
