#include "training/trainer/batch_split.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"

namespace bench::training {
namespace {

/// The largest divisor of `whole` up to `most`.
std::int64_t divisor(std::int64_t whole, std::int64_t most) {
  std::int64_t best = std::max<std::int64_t>(1, std::min(whole, most));
  while (whole % best != 0) --best;
  return best;
}

}  // namespace

BatchSplit split_batch(std::int64_t batch, int ranks, int lanes, int cores, std::int64_t most) {
  if (batch < 1 || batch % ranks != 0)
    throw Error(ErrorKind::input,
                fmt::format("a batch of {} samples cannot be split over {} ranks", batch, ranks),
                "use a batch size that is a multiple of the number of ranks");
  BatchSplit split;
  split.batch = batch;
  split.ranks = ranks;
  const std::int64_t part = batch / ranks;
  split.lanes = lanes > 0 ? lanes : static_cast<int>(divisor(part, cores));
  if (part % split.lanes != 0)
    throw Error(
        ErrorKind::input,
        fmt::format("{} samples per rank cannot be split over {} lanes", part, split.lanes),
        fmt::format("use a number of lanes that divides {}, or 0 to choose automatically", part));
  const std::int64_t each = part / split.lanes;
  split.micro_batch = divisor(each, most > 0 ? most : each);
  split.micro_batches = static_cast<int>(each / split.micro_batch);
  return split;
}

}  // namespace bench::training
