// The gradient exchange of ranks that divide experts: gradients of experts are summed over the
// ranks that have the same ones, all others over every rank.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "training/parallel/bucket_exchange.h"
#include "training/parallel/model_ranks.h"

namespace bench::training {

/// Neighbouring parameters in the row of gradients that are all divided over ranks, or all not.
struct RowPart {
  std::int64_t first = 0, count = 0;  // elements
  bool divided = false;
};
/// In the order of the row.
std::vector<RowPart> row_parts(const Plan& plan);

inline View part_of(View row, const RowPart& part) { return part_of(row, part.first, part.count); }

/// Parts are exchanged one by one: in a mixture of experts, two for each layer.
class ExpertExchange {
 public:
  /// All arguments but `plan` must outlive this object. Throws as BucketExchange does.
  ExpertExchange(const Plan& plan, const ModelRanks& ranks, const KernelSet& kernels,
                 std::int64_t bucket_bytes, SumOrder order);

  /// Each gradient in the row becomes the sum over the ranks that have its parameter.
  void all_reduce(View row);
  /// Size of its own buffers.
  std::int64_t bytes() const;
  /// The same before there is one, over so many ranks, of which some have the same experts.
  static std::int64_t bytes_for(const Plan& plan, int ranks, int ranks_of_expert,
                                std::int64_t bucket_bytes);

 private:
  std::vector<RowPart> parts_;
  BucketExchange shared_;
  std::optional<BucketExchange> divided_ = {};  // if several ranks have the same experts
};

}  // namespace bench::training
