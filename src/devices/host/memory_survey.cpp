#include "devices/host/memory_survey.h"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <string>

#include "core/error.h"
#include "devices/host/host_cpus.h"
#include "devices/host/memory_arrays.h"

namespace bench {
namespace {

constexpr unsigned kLeastBits = 2;  // until the first prepare()
constexpr std::uint64_t kBlockNodes = 64;
constexpr std::size_t kNodeWords = HostChain::kNodeBytes / sizeof(double);

const std::byte* follow(const std::byte* node) {
  const std::byte* next;
  std::memcpy(&next, node, sizeof next);
  return next;
}

}  // namespace

HostChain::HostChain(const ChainRequest& request, std::vector<int> cores, double cached_bytes,
                     HostThreadWatch& watch)
    : seed_(request.seed),
      cached_bytes_(cached_bytes),
      order_(kLeastBits, seed_),
      mapping_(static_cast<std::size_t>(request.bytes), request.pages, request.place.memory_node),
      team_(std::move(cores), watch) {}

void HostChain::prepare(double bytes) {
  order_ = ChainOrder(chain_bits(bytes, kNodeBytes, mapping_.bytes()), seed_);
  const auto threads = static_cast<std::uint64_t>(team_.size());
  const std::uint64_t blocks = (order_.nodes() + kBlockNodes - 1) / kBlockNodes;
  const std::uint64_t share = (blocks + threads - 1) / threads * kBlockNodes;
  team_.run([&](int thread) {
    const std::uint64_t first =
        std::min(order_.nodes(), share * static_cast<std::uint64_t>(thread));
    build(first, std::min(order_.nodes(), first + share), bytes > cached_bytes_);
  });
  touched_ = std::max<std::size_t>(touched_, order_.nodes() * kNodeBytes);
  at_ = node(order_.after(0));
  steps_ = 0;
}

/// A page's worth of nodes is made in a buffer and then copied, past the caches or not.
void HostChain::build(std::uint64_t first, std::uint64_t end, bool cold) const {
  alignas(64) double block[kBlockNodes * kNodeWords] = {};
  const StreamKernels& kernels = stream_kernels();
  const auto copy = cold ? kernels.copy_nontemporal : kernels.copy;
  for (; first < end; first += kBlockNodes) {
    const std::uint64_t count = std::min(kBlockNodes, end - first);
    for (std::uint64_t i = 0; i < count; ++i) {
      const std::byte* next = node(order_.next(first + i));
      std::memcpy(block + i * kNodeWords, &next, sizeof next);
    }
    copy(reinterpret_cast<double*>(node(first)), block, count * kNodeWords);
  }
}

void HostChain::run(std::int64_t loads) {
  const std::byte* at = at_;
  std::int64_t left = loads;
  for (; left >= 16; left -= 16)
#pragma GCC unroll 16
    for (int i = 0; i < 16; ++i) at = follow(at);
  for (; left > 0; --left) at = follow(at);
  at_ = at;
  steps_ += static_cast<std::uint64_t>(loads);
}

Check HostChain::verify() {
  const double off = static_cast<double>(at_ - node(order_.after(steps_)));
  return {"position after a known number of steps", std::abs(off) / kNodeBytes, 0.0};
}

namespace {

// The host's memory as a MemorySystem.

class HostMemory final : public MemorySystem {
 public:
  HostMemory(const HostCpus& cores, HostThreadWatch& watch) : cores_(cores), watch_(watch) {}

  std::vector<CacheLevel> caches() const override { return read_caches(cores_.all()); }
  std::vector<MemoryNode> nodes() const override { return read_memory_nodes(cores_.all()); }
  double available_bytes() const override { return read_available_bytes(); }
  std::string instructions() const override { return stream_kernels().instructions; }
  std::string no_huge_pages() const override { return bench::no_huge_pages(); }
  std::string no_nontemporal() const override {
    return stream_kernels().nontemporal ? "" : "no non-temporal store for this CPU";
  }

  std::unique_ptr<MemoryArrays> arrays(const ArraysRequest& request) override {
    return std::make_unique<HostArrays>(request, choose(request.threads, request.place),
                                        touch_decides(request.place), watch_);
  }

  std::unique_ptr<MemoryChain> chain(const ChainRequest& request) override {
    const auto levels = caches();
    const double cached = levels.empty() ? 0.0 : levels.back().bytes;
    auto cores = choose(1, request.place);  // all may help to write the chain where none decides
    if (!touch_decides(request.place)) {    // by its touch on which node it lies
      std::ranges::copy_if(cores_.all(), std::back_inserter(cores),
                           [walker = cores.front()](int core) { return core != walker; });
    }
    return std::make_unique<HostChain>(request, std::move(cores), cached, watch_);
  }

 private:
  /// Whether a page lies on the node of the thread that touches it first, and there are several.
  bool touch_decides(const MemoryPlace& place) const {
    return !place.memory_node && nodes().size() > 1;
  }

  std::vector<int> choose(int threads, const MemoryPlace& place) const {
    if (!place.cpu_node) return cores_.first(threads);
    for (const MemoryNode& node : nodes())
      if (node.id == *place.cpu_node) return HostCpus(node.cores).first(threads);
    throw Error(ErrorKind::input, "no NUMA node " + std::to_string(*place.cpu_node));
  }

  HostCpus cores_;
  HostThreadWatch& watch_;
};

}  // namespace

std::unique_ptr<MemorySystem> make_host_memory(const HostCpus& cores, HostThreadWatch& watch) {
  return std::make_unique<HostMemory>(cores, watch);
}

namespace {

namespace fs = std::filesystem;

std::string first_line(const fs::path& path) {
  std::ifstream in(path);
  std::string line;
  std::getline(in, line);
  return line;
}

/// "480", "48K", "32M"; nothing for "max" and other words.
std::optional<double> bytes_in(const std::string& text) {
  double value = 0.0;
  const char* end = text.data() + text.size();
  const auto [next, failure] = std::from_chars(text.data(), end, value);
  if (failure != std::errc{} || !(value >= 0.0)) return {};
  const char unit = next < end ? *next : ' ';
  return value * (unit == 'K' ? 1024.0 : unit == 'M' ? 1048576.0 : 1.0);
}

std::vector<int> common(const std::vector<int>& cores, const std::vector<int>& cpus) {
  std::vector<int> both;
  std::ranges::copy_if(cores, std::back_inserter(both),
                       [&](int core) { return std::ranges::find(cpus, core) != cpus.end(); });
  return both;
}

/// "Name:   123 kB" in a file of such lines, in bytes.
std::optional<double> kilobytes(const fs::path& path, const std::string& name) {
  std::ifstream in(path);
  std::string line;
  while (std::getline(in, line)) {
    const auto at = line.find(name + ":");
    if (at == std::string::npos) continue;
    std::istringstream words(line.substr(at + name.size() + 1));
    double value = 0.0;
    if (words >> value) return value * 1024;
  }
  return {};
}

/// What is left below the limit of one control group; nothing where it has none.
std::optional<double> left_in(const fs::path& group, const char* limit, const char* usage) {
  const auto most = bytes_in(first_line(group / limit));
  const auto used = bytes_in(first_line(group / usage));
  if (!most) return {};
  return std::max(0.0, *most - used.value_or(0.0));
}

/// The least that is left in this process's group and in those above it.
double least_left(const fs::path& mount, fs::path group, const char* limit, const char* usage,
                  double least) {
  for (;;) {
    if (const auto left = left_in(mount / group, limit, usage)) least = std::min(least, *left);
    if (group.empty()) return least;
    group = group.parent_path();
  }
}

}  // namespace

std::vector<CacheLevel> read_caches(const std::vector<int>& cores, const fs::path& root) {
  std::vector<CacheLevel> caches;
  if (cores.empty()) return caches;
  const fs::path folder =
      root / ("sys/devices/system/cpu/cpu" + std::to_string(cores.front())) / "cache";
  for (int index = 0;; ++index) {
    const fs::path entry = folder / ("index" + std::to_string(index));
    const auto level = bytes_in(first_line(entry / "level"));
    if (!level) break;
    const auto size = bytes_in(first_line(entry / "size"));
    if (!size || *size == 0.0 || first_line(entry / "type") == "Instruction") continue;
    const auto sharers = common(cores, parse_cpu_list(first_line(entry / "shared_cpu_list")));
    caches.push_back(
        {static_cast<int>(*level), *size, std::max(1, static_cast<int>(sharers.size()))});
  }
  std::ranges::sort(caches, {}, &CacheLevel::level);
  return caches;
}

std::vector<MemoryNode> read_memory_nodes(const std::vector<int>& cores, const fs::path& root) {
  std::vector<MemoryNode> nodes;
  const fs::path folder = root / "sys/devices/system/node";
  for (int id : parse_cpu_list(first_line(folder / "online"))) {
    const fs::path entry = folder / ("node" + std::to_string(id));
    MemoryNode node;
    node.id = id;
    node.cores = common(cores, parse_cpu_list(first_line(entry / "cpulist")));
    node.has_memory = kilobytes(entry / "meminfo", "MemTotal").value_or(0.0) > 0.0;
    if (node.has_memory || !node.cores.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

double read_available_bytes(const fs::path& root) {
  double least = kilobytes(root / "proc/meminfo", "MemAvailable").value_or(0.0);
  std::ifstream groups(root / "proc/self/cgroup");  // lines "0::/a/b" and "4:memory:/a/b"
  std::string line;
  while (std::getline(groups, line)) {
    const auto first = line.find(':');
    const auto second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos) continue;
    const std::string controllers = line.substr(first + 1, second - first - 1);
    const fs::path group = fs::path(line.substr(second + 1)).relative_path();
    const fs::path mount = root / "sys/fs/cgroup";
    if (controllers.empty())
      least = least_left(mount, group, "memory.max", "memory.current", least);
    if (controllers == "memory")
      least = least_left(mount / "memory", group, "memory.limit_in_bytes", "memory.usage_in_bytes",
                         least);
  }
  return least;
}

}  // namespace bench
