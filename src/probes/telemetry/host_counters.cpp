#include "probes/telemetry/host_counters.h"

#include <algorithm>

#include "probes/facts/cpu_account.h"
#include "probes/telemetry/error_counters.h"
#include "probes/telemetry/table_source.h"

namespace bench {
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
