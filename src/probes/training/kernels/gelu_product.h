// A product and GELU: in one kernel where the device has it, else in two.
#pragma once

#include "probes/training/kernels/kernel_set.h"

namespace bench::training {

/// multiply() of a product with a GELU step, whatever the kernels can.
void multiply_gelu(const KernelSet& kernels, GemmOptions product, View a, View b, View c);

}  // namespace bench::training
