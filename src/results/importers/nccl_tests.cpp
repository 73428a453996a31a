#include "results/importers/nccl_tests.h"

#include <algorithm>
#include <map>

#include "results/importers/imported_lines.h"

namespace bench {
namespace {

/// Our names for element types, so that series of both can be laid side by side.
std::string our_dtype(const std::string& type) {
  static const std::map<std::string, std::string> names = {
      {"float", "f32"},         {"double", "f64"},       {"half", "f16"},
      {"bfloat16", "bf16"},     {"f8e4m3", "fp8_e4m3"},  {"f8e5m2", "fp8_e5m2"},
      {"fp8_e4m3", "fp8_e4m3"}, {"fp8_e5m2", "fp8_e5m2"}};
  const auto found = names.find(type);
  return found == names.end() ? type : found->second;
}

void mark_wrong(const std::optional<double>& wrong, Samples& samples) {
  if (!wrong) return;
  samples.check = Check{"nccl-tests: wrong elements", *wrong, 0.0};
  if (samples.check->passed()) return;
  samples.outcome = Status::invalid;
  samples.reason = "nccl-tests counted wrong elements";
}

}  // namespace

std::string nccl_operation(std::string_view program) {
  program = program.substr(program.find_last_of('/') + 1);  // npos + 1 is 0
  constexpr std::string_view kEnd = "_perf";
  const std::size_t end = program.find(kEnd);  // all_reduce_perf_mpi exists, too
  if (end == std::string_view::npos || end == 0) return {};
  const std::string name(program.substr(0, end));
  const bool plain = std::ranges::all_of(
      name, [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  return plain && name.size() < 64 ? name : std::string();
}

Json nccl_params(const NcclMeasurement& measured, const std::string& operation) {
  Json params = {{"op", operation},
                 {"dtype", our_dtype(measured.type)},
                 {"size_bytes", measured.bytes},
                 {"placement", measured.in_place ? "in_place" : "out_of_place"}};
  if (!measured.redop.empty() && measured.redop != "none") params["redop"] = measured.redop;
  if (measured.root >= 0) params["root"] = measured.root;
  return params;
}

void add_nccl(const ImportedJob& job, const NcclMeasurement& measured, CollectedSeries& series) {
  if (measured.bytes == 0) return;
  const Json params = nccl_params(measured, job.name);
  // The tools divide by the repeats and take the mean over the ranks (option -a, default 1).
  Samples latency = one_value("latency", Unit::second, Better::lower, params, measured.seconds);
  Samples busbw =
      one_value("busbw", Unit::byte_per_second, Better::higher, params, measured.bus_bytes_per_s);
  for (Samples* one : {&latency, &busbw}) {
    one->over = "mean";
    mark_wrong(measured.wrong, *one);
  }
  if (measured.seconds > 0.0) series.add(job, std::move(latency));
  if (measured.bus_bytes_per_s > 0.0) series.add(job, std::move(busbw));
}

void add_nccl_host(const std::string& host, ImportedJob& job) {
  ++job.ranks;
  if (host == "localhost" || std::ranges::find(job.hosts, host) != job.hosts.end()) return;
  job.hosts.push_back(host);
}

}  // namespace bench
