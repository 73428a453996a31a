// The crop that trainings on images draw: of random area and shape, then resized (torchvision's
// RandomResizedCrop), and turned over half of the time.
#pragma once

#include "probes/data/decode/jpeg.h"
#include "probes/training/sources/random.h"

namespace bench::data {

struct RandomCrop {
  Region region = {};
  bool flip = false;
};

/// An area of 8 % to 100 % of the image's, width over height of 3/4 to 4/3 (uniform in the
/// logarithm), anywhere in it; where ten draws do not fit, the largest such crop at its centre.
/// A function of stream and size alone.
RandomCrop random_resized_crop(training::RandomStream stream, ImageSize size);

/// The largest square of the centre, as one evaluates; never turned over.
RandomCrop centre_crop(ImageSize size);

}  // namespace bench::data
