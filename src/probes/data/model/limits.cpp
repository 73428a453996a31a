#include "probes/data/model/limits.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/text.h"

namespace bench::data {
namespace {

std::string rate_over(const char* what, double rate, double bytes) {
  return fmt::format("{} of {} / {} per sample", what, format(rate, Unit::byte_per_second),
                     format(Bytes{bytes}));
}

}  // namespace

std::vector<LoaderLimit> loader_limits(const LimitInputs& in) {
  std::vector<LoaderLimit> limits;
  const auto of_bytes = [&](const char* name, const std::optional<double>& rate, double bytes,
                            const char* what, const char* remedy) {
    if (rate && bytes > 0.0)
      limits.push_back({name, *rate / bytes, rate_over(what, *rate, bytes), remedy});
  };
  of_bytes("storage", in.storage_bytes_per_second, in.read_bytes, "cold reads",
           "more concurrent readers, larger files (shards), a faster disk, or enough memory for all data");
  of_bytes("memory", in.memory_bytes_per_second, in.touched_bytes, "copies",
           "reduce bytes per sample: u8 instead of f32, partial_decode");
  of_bytes("host_to_device", in.transfer_bytes_per_second, in.sample_bytes, "copies to the device",
           "pin_memory, or u8 samples normalised on the device");
  if (in.cpu_s > 0.0) {
    const auto made = [&](double threads, const char* what) {
      return fmt::format("{:.4g} {} / {} of CPU time per sample", threads, what,
                         format(Seconds{in.cpu_s}));
    };
    const double used = std::min(in.workers, in.cores);
    if (used < in.cores)
      limits.push_back({"workers", used / in.cpu_s, made(used, "workers"), "increase num_workers"});
    limits.push_back({"cpu", in.cores / in.cpu_s, made(in.cores, "cores"),
                      "more cores, a cheaper format, or decoding on the device"});
  }
  std::ranges::sort(limits, {}, &LoaderLimit::samples_per_second);
  return limits;
}

}  // namespace bench::data
