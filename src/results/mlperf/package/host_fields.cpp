#include "results/mlperf/package/host_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <map>
#include <vector>

#include "core/json_text.h"
#include "core/text.h"
#include "results/json_fields.h"

namespace bench::mlperf {
namespace {

/// "8x A, 2x B": counts equal items, sorted by name.
std::string counted_words(const std::map<std::string, int>& things) {
  std::vector<std::string> parts;
  for (const auto& [thing, count] : things) parts.push_back(fmt::format("{}x {}", count, thing));
  return join(parts, ", ");
}

/// Disk and network sizes are in powers of ten.
std::string decimal_bytes(double bytes) {
  return bytes >= 1e12 ? fmt::format("{:.3g} TB", bytes / 1e12)
                       : fmt::format("{:.3g} GB", bytes / 1e9);
}

std::string upper(std::string text) {
  if (!text.empty())
    text.front() = static_cast<char>(std::toupper(static_cast<unsigned char>(text.front())));
  return text;
}

void add_infiniband(const Json& facts, std::map<std::string, int>& cards) {
  for (const Json& card : array_field(facts, "infiniband"))
    for (const Json& port : array_field(card, "ports"))
      if (const std::string rate = known_text(port, "rate"); !rate.empty())
        ++cards[rate + " " + known_text(port, "link_layer")];
}

/// The network interface of an InfiniBand card is not a second card.
void add_ethernet(const Json& facts, std::map<std::string, int>& cards) {
  for (const Json& card : array_field(facts, "network")) {
    const double speed = number_field(card, "speed_bits_per_s");
    if (speed > 0.0 && !known_text(card, "name").starts_with("ib"))
      ++cards[fmt::format("{:g} Gb/s Ethernet", speed / 1e9)];
  }
}

}  // namespace

std::string known_text(const Json& facts, const char* key) {
  const Json& value = field(facts, key);
  if (value.is_null() || value.is_structured()) return "";
  const std::string text = text_of(value);
  return text == "none" || text.starts_with("unreadable") ? "" : text;
}

std::int64_t known_count(const Json& facts, const char* key) {
  return std::max<std::int64_t>(0, integer_field(facts, key, 0));
}

std::string cache_words(const Json& facts) {
  std::vector<std::string> parts;
  for (const Json& cache : array_field(facts, "caches")) {
    const double size = number_field(cache, "size_bytes");
    const std::string name = known_text(cache, "name");
    if (name.empty() || !(size > 0.0)) continue;
    parts.push_back(fmt::format("{}: {}x {}", upper(name), known_count(cache, "count"),
                                format(size, Unit::byte)));
  }
  return join(parts, ", ");
}

std::string memory_words(const Json& facts) {
  double modules = 0.0;
  for (const Json& module : array_field(facts, "memory_modules"))
    modules += number_field(module, "size_bytes", 0.0);
  // The kernel reserves a part, so the total is not a round number.
  const double bytes = modules > 0.0 ? modules : number_field(facts, "memory_bytes");
  return bytes > 0.0 ? format(bytes, Unit::byte) : "";
}

std::string memory_module_words(const Json& facts) {
  std::map<std::string, int> modules;
  for (const Json& module : array_field(facts, "memory_modules")) {
    const double size = number_field(module, "size_bytes");
    const double rate = number_field(module, "transfers_per_s", 0.0);
    if (!(size > 0.0)) continue;
    std::string words = format(size, Unit::byte);
    if (const std::string type = known_text(module, "type"); !type.empty()) words += " " + type;
    if (rate > 0.0) words += fmt::format(" {:.0f} MT/s", rate / 1e6);
    ++modules[words];
  }
  return counted_words(modules);
}

std::string disk_words(const Json& facts) {
  std::map<std::string, int> disks;
  for (const Json& disk : array_field(facts, "nvme"))
    if (const double size = number_field(disk, "size_bytes"); size > 0.0)
      ++disks[decimal_bytes(size)];
  return counted_words(disks);
}

std::string network_words(const Json& facts) {
  std::map<std::string, int> cards;
  add_infiniband(facts, cards);
  add_ethernet(facts, cards);
  return counted_words(cards);
}

std::string nvlink_words(const Json& gpu) {
  const std::size_t links = array_field(gpu, "nvlink").size();
  return links > 0 ? fmt::format("{}x NVLink", links) : "";
}

std::string pcie_words(const Json& gpu) {
  const std::int64_t generation = known_count(gpu, "pcie_generation_max");
  const std::int64_t width = known_count(gpu, "pcie_width_max");
  return generation > 0 && width > 0 ? fmt::format("PCIe Gen{} x{}", generation, width) : "";
}

}  // namespace bench::mlperf
