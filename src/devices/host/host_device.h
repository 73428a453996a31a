// The CPU as a device.
#pragma once

#include <functional>
#include <memory>

#include "devices/device.h"

namespace bench {

/// The functions create these capabilities on first use; without one the device lacks it.
using MakeTopology = std::function<std::unique_ptr<Topology>()>;
std::unique_ptr<Device> make_host_device(MakeTrainingKernels training_kernels = {},
                                         MakeTopology topology = {});

}  // namespace bench
