#include "devices/counters/error_counters.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <string_view>

#include "core/fields.h"
#include "devices/counters/counter_source.h"
#include "devices/counters/summary.h"

namespace bench {
namespace {

// Errors of memory controllers, PCIe links and processors, which the kernel shows to everyone if
// the drivers are loaded.

constexpr Seconds kErrorPeriod{10.0};  // some of these are hundreds of files
constexpr std::size_t kMostErrorDevices = 64;
constexpr std::size_t kMostCpus = 4096;
constexpr std::size_t kMostInterrupts = 8u << 20;

const std::string kControllers = "sys/devices/system/edac/mc";
const std::string kPci = "sys/bus/pci/devices";
const std::string kCpus = "sys/devices/system/cpu";

/// The count after a word in a file of lines "RxErr 0".
double listed(const SystemFiles& files, const std::string& path, const char* word) {
  const auto text = field(files.text(path).value_or(""), word);
  return text ? value_of(parse_number(*text)) : kUnread;
}

/// Mass storage, network, display and processing accelerators (PCI Code and ID, base classes).
bool is_watched(const std::string& device_class) {
  constexpr std::array<const char*, 4> kClasses = {"0x01", "0x02", "0x03", "0x12"};
  return std::ranges::any_of(kClasses,
                             [&](const char* one) { return device_class.starts_with(one); });
}

/// "MCE:   0   0   0   Machine check exceptions": the sum over processors.
double machine_checks(const SystemFiles& files) {
  const std::string text = files.text("proc/interrupts", kMostInterrupts).value_or("");
  double sum = kUnread;
  for_each_line(text, [&](std::string_view line) {
    const auto words = words_of(line, " :");
    if (words.empty() || words.front() != "MCE") return;
    sum = 0.0;
    for (std::size_t i = 1; i < words.size(); ++i)
      if (const auto count = parse_number(words[i]); count && *count >= 0)
        sum += static_cast<double>(*count);
  });
  return sum;
}

std::vector<std::string> throttle_files(const SystemFiles& files) {
  std::vector<std::string> found;
  for (const std::string& cpu : files.entries(kCpus)) {
    const std::string path = kCpus + "/" + cpu + "/thermal_throttle/core_throttle_count";
    if (cpu.starts_with("cpu") && found.size() < kMostCpus && files.number(path))
      found.push_back(path);
  }
  return found;
}

}  // namespace

std::unique_ptr<CounterSource> memory_error_counters(const SystemFiles& files) {
  std::vector<CounterColumn> columns;
  std::vector<std::string> paths;
  for (const std::string& name : files.entries(kControllers)) {
    if (!name.starts_with("mc") || columns.size() >= 2 * kMostErrorDevices) continue;
    for (const auto& [counter, file] :
         {std::pair{"corrected", "/ce_count"}, std::pair{"uncorrected", "/ue_count"}}) {
      if (!files.exists(kControllers + "/" + name + file)) continue;
      columns.push_back({name + "." + counter, "count", CounterColumn::counter});
      paths.push_back(kControllers + "/" + name + file);
    }
  }
  if (columns.empty()) return {};
  return std::make_unique<TableSource>(
      "host.memory_errors", columns,
      [files, paths](std::span<double> values) {
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = value_of(files.number(paths[i]));
      },
      kErrorPeriod);
}

std::unique_ptr<CounterSource> pcie_error_counters(const SystemFiles& files) {
  std::vector<CounterColumn> columns;
  std::vector<std::pair<std::string, const char*>> places;
  for (const std::string& device : files.entries(kPci)) {
    const std::string folder = kPci + "/" + device + "/";
    if (places.size() >= 3 * kMostErrorDevices || !files.exists(folder + "aer_dev_correctable") ||
        !is_watched(files.text(folder + "class", 32).value_or("")))
      continue;
    for (const auto& [counter, file, word] :
         {std::tuple{"corrected", "aer_dev_correctable", "TOTAL_ERR_COR"},
          std::tuple{"non_fatal", "aer_dev_nonfatal", "TOTAL_ERR_NONFATAL"},
          std::tuple{"fatal", "aer_dev_fatal", "TOTAL_ERR_FATAL"}}) {
      columns.push_back({device + "." + counter, "count", CounterColumn::counter});
      places.emplace_back(folder + file, word);
    }
  }
  if (columns.empty()) return {};
  return std::make_unique<TableSource>(
      "host.pcie", columns,
      [files, places](std::span<double> values) {
        for (std::size_t i = 0; i < values.size(); ++i)
          values[i] = listed(files, places[i].first, places[i].second);
      },
      kErrorPeriod);
}

std::unique_ptr<CounterSource> cpu_error_counters(const SystemFiles& files) {
  const std::vector<std::string> throttles = throttle_files(files);
  std::vector<CounterColumn> columns;
  const bool checks = machine_checks(files) >= 0.0;
  if (checks) columns.push_back({"cpu.machine_checks", "count", CounterColumn::counter});
  if (!throttles.empty())
    columns.push_back({"cpu.thermal_throttles", "count", CounterColumn::counter});
  if (columns.empty()) return {};
  return std::make_unique<TableSource>(
      "host.cpu_errors", columns,
      [files, throttles, checks](std::span<double> values) {
        if (checks) values.front() = machine_checks(files);
        if (throttles.empty()) return;
        values.back() = 0.0;
        for (const std::string& path : throttles) values.back() += value_of(files.number(path));
      },
      kErrorPeriod);
}

namespace {

constexpr double kIdleBytes = 1 << 20;  // keep-alives on an unused path

constexpr std::array<std::string_view, 6> kSources = {"host.infiniband", "host.network",
                                                      "host.ethernet",   "host.memory_errors",
                                                      "host.pcie",       "host.cpu_errors"};

bool counts_errors(std::string_view source) {
  return source.ends_with(".health") || source.ends_with(".traffic") ||
         std::ranges::find(kSources, source) != kSources.end();
}

double last_known(const std::vector<double>& values) {
  const auto known = std::find_if(values.rbegin(), values.rend(),
                                  [](double value) { return std::isfinite(value); });
  return known == values.rend() ? std::nan("") : *known;
}

void add_counter(const Recording& recording, std::size_t i, Json& totals) {
  const CounterColumn& column = recording.columns[i];
  double sum = 0.0;
  std::size_t known = 0, broken = 0;
  for (const double grown : growth(column, recording.values[i])) {
    std::isfinite(grown) ? ++known : ++broken;
    if (std::isfinite(grown)) sum += grown;
  }
  totals["counters"][recording.source][column.name] = known > 0 ? number_or_null(sum) : Json();
  if (broken > 0) totals["broken"][recording.source][column.name] = broken;
}

}  // namespace

CounterSources error_sources(CounterSources all) {
  std::erase_if(all, [](const auto& source) { return !counts_errors(source->name()); });
  return all;
}

Json counter_totals(const std::vector<Recording>& recordings, double seconds) {
  Json totals = {{"seconds", seconds},
                 {"counters", Json::object()},
                 {"gauges", Json::object()},
                 {"broken", Json::object()}};
  for (const Recording& recording : recordings) {
    if (!counts_errors(recording.source)) continue;
    for (std::size_t i = 0; i < recording.columns.size(); ++i) {
      if (recording.columns[i].kind == CounterColumn::counter)
        add_counter(recording, i, totals);
      else if (const double last = last_known(recording.values[i]); std::isfinite(last))
        totals["gauges"][recording.source][recording.columns[i].name] = last;
    }
  }
  return totals;
}

void drop_idle(Json& totals) {
  for (const char* kind : {"counters", "gauges"}) {
    Json kept = Json::object();
    for (const auto& [source, columns] : totals[kind].items())
      for (const auto& [name, value] : columns.items()) {
        const double least = std::string_view(name).ends_with("_bytes") ? kIdleBytes : 0.0;
        if (!value.is_number() || value.get<double>() > least) kept[source][name] = value;
      }
    totals[kind] = std::move(kept);
  }
}

}  // namespace bench
