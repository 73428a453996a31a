// The CPU as a device.
#pragma once

#include <functional>
#include <memory>

#include "devices/device.h"

namespace bench {

/// `topology` and `training_kernels` make these capabilities when they are first asked for; without
/// a maker the device has none.
using MakeTopology = std::function<std::unique_ptr<Topology>()>;
std::unique_ptr<Device> make_host_device(MakeTrainingKernels training_kernels = {},
                                         MakeTopology topology = {});

}  // namespace bench
