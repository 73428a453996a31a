#include "runner/hardware/hardware_catalogue.h"

#include <algorithm>

#include "core/error.h"
#include "core/locations.h"
#include "core/text.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

bool fits(std::string_view pattern, std::string_view name) {
  if (pattern.ends_with('*')) return name.starts_with(pattern.substr(0, pattern.size() - 1));
  return pattern == name;
}

bool has_name(const HardwareEntry& entry, const std::string& name) {
  return std::ranges::any_of(entry.device_names,
                             [&](const std::string& pattern) { return fits(pattern, name); });
}

/// Drivers report binary sizes, less what they reserve: 141 GB are 150.8e9 bytes.
bool same_size(const HardwareEntry& entry, const DeviceFacts& facts) {
  if (!facts.memory_bytes) return true;
  const double ratio = *facts.memory_bytes / entry.memory.bytes;
  return ratio > 0.9 && ratio < 1.12;
}

bool same_chip(const HardwareEntry& entry, const DeviceFacts& facts) {
  return !facts.multiprocessors || !entry.multiprocessors ||
         *facts.multiprocessors == *entry.multiprocessors;
}

std::string names_of(const std::vector<const HardwareEntry*>& entries) {
  std::vector<std::string> names;
  for (const HardwareEntry* entry : entries) names.push_back(entry->name);
  return join(names, ", ");
}

}  // namespace

HardwareCatalogue HardwareCatalogue::load(const fs::path& folder) {
  std::vector<HardwareEntry> entries;
  std::error_code failure;
  for (const auto& file : fs::directory_iterator(folder, failure)) {
    if (file.path().extension() != ".json") continue;
    entries.push_back(hardware_entry(read_json(file.path()), file.path().string()));
    if (entries.back().name != file.path().stem())
      throw Error(ErrorKind::input,
                  file.path().string() + ": /hardware: '" + entries.back().name +
                      "' does not match the file name",
                  "rename one of them");
  }
  if (failure)
    throw Error(ErrorKind::environment,
                "cannot read the hardware in " + folder.string() + ": " + failure.message());
  return HardwareCatalogue(std::move(entries));
}

HardwareCatalogue HardwareCatalogue::installed() {
  return load(data_root() / "hosts" / "hardware");
}

HardwareCatalogue::HardwareCatalogue(std::vector<HardwareEntry> entries)
    : entries_(std::move(entries)) {
  std::ranges::sort(entries_, {}, &HardwareEntry::name);
}

std::vector<std::string> HardwareCatalogue::names() const {
  std::vector<std::string> names;
  for (const HardwareEntry& entry : entries_) names.push_back(entry.name);
  return names;
}

const HardwareEntry* HardwareCatalogue::find(const std::string& name) const {
  const auto found = std::ranges::find(entries_, name, &HardwareEntry::name);
  return found == entries_.end() ? nullptr : &*found;
}

std::vector<const HardwareEntry*> HardwareCatalogue::like(const std::string& name) const {
  if (const HardwareEntry* exact = find(name)) return {exact};
  std::vector<const HardwareEntry*> found;
  for (const HardwareEntry& entry : entries_)
    if (!name.empty() && entry.name.starts_with(name + "-")) found.push_back(&entry);
  return found;
}

HardwareMatch HardwareCatalogue::match(const DeviceFacts& facts) const {
  std::vector<const HardwareEntry*> named, found;
  for (const HardwareEntry& entry : entries_)
    if (has_name(entry, facts.name)) named.push_back(&entry);
  if (named.empty()) return {nullptr, "no product in the catalogue is named '" + facts.name + "'"};
  // The number of multiprocessors chooses between variants; if it fits none, some are disabled
  // (MIG) and the limit is corrected instead.
  for (const HardwareEntry* entry : named)
    if (same_size(*entry, facts)) found.push_back(entry);
  if (found.empty())
    return {nullptr, "'" + facts.name + "' has " + format(Bytes{*facts.memory_bytes}) +
                         " of memory, which matches none of: " + names_of(named)};
  if (found.size() > 1)
    std::erase_if(found, [&](const HardwareEntry* entry) { return !same_chip(*entry, facts); });
  if (found.size() == 1) return {found.front(), ""};
  return {nullptr, "'" + facts.name + "' could be any of: " + names_of(named)};
}

}  // namespace bench
