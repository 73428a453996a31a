#include "devices/crowding.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <limits>
#include <span>
#include <string>
#include <vector>

namespace bench {
namespace {

constexpr double kTicks = 2.0;
constexpr double kWindowSeconds = 0.25;

/// A number shared by the ranks of one machine only: the start of its boot ID.
double machine_number() {
  std::ifstream in("/proc/sys/kernel/random/boot_id");
  std::string id;
  in >> id;
  return id.size() < 8 ? 0.0 : static_cast<double>(std::stoul(id.substr(0, 8), nullptr, 16));
}

/// CPU time of all ranks on this rank's machine.
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

std::optional<Crowding::Reading> Crowding::read() {
  const auto machine = threads_.machine_time();
  if (!machine) return {};
  return Reading{device_.now(), *machine, threads_.cpu_time()};
}

void Crowding::mark() {
  const auto now = read();
  if (!now) return;
  const auto old = [&](const Reading& one) {
    return (now->time - one.time).value >= kWindowSeconds;
  };
  while (readings_.size() > 1 && old(readings_[1])) readings_.erase(readings_.begin());
  readings_.push_back(*now);
}

std::optional<double> Crowding::others_share() {
  const auto now = read();
  double ours = 0.0;
  const Reading* since = nullptr;
  if (now && !readings_.empty()) {
    const auto long_ago = [&](const Reading& one) {
      return (now->time - one.time).value >= kWindowSeconds;
    };
    const auto latest = std::ranges::find_if(readings_.rbegin(), readings_.rend(), long_ago);
    since = latest == readings_.rend() ? &readings_.front() : &*latest;
    ours = (now->own - since->own).value;
  }
  ours = of_our_ranks(group_, ours);
  double share = -std::numeric_limits<double>::infinity();
  if (since != nullptr && now->machine.all_s > since->machine.all_s) {
    const double busy = now->machine.busy_s - since->machine.busy_s;
    const double others = busy - ours - kTicks * now->machine.tick_s;
    share = std::max(others, 0.0) / (now->machine.all_s - since->machine.all_s);
  }
  group_.max(std::span(&share, 1));
  return std::isfinite(share) ? std::optional(share) : std::nullopt;
}

}  // namespace bench
