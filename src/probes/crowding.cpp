#include "probes/crowding.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr double kTicks = 2.0;

/// A number that ranks on one machine share and others do not: the beginning of its boot id.
double machine_number() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  in >> id;
  return id.size() < 8 ? 0.0 : static_cast<double>(std::stoul(id.substr(0, 8), nullptr, 16));
}

/// The CPU time of all ranks on this rank's machine.
double of_our_ranks(Group& group, double own_s) {
  if (group.size() == 1) return own_s;
  static const double machine = machine_number();
  const auto ranks = static_cast<std::size_t>(group.size());
  std::vector<double> table(2 * ranks, 0.0);  // times, then machines; each rank fills its own place
  table[static_cast<std::size_t>(group.rank())] = own_s;
  table[ranks + static_cast<std::size_t>(group.rank())] = machine;
  group.sum(table);
  double sum = 0.0;
  for (std::size_t rank = 0; rank < ranks; ++rank)
    if (table[ranks + rank] == machine) sum += table[rank];
  return sum;
}

}  // namespace

Crowding::Crowding(Device& device, Group& group)
    : device_(device),
      group_(group),
      machine_(device.watch().machine_time()),
      own_(device.watch().cpu_time()) {}

std::optional<double> Crowding::others_share() {
  const auto now = device_.watch().machine_time();
  const double ours = of_our_ranks(group_, (device_.watch().cpu_time() - own_).value);
  double share = -std::numeric_limits<double>::infinity();
  if (machine_ && now && now->all_s > machine_->all_s) {
    const double others = now->busy_s - machine_->busy_s - ours - kTicks * now->tick_s;
    share = std::max(others, 0.0) / (now->all_s - machine_->all_s);
  }
  group_.max(std::span(&share, 1));
  return std::isfinite(share) ? std::optional(share) : std::nullopt;
}

}  // namespace bench
