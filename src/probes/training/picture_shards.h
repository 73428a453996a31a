// Pictures of tar shards as a training reads them: JPEGs with labels, of which only the crop is
// decoded.
#pragma once

#include <memory>

#include "training/pictures/picture_source.h"
#include "training/workloads/workload.h"

namespace bench {

/// Shards as probes/data/formats/blob_source.h reads them, with labels from 0 on. Their best
/// attainable quality is known if every sample has a .truth. Without evaluation files the
/// evaluation split is empty. Throws Error(environment) without libjpeg-turbo, Error(input) for
/// labels or true classes below 0 or from 2^24 on, and as open_tar_shards() does.
std::unique_ptr<training::PictureSource> open_picture_shards(const training::DataChoice& data);

}  // namespace bench
