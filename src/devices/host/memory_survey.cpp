#include "devices/host/memory_survey.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <optional>
#include <string>

#include "core/error.h"
#include "core/system_files.h"
#include "core/text.h"
#include "devices/facts/cgroup_limits.h"
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

/// Builds a page of nodes in a buffer and copies it, past the caches if `cold`.
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
    auto cores = choose(1, request.place);
    if (!touch_decides(request.place)) {  // then all cores may help to write the chain
      std::ranges::copy_if(cores_.all(), std::back_inserter(cores),
                           [walker = cores.front()](int core) { return core != walker; });
    }
    return std::make_unique<HostChain>(request, std::move(cores), cached, watch_);
  }

 private:
  /// Whether first touch decides between several nodes.
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

/// "480", "48K", "32M"; nothing for other text, such as "max".
std::optional<double> bytes_in(const SystemFiles& files, const std::string& path) {
  std::string text = files.text(path).value_or("");
  const char unit = text.empty() ? ' ' : text.back();
  if (unit == 'K' || unit == 'M') text.pop_back();
  const auto value = parse_number(text);
  if (!value || *value < 0) return {};
  return static_cast<double>(*value) * (unit == 'K' ? 1024.0 : unit == 'M' ? 1048576.0 : 1.0);
}

std::vector<int> common(const std::vector<int>& cores, const std::vector<int>& cpus) {
  std::vector<int> both;
  std::ranges::copy_if(cores, std::back_inserter(both),
                       [&](int core) { return std::ranges::find(cpus, core) != cpus.end(); });
  return both;
}

/// A line "MemTotal:   123 kB" of a file, in bytes.
std::optional<double> kilobytes(const SystemFiles& files, const std::string& path,
                                const std::string& key) {
  const std::string value = field(files.text(path).value_or(""), key).value_or("");
  const auto number = parse_number(value.substr(0, value.find(' ')));
  return number ? std::optional(static_cast<double>(*number) * 1024.0) : std::nullopt;
}

/// Names of files and keys, which differ between versions 1 and 2.
struct GroupMemoryNames {
  const char* limit;
  const char* usage;
  const char* inactive_file;
};

/// Page cache that the kernel gives back before it refuses memory; it counts as used.
double reclaimable(const SystemFiles& files, const std::string& folder,
                   const GroupMemoryNames& names) {
  double sum = 0.0;
  const std::string stat = files.text(folder + "memory.stat").value_or("");
  for (const std::string_view line : words_of(stat, "\n")) {
    const auto words = words_of(line);
    if (words.size() == 2 && (words[0] == names.inactive_file || words[0] == "slab_reclaimable"))
      sum += static_cast<double>(parse_as<std::uint64_t>(words[1]).value_or(0));
  }
  return sum;
}

/// The least that the limits of a control group and its parents leave.
double least_left(const SystemFiles& files, const std::string& mount, fs::path group,
                  const GroupMemoryNames& names, double least) {
  for (;;) {
    const std::string folder = (fs::path(mount) / group).string() + "/";
    if (const auto most = bytes_in(files, folder + names.limit)) {
      const double used = bytes_in(files, folder + names.usage).value_or(0.0);
      const double held = std::max(0.0, used - reclaimable(files, folder, names));
      least = std::min(least, std::max(0.0, *most - held));
    }
    if (group.empty()) return least;
    group = group.parent_path();
  }
}

}  // namespace

std::vector<CacheLevel> read_caches(const std::vector<int>& cores, const fs::path& root) {
  std::vector<CacheLevel> caches;
  if (cores.empty()) return caches;
  const SystemFiles files(root);
  const std::string folder =
      "sys/devices/system/cpu/cpu" + std::to_string(cores.front()) + "/cache/index";
  for (int index = 0;; ++index) {
    const std::string entry = folder + std::to_string(index) + "/";
    const auto level = files.number(entry + "level");
    if (!level) break;
    const auto size = bytes_in(files, entry + "size");
    if (!size || *size == 0.0 || files.text(entry + "type") == "Instruction") continue;
    const auto sharers =
        common(cores, files.list(entry + "shared_cpu_list").value_or(std::vector<int>{}));
    caches.push_back(
        {static_cast<int>(*level), *size, std::max(1, static_cast<int>(sharers.size()))});
  }
  std::ranges::sort(caches, {}, &CacheLevel::level);
  return caches;
}

std::vector<MemoryNode> read_memory_nodes(const std::vector<int>& cores, const fs::path& root) {
  std::vector<MemoryNode> nodes;
  const SystemFiles files(root);
  const std::string folder = "sys/devices/system/node/";
  for (const int id : files.list(folder + "online").value_or(std::vector<int>{})) {
    const std::string name = std::to_string(id), entry = folder + "node" + name + "/";
    MemoryNode node;
    node.id = id;
    node.cores = common(cores, files.list(entry + "cpulist").value_or(std::vector<int>{}));
    node.has_memory =
        kilobytes(files, entry + "meminfo", "Node " + name + " MemTotal").value_or(0.0) > 0.0;
    if (node.has_memory || !node.cores.empty()) nodes.push_back(std::move(node));
  }
  return nodes;
}

double read_available_bytes(const fs::path& root) {
  const SystemFiles files(root);
  double least = kilobytes(files, "proc/meminfo", "MemAvailable").value_or(0.0);
  const std::string mount = "sys/fs/cgroup";
  for (const Cgroup& group : own_cgroups(files)) {
    const fs::path path = fs::path(group.path).relative_path();
    if (group.controllers.empty())
      least =
          least_left(files, mount, path, {"memory.max", "memory.current", "inactive_file"}, least);
    if (group.controllers == "memory")
      least = least_left(files, mount + "/memory", path,
                         {"memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"},
                         least);
  }
  return least;
}

}  // namespace bench
