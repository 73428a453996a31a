#include "probes/training/trainer/data_audit.h"

#include <fmt/format.h>

#include <cstring>

namespace bench::training {
namespace {

bool equal_bytes(View a, View b) {
  return std::memcmp(a.data, b.data, static_cast<std::size_t>(a.elements()) * size_of(a.dtype)) ==
         0;
}

/// f64 holds a half of a checksum exactly; a group adds only f64.
constexpr double low_half(std::uint64_t sum) { return static_cast<double>(sum & 0xffffffff); }
constexpr double high_half(std::uint64_t sum) { return static_cast<double>(sum >> 32); }

}  // namespace

std::string DataAudit::look(std::int64_t step, Group& group) const {
  const std::string own = agreed(group, reread(step, group.rank()));
  return own.empty() && group.size() > 1 ? agreed(group, regenerate(step, group)) : own;
}

std::string DataAudit::reread(std::int64_t step, int rank) const {
  for (int i = 0; i < split_.lanes; ++i) {
    const int number = (i + 1) * split_.micro_batches - 1;  // the one that a lane did last
    const Lane& again = evaluator_.lane(i);
    const std::uint64_t first = split_.first(step, rank, number);
    workload_.read(Split::train, first, model_, again);
    for (const Var input : model_.inputs)
      if (!equal_bytes(again.view(input), replica_.lane(i).view(input)))
        return fmt::format(
            "step {}: '{}' of samples {} to {} on rank {} is not what the source gives again", step,
            input.name(), first, first + static_cast<std::uint64_t>(split_.micro_batch) - 1, rank);
  }
  return "";
}

std::string DataAudit::regenerate(std::int64_t step, Group& group) const {
  const auto ranks = static_cast<std::size_t>(group.size());
  const auto sum_of = [&](int rank) {
    return workload_.checksum(Split::train, split_.first(step, rank, 0), split_.of_rank());
  };
  std::vector<double> halves(2 * ranks, 0.0);
  const auto own = static_cast<std::size_t>(group.rank());
  const std::uint64_t mine = sum_of(group.rank());
  halves[2 * own] = low_half(mine);
  halves[2 * own + 1] = high_half(mine);
  group.sum(halves);
  const std::size_t next = (own + 1) % ranks;
  const std::uint64_t again = sum_of(static_cast<int>(next));
  if (halves[2 * next] == low_half(again) && halves[2 * next + 1] == high_half(again)) return "";
  return fmt::format("step {}: rank {} has other samples than rank {} makes for it", step, next,
                     own);
}

}  // namespace bench::training
