// Every kernel of training as calls on made-up tensors, so that the kernels of two devices can be
// compared: the functors with the host's in CI, a GPU's with the host's by training_gpu_check.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tests/training/case_tensors.h"
#include "training/kernels/kernel_set.h"

namespace bench::training {

struct KernelCase {
  std::string name;
  std::function<void(const KernelSet&, CaseTensors&)> run;
};

std::vector<KernelCase> kernel_cases(Dtype dtype);

/// The largest difference of what a case writes, relative to the larger of the value and the root
/// mean square of all; infinite where one is not a number.
struct KernelDifference {
  double found = 0.0;
  double damaged = 0.0;  // the same after one value was changed: what a wrong kernel would show
};
KernelDifference compare_kernels(const KernelCase& one, const KernelSet& tested,
                                 const KernelSet& host);

/// What compare_kernels may give for right kernels.
double kernel_tolerance(Dtype dtype);

}  // namespace bench::training
