#include "training/parallel/expert_exchange.h"

#include <algorithm>

#include "training/parallel/exchange_method.h"

namespace bench::training {
namespace {

/// Of a bucket of at most so many bytes for the largest part of this kind.
std::int64_t most_blocks(const Plan& plan, bool divided, std::int64_t bytes) {
  const Dtype dtype = plan.graph->compute();
  std::int64_t elements = 1;
  for (const RowPart& part : row_parts(plan))
    if (part.divided == divided) elements = std::max(elements, part.count);
  const std::int64_t of_bucket = bytes / (kBlock * static_cast<std::int64_t>(size_of(dtype)));
  return std::clamp<std::int64_t>((elements + kBlock - 1) / kBlock, 1,
                                  std::max<std::int64_t>(1, of_bucket));
}

}  // namespace

std::vector<RowPart> row_parts(const Plan& plan) {
  std::vector<RowPart> parts;
  for (const RowTensor& tensor : row_tensors(plan)) {
    const bool divided = plan.graph->tensor(tensor.tensor).parameter.slice.is_part();
    if (parts.empty() || parts.back().divided != divided)
      parts.push_back({tensor.first, 0, divided});
    parts.back().count = tensor.first + tensor.elements() - parts.back().first;
  }
  return parts;
}

ExpertExchange::ExpertExchange(const Plan& plan, const ModelRanks& ranks, const KernelSet& kernels,
                               std::int64_t bucket_bytes, SumOrder order)
    : parts_(row_parts(plan)),
      shared_(ranks.data(), kernels, nullptr, plan.graph->compute(),
              most_blocks(plan, false, bucket_bytes), order) {
  if (ranks.replicas().size() > 1)
    divided_.emplace(ranks.replicas(), kernels, nullptr, plan.graph->compute(),
                     most_blocks(plan, true, bucket_bytes), order);
}

std::int64_t ExpertExchange::bytes_for(const Plan& plan, int ranks, int ranks_of_expert,
                                       std::int64_t bucket_bytes) {
  const auto of = [&](bool divided, int size) {
    return BucketExchange::bytes_for(most_blocks(plan, divided, bucket_bytes), size,
                                     plan.graph->compute());
  };
  return of(false, ranks) + (ranks_of_expert > 1 ? of(true, ranks_of_expert) : 0);
}

void ExpertExchange::all_reduce(View row) {
  for (const RowPart& part : parts_)
    if (!part.divided)
      shared_.all_reduce_row(part_of(row, part));
    else if (divided_)
      divided_->all_reduce_row(part_of(row, part));
}

std::int64_t ExpertExchange::bytes() const {
  return shared_.bytes() + (divided_ ? divided_->bytes() : 0);
}

}  // namespace bench::training
