// Hostile /proc and /sys: facts and counters are made of what can be read. An input is a list of
// files, each begun by a line "= PATH", and of links, "> PATH TARGET".
#include <cmath>
#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/json.h"
#include "core/system_files.h"
#include "devices/counters/error_counters.h"
#include "devices/counters/host_counters.h"
#include "devices/facts/cgroup_limits.h"
#include "devices/facts/host_facts.h"
#include "devices/facts/host_pressure.h"
#include "devices/facts/machine_facts.h"
#include "devices/facts/memory_modules.h"
#include "devices/facts/pci_link.h"
#include "devices/facts/preflight_facts.h"
#include "devices/facts/settings.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

namespace {

namespace fs = std::filesystem;
using namespace bench;
using fuzz::demand;

constexpr std::size_t kMostFiles = 60;

/// Stays below the folder.
bool is_tame(std::string_view path) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_.,:@/+-";
  const bool begins = path.starts_with("proc/") || path.starts_with("sys/") ||
                      path.starts_with("dev/") || path.starts_with("etc/");
  return begins && path.size() < 200 && path.find_first_not_of(kPlain) == path.npos &&
         path.find("..") == path.npos;
}

void write_file(const fs::path& root, std::string_view path, std::string_view text) {
  std::error_code failed;
  const fs::path whole = root / path;
  fs::create_directories(whole.parent_path(), failed);
  std::FILE* const file = failed ? nullptr : std::fopen(whole.c_str(), "wb");
  if (file == nullptr) return;  // a folder of that name
  std::fwrite(text.data(), 1, text.size(), file);
  std::fclose(file);
}

void write_link(const fs::path& root, std::string_view words) {
  const std::size_t blank = words.find(' ');
  if (blank == words.npos) return;
  const auto path = words.substr(0, blank), target = words.substr(blank + 1);
  if (!is_tame(path) || !is_tame(target)) return;
  std::error_code failed;
  fs::create_directories((root / path).parent_path(), failed);
  if (!failed) fs::create_symlink(root / target, root / path, failed);
}

void write_machine(const fs::path& root, std::string_view text) {
  for (std::size_t files = 0; files < kMostFiles && !text.empty(); ++files) {
    const std::size_t end = std::min(text.find("\n= "), text.find("\n> "));
    const std::string_view part = text.substr(0, end);
    text.remove_prefix(end == text.npos ? text.size() : end + 1);
    const std::size_t line = std::min(part.find('\n'), part.size());
    if (part.starts_with("> ")) write_link(root, part.substr(2, line - 2));
    if (part.starts_with("= ") && is_tame(part.substr(2, line - 2)))
      write_file(root, part.substr(2, line - 2), part.substr(std::min(line + 1, part.size())));
  }
}

void read_counters(CounterSources sources) {
  for (const auto& source : sources) {
    std::vector<double> values(source->columns().size());
    source->read(values);
    for (const double value : values)
      demand(std::isnan(value) || value >= 0.0, "a negative counter of " + source->name());
  }
}

void read_facts(const fs::path& root) {
  const SystemFiles files(root);
  const Json host = read_host_facts(root);
  dump(host);
  dump(read_access_facts(files));
  dump(read_settings(files, host));
  dump(read_kernel_options(files));
  dump(read_preflight_facts(files));
  MachineTopology machine;
  machine.pci_devices.push_back({"0000:3b:00.0", "network", "15b3:1021", "", {}, {0}, {}});
  dump(read_machine_facts(files, host, machine, [](const std::string&) { return DriverInfo{}; }));
  dump(read_pci_link(files, "0000:3b:00.0"));
  read_memory_modules(files);
  const CgroupLimits limits = read_cgroup_limits(files);
  demand(!limits.cpu_cores || *limits.cpu_cores > 0.0, "a quota of no core");
  if (const auto account = read_cpu_account(files))
    demand(account->all_s >= 0.0 && account->steal_s >= 0.0, "a negative account");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const fuzz::InputFolder folder;
  const fs::path root = folder.path() / "root";
  fs::remove_all(root);
  fs::create_directory(root);
  write_machine(root, {reinterpret_cast<const char*>(data), size});
  read_facts(root);
  const SystemFiles files(root);
  read_counters(host_counters(files));
  read_counters(error_sources(host_counters(files)));
  return 0;
}
