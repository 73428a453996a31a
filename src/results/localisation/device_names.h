// The GPUs of a host that a job was on, as its part names them: {"device": "cuda:0,cuda:3"}.
// Numbers are nvidia-smi's.
#pragma once

#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

using Devices = std::vector<std::string>;  // "cuda:3"

/// Empty for whole hosts.
Devices devices_in(const Json& part);
/// As a part names them, and kDeviceVariable.
std::string device_words(const Devices& devices);
/// What so many ranks of a host drive, one each: "cuda:0", "cuda:1", ...
Devices first_gpus(int ranks);

}  // namespace bench
