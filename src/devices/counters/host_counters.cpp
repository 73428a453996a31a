#include "devices/counters/host_counters.h"

#include <algorithm>
#include <map>

#include "devices/counters/counter_source.h"
#include "devices/counters/error_counters.h"
#include "devices/facts/host_pressure.h"

namespace bench {
namespace {

// Counters of the host's devices: disks, network interfaces, power zones.

constexpr std::size_t kMostDevices = 16;       // per kind; container hosts have hundreds
constexpr std::size_t kMostText = 256u << 10;  // per /proc file

const std::string kZones = "sys/class/powercap";

struct DeviceItem {
  std::string suffix;  // of the column: "read_bytes"
  std::string unit;
  std::size_t word;  // index in the line of the device
  double factor;
};

/// Columns "sda.read_bytes" for the devices of a file with one line per device.
std::unique_ptr<CounterSource> line_source(const SystemFiles& files, const std::string& source,
                                           const std::string& path, std::size_t name_word,
                                           const std::vector<std::string>& devices,
                                           const std::vector<DeviceItem>& items) {
  if (devices.empty() || !files.text(path, kMostText)) return {};
  std::vector<CounterColumn> columns;
  std::map<std::string, std::size_t, std::less<>> first;  // column of each device
  for (const std::string& device : devices) {
    first[device] = columns.size();
    for (const DeviceItem& item : items)
      columns.push_back({device + "." + item.suffix, item.unit, CounterColumn::counter});
  }
  return std::make_unique<TableSource>(
      source, columns, [files, path, name_word, first, items](std::span<double> values) {
        std::fill(values.begin(), values.end(), kUnread);
        const std::string text = files.text(path, kMostText).value_or("");
        for_each_line(text, [&](std::string_view line) {
          const auto words = words_of(line, " :");
          const auto found = name_word < words.size() ? first.find(words[name_word]) : first.end();
          if (found == first.end()) return;
          for (std::size_t i = 0; i < items.size(); ++i)
            values[found->second + i] = number_at(words, items[i].word) * items[i].factor;
        });
      });
}

/// Hardware interfaces first: container hosts have many others.
std::vector<std::string> interfaces(const SystemFiles& files) {
  std::vector<std::string> names = files.entries("sys/class/net");
  std::erase(names, "lo");
  std::stable_partition(names.begin(), names.end(), [&](const std::string& name) {
    return files.exists("sys/class/net/" + name + "/device");
  });
  names.resize(std::min(names.size(), kMostDevices));
  return names;
}

/// A file with one number and its unit.
struct NumberFile {
  std::string path;
  double factor;
};

std::unique_ptr<CounterSource> number_source(const SystemFiles& files, const std::string& source,
                                             std::vector<CounterColumn> columns,
                                             std::vector<NumberFile> numbers, Seconds period) {
  if (columns.empty()) return {};
  return std::make_unique<TableSource>(
      source, std::move(columns),
      [files, numbers = std::move(numbers)](std::span<double> values) {
        for (std::size_t i = 0; i < numbers.size(); ++i)
          values[i] = value_of(files.number(numbers[i].path)) * numbers[i].factor;
      },
      period);
}

}  // namespace

std::unique_ptr<CounterSource> disk_counters(const SystemFiles& files) {
  std::vector<std::string> disks;
  for (const std::string& name : files.entries("sys/block"))
    if (files.exists("sys/block/" + name + "/device") && disks.size() < kMostDevices)
      disks.push_back(name);
  // "259 0 nvme0n1 reads merged sectors ms writes merged sectors ms now busy_ms ..."; sectors are
  // 512 bytes here for all disks.
  return line_source(files, "host.disk", "proc/diskstats", 2, disks,
                     {{"read_bytes", "byte", 5, 512.0},
                      {"write_bytes", "byte", 9, 512.0},
                      {"busy_s", "second", 12, 1e-3}});
}

std::unique_ptr<CounterSource> network_counters(const SystemFiles& files) {
  // "eth0: bytes packets errs drop fifo frame compressed multicast bytes packets errs drop ..."
  return line_source(files, "host.network", "proc/net/dev", 0, interfaces(files),
                     {{"received_bytes", "byte", 1, 1.0},
                      {"received_errors", "count", 3, 1.0},
                      {"received_drops", "count", 4, 1.0},
                      {"sent_bytes", "byte", 9, 1.0},
                      {"sent_errors", "count", 11, 1.0},
                      {"sent_drops", "count", 12, 1.0}});
}

std::unique_ptr<CounterSource> power_counters(const SystemFiles& files) {
  std::vector<CounterColumn> columns;
  std::vector<NumberFile> numbers;
  for (const std::string& zone : files.entries(kZones)) {
    // "intel-rapl:0" is a package (also for AMD); "intel-rapl:0:0" a part of it, which would be
    // counted twice. Kernels since 5.10 let only root read the energy.
    const std::string folder = kZones + "/" + zone + "/";
    if (std::count(zone.begin(), zone.end(), ':') != 1 || columns.size() >= kMostDevices) continue;
    if (!files.number(folder + "energy_uj")) continue;
    const double range = value_of(files.number(folder + "max_energy_range_uj")) * 1e-6;
    const std::string name = files.text(folder + "name", 64).value_or(zone);
    columns.push_back(
        {name + ".energy_j", "joule", CounterColumn::counter, range > 0.0 ? range : 0.0});
    numbers.push_back({folder + "energy_uj", 1e-6});
  }
  return number_source(files, "host.power", columns, numbers, {0.0});
}

namespace {

constexpr auto kGauge = CounterColumn::gauge;

/// "some avg10=0.00 avg60=0.00 avg300=0.00 total=12345": microseconds in which some task waited.
double stalled_s(const SystemFiles& files, const std::string& what) {
  const std::string text = files.text("proc/pressure/" + what).value_or("");
  const std::string line = text.substr(0, text.find('\n'));
  const auto total = line.rfind("total=");
  if (!line.starts_with("some") || total == std::string::npos) return kUnread;
  return value_of(parse_number(line.substr(total + 6))) * 1e-6;
}

/// A line "MemTotal:  16777216 kB" in bytes.
double kilobytes_of(const std::string& text, std::string_view key) {
  const std::string value = field(text, key).value_or("");
  const auto words = words_of(value);
  return words.size() == 2 && words[1] == "kB" ? number_at(words, 0) * 1024.0 : kUnread;
}

}  // namespace

std::unique_ptr<CounterSource> cpu_counters(const SystemFiles& files) {
  if (!files.text("proc/stat", 4096)) return {};
  return std::make_unique<TableSource>(
      "host.cpu",
      std::vector<CounterColumn>{{"busy_s", "second", CounterColumn::counter},
                                 {"iowait_s", "second", CounterColumn::counter},
                                 {"steal_s", "second", CounterColumn::counter},
                                 {"cpu_stalled_s", "second", CounterColumn::counter},
                                 {"io_stalled_s", "second", CounterColumn::counter},
                                 {"all_s", "second", CounterColumn::counter}},
      [files](std::span<double> values) {
        const auto cpu = read_cpu_account(files);
        values[0] = cpu ? cpu->busy_s : kUnread;
        values[1] = cpu ? cpu->iowait_s : kUnread;
        values[2] = cpu ? cpu->steal_s : kUnread;
        values[3] = stalled_s(files, "cpu");
        values[4] = stalled_s(files, "io");
        values[5] = cpu ? cpu->all_s : kUnread;
      });
}

std::unique_ptr<CounterSource> memory_counters(const SystemFiles& files) {
  if (!files.text("proc/meminfo")) return {};
  return std::make_unique<TableSource>(
      "host.memory",
      std::vector<CounterColumn>{{"used_bytes", "byte", kGauge},
                                 {"available_bytes", "byte", kGauge},
                                 {"dirty_bytes", "byte", kGauge},
                                 {"major_faults", "count", CounterColumn::counter},
                                 {"memory_stalled_s", "second", CounterColumn::counter}},
      [files](std::span<double> values) {
        const std::string text = files.text("proc/meminfo").value_or("");
        values[1] = kilobytes_of(text, "MemAvailable");
        values[0] = kilobytes_of(text, "MemTotal") - values[1];
        values[2] = kilobytes_of(text, "Dirty");
        const auto faults = field(files.text("proc/vmstat").value_or(""), "pgmajfault");
        values[3] = faults ? value_of(parse_number(*faults)) : kUnread;
        values[4] = stalled_s(files, "memory");
      });
}

CounterSources host_counters(const SystemFiles& files, const ReadNic& nic) {
  CounterSources sources;
  for (const auto make :
       {cpu_counters, memory_counters, disk_counters, network_counters, infiniband_counters,
        power_counters, memory_error_counters, pcie_error_counters, cpu_error_counters})
    if (auto source = make(files)) sources.push_back(std::move(source));
  if (nic)
    if (auto source = nic_counters(files, nic)) sources.push_back(std::move(source));
  return sources;
}

}  // namespace bench
