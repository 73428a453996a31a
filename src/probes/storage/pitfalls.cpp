#include "probes/storage/pitfalls.h"

#include <fmt/format.h>

#include "core/order_statistics.h"
#include "core/page_cache.h"
#include "core/text.h"
#include "probes/storage/storage_file.h"

namespace bench::storage {
namespace {

constexpr double kFaster = 1.25;
constexpr double kSlower = 0.8;
constexpr double kFromDevice = 0.9;
constexpr std::size_t kFewestSlices = 8;

}  // namespace

Json to_json(const std::vector<Pitfall>& pitfalls) {
  Json all = Json::array();
  for (const Pitfall& one : pitfalls) all.push_back({{"name", one.name}, {"text", one.text}});
  return all;
}

Json texts_of(const std::vector<Pitfall>& pitfalls) {
  Json all = Json::array();
  for (const Pitfall& one : pitfalls) all.push_back(one.name + ": " + one.text);
  return all;
}

std::vector<Pitfall> pitfalls_of(const FileSystemFacts& facts, std::optional<bool> zeros_free) {
  std::vector<Pitfall> found;
  if (facts.memory)
    found.push_back({"memory_file_system",
                     "files of " + facts.type + " are in memory: no storage device was measured"});
  if (facts.network)
    found.push_back({"server_cache", facts.type + " has a server cache that cannot be dropped from "
                                                  "this host: cold means cold on this host only"});
  if (zeros_free.value_or(false))
    found.push_back(
        {"zeros_take_no_space",
         "this file system compresses zeros: benchctl writes random data, so tools that "
         "write zeros may report more"});
  return found;
}

std::optional<Pitfall> cache_beneath(double first_pass, double later_passes) {
  if (!(first_pass > 0.0) || !(later_passes > kFaster * first_pass)) return {};
  return Pitfall{
      "cache_beneath",
      fmt::format("the first pass over the file ran at {}, later passes at {}, with none of "
                  "it in the page cache: there is a cache below (device, hypervisor or "
                  "server); increase size_bytes beyond it",
                  format(first_pass, Unit::byte_per_second),
                  format(later_passes, Unit::byte_per_second))};
}

std::optional<Pitfall> burst_cliff(std::span<const double> slice_bytes) {
  if (slice_bytes.size() < kFewestSlices) return {};
  const std::size_t quarter = slice_bytes.size() / 4;
  const double first = median(slice_bytes.first(quarter));
  const double last = median(slice_bytes.last(quarter));
  if (!(last < kSlower * first)) return {};
  double before = 0.0;
  for (const double bytes : slice_bytes) {
    if (bytes < kSlower * first && before > 0.0) break;
    before += bytes;
  }
  return Pitfall{"burst_cliff",
                 fmt::format("the write rate of the last quarter is {} of the first quarter's; it "
                             "dropped after {}: a write cache is full, or others use the storage",
                             format(last / first, Unit::ratio), format(Bytes{before}))};
}

std::optional<Pitfall> not_from_device(double read_bytes, double device_bytes) {
  if (!(read_bytes > 0.0) || device_bytes >= kFromDevice * read_bytes) return {};
  return Pitfall{"page_cache",
                 fmt::format("{} of the data read came from the device, the rest from a cache on "
                             "this host",
                             format(device_bytes / read_bytes, Unit::ratio))};
}

std::optional<Pitfall> still_resident(double share) {
  if (share <= kColdShare) return {};
  return Pitfall{"page_cache_kept",
                 fmt::format("{} of the file stayed in the page cache after dropping it; a process "
                             "may have it mapped",
                             format(share, Unit::ratio))};
}

}  // namespace bench::storage
