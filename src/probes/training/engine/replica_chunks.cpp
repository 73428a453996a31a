// The ranges of parameters that a replica's optimizer updates.
#include "probes/training/engine/replica.h"

namespace bench::training {
namespace {

/// The elements of a tensor in a row over all.
struct ElementRange {
  std::int64_t first = 0;
  std::int64_t last = 0;
};

ElementRange elements_in(View row, View tensor) {
  const std::int64_t first = element_of(row, tensor);
  return {first, first + tensor.elements()};
}

}  // namespace

void Replica::make_chunks(const std::vector<BlockRange>& blocks) {
  chunks_.clear();
  const View parameters = weights_.all(), slopes = gradients();
  std::int64_t state = 0;  // elements of the ranges before
  for (const BlockRange& range : blocks) {
    const std::int64_t start = range.first * kBlock;
    for (const auto& [tensor, action] : plan_.gradient_order) {
      const ElementRange own = elements_in(slopes, lanes_[0]->gradient({nullptr, tensor}));
      require(own.first == elements_in(parameters, weights_.view(plan_, tensor)).first, "replica",
              "a parameter and its gradient have different offsets");
      const bool decay = plan_.graph->tensors()[static_cast<std::size_t>(tensor)].parameter.decay;
      for (std::int64_t block = std::max(range.first, own.first / kBlock);
           block < range.last && block * kBlock < own.last; ++block) {
        const std::int64_t first = std::max(own.first, block * kBlock);
        const std::int64_t count = std::min(own.last, (block + 1) * kBlock) - first;
        chunks_.push_back({state + first - start, decay, part_of(parameters, first, count),
                           part_of(slopes, first, count)});
      }
    }
    state += blocks_in(slopes, range).elements();
  }
  if (!kernels_.memory->on_host()) join_chunks();
}

/// A device updates adjacent ranges with equal settings in one call: a call per block would cost
/// more than the update.
void Replica::join_chunks() {
  std::vector<UpdateRange> joined;
  for (const UpdateRange& chunk : chunks_) {
    if (!joined.empty()) {
      UpdateRange& last = joined.back();
      const std::int64_t count = last.parameters.elements();
      const auto follows = [count](View before, View after) {
        return part_of(before, count, 0).data == after.data;
      };
      if (last.decay == chunk.decay && last.first + count == chunk.first &&
          follows(last.parameters, chunk.parameters) && follows(last.gradients, chunk.gradients)) {
        last.parameters.columns += chunk.parameters.columns;
        last.gradients.columns += chunk.gradients.columns;
        continue;
      }
    }
    joined.push_back(chunk);
  }
  chunks_ = std::move(joined);
}

}  // namespace bench::training
