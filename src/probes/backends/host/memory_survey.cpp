#include "probes/backends/host/memory_survey.h"

#include <algorithm>
#include <charconv>
#include <fstream>
#include <optional>
#include <sstream>
#include <string>

#include "probes/backends/host/host_cpus.h"

namespace bench {
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
