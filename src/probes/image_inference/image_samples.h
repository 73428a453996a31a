// The inputs of queries, ready in memory as in MLPerf's LoadGen: images, or captions with the noise
// from which images for them are made.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "training/workloads/workload.h"

namespace bench {

struct ImageSample {
  std::vector<float> image = {};         // as the model's rows; or noise, as rows of patches
  std::vector<std::int32_t> words = {};  // of a caption
};

/// The first `count` evaluation samples of the workload image, detect or flow.
std::vector<ImageSample> read_image_samples(const training::Workload& workload, std::int64_t count,
                                            const training::KernelFactory& kernels);

}  // namespace bench
