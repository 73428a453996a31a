#include "training/pictures/resample_loops.h"

namespace bench::training {

const ResampleKernels& resample_kernels_base() { return kLoops; }

const ResampleKernels& resample_kernels() {
  static const ResampleKernels* const kChosen = resample_kernels_avx2();
  return kChosen != nullptr ? *kChosen : kLoops;
}

}  // namespace bench::training
