// SuperBench's results-summary.jsonl: one object a node, {"node": ..., "benchmark/metric:rank": n}.
#include <fmt/format.h>

#include <array>
#include <cmath>
#include <optional>
#include <set>
#include <string_view>

#include "core/json.h"
#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"
#include "results/import/stated_unit.h"

namespace bench {
namespace {

// SuperBench writes numbers without units; its documentation of each benchmark states them.

enum class Place { beginning, within, end };

/// The first that fits decides.
struct SuperbenchRule {
  std::string_view benchmark;  // name prefix; empty: any
  Place place;
  std::string_view word;  // in the metric's name
  std::string_view unit;  // in the form of stated_unit()
};

constexpr std::array<SuperbenchRule, 34> kRules{{
    {"gpcnet", Place::within, "_bw_", "MiB/s"},
    {"gpcnet", Place::within, "_time_", "us"},
    {"gpcnet", Place::within, "_lat_", "us"},
    {"nccl-bw", Place::end, "_time", "us"},
    {"rccl-bw", Place::end, "_time", "us"},
    {"nccl-bw", Place::end, "bw", "GB/s"},
    {"rccl-bw", Place::end, "bw", "GB/s"},
    {"kernel-launch", Place::within, "", "ms"},
    {"cublas-function", Place::end, "_time", "us"},
    {"cudnn-function", Place::end, "_time", "us"},
    {"cublaslt-gemm", Place::end, "_flops", "TFLOPS"},
    {"hipblaslt-gemm", Place::end, "_flops", "TFLOPS"},
    {"gemm-flops", Place::within, "iops", "GOPS"},
    {"gemm-flops", Place::beginning, "INT", "GOPS"},
    {"gemm-flops", Place::within, "", "GFLOPS"},
    {"cpu-hpl", Place::beginning, "throughput", "GFLOPS"},
    {"cpu-hpl", Place::beginning, "time", "s"},
    {"cpu-stream", Place::end, "_throughput", "MB/s"},
    {"cpu-stream", Place::within, "_time_", "s"},
    {"cpu-memory-bw-latency", Place::end, "_bw", "MB/s"},
    {"cpu-memory-bw-latency", Place::end, "_lat", "ns"},
    {"disk-benchmark", Place::within, "lat_ns", "ns"},
    {"disk-benchmark", Place::within, "iops", "IOPS"},
    {"ib-traffic", Place::within, "_lat_", "us"},
    {"ib-traffic", Place::within, "_bw_", "GB/s"},
    {"ib-loopback", Place::within, "_bw_", "GB/s"},
    {"gpu-stream", Place::end, "_bw", "GB/s"},
    {"gpu-copy-bw", Place::end, "_bw", "GB/s"},
    {"nvbandwidth", Place::end, "_bw", "GB/s"},
    {"nvbandwidth", Place::end, "_lat", "us"},
    {"mem-bw", Place::end, "_bw", "GB/s"},
    {"mem-bw", Place::end, "_Mem_BW", "GB/s"},
    {"", Place::within, "throughput", "samples/s"},
    {"", Place::within, "time", "ms"},
}};

bool fits(const SuperbenchRule& rule, std::string_view metric) {
  if (rule.place == Place::beginning) return metric.starts_with(rule.word);
  if (rule.place == Place::end) return metric.ends_with(rule.word);
  return metric.find(rule.word) != std::string_view::npos;
}

/// Metrics of training and inference, whose benchmark names are site-specific ("bert_models/...").
bool of_a_model(std::string_view metric) {
  return metric.find("train") != std::string_view::npos ||
         metric.find("inference") != std::string_view::npos ||
         metric.find("step_time") != std::string_view::npos;
}

/// The unit of "gemm-flops/fp32_flops", "kernel-launch/event_time", "mem-bw/h2d_bw", for current
/// names and those before version 0.5 ("mem-bw/H2D_Mem_BW", "steptime_train_float32"). Source:
/// docs/user-tutorial/benchmarks of microsoft/superbenchmark. Nothing if unknown.
std::optional<StatedUnit> superbench_unit(std::string_view benchmark, std::string_view metric) {
  for (const SuperbenchRule& rule : kRules) {
    if (!benchmark.starts_with(rule.benchmark) || !fits(rule, metric)) continue;
    if (rule.benchmark.empty() && !of_a_model(metric)) continue;
    return stated_unit(rule.unit);
  }
  return {};
}

/// "nccl-bw:nvlink/allreduce_1024_busbw:3".
struct SuperbenchKey {
  std::string benchmark;  // "nccl-bw:nvlink"
  std::string metric;     // "allreduce_1024_busbw"
  std::int64_t rank = -1;
};

bool read_key(const std::string& text, SuperbenchKey& key) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || !is_plain_name(text)) return false;
  key = {text.substr(0, slash), text.substr(slash + 1)};
  const std::size_t colon = key.metric.rfind(':');
  std::int64_t rank = 0;
  if (colon != std::string::npos &&
      read_whole_number(std::string_view(key.metric).substr(colon + 1), rank) && rank >= 0) {
    key.rank = rank;
    key.metric.resize(colon);
  }
  return !key.metric.empty();
}

class Superbench {
 public:
  Superbench(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next())
      if (!trim(lines_.line()).empty()) node();
    lines_.demand_whole();
    if (found_ == 0)
      throw Error(ErrorKind::input, lines_.origin() + ": no SuperBench results found");
    if (!without_unit_.empty())
      sink_.note(
          fmt::format("{}: unknown unit for {} metrics, the first being '{}': kept as plain "
                      "counts, in which any change matters",
                      lines_.origin(), without_unit_.size(), *without_unit_.begin()));
  }

 private:
  void node() {
    const Json json = parse_json(lines_.line(), lines_.origin());
    const Json* name = json.is_object() && json.contains("node") ? &json["node"] : nullptr;
    if (name == nullptr || !name->is_string() || !is_host_name(*name))
      lines_.refuse("has no 'node' with a host name");
    host_ = *name;
    if (!nodes_.insert(host_).second)
      lines_.refuse("names a node of an earlier line",
                    "one file holds one run: import each file separately");
    for (const auto& [text, value] : json.items())
      if (text != "node") entry(text, value);
  }

  void entry(const std::string& text, const Json& value) {
    SuperbenchKey key;
    if (!read_key(text, key))
      refuse_key(text, "is not 'benchmark/metric' or 'benchmark/metric:rank'");
    ImportedJob job;
    job.tool = "superbench";
    job.name = key.benchmark;
    job.hosts = {host_};
    job.ranks = 1;
    if (key.metric == "return_code") return return_code(job, key, value, text);
    if (value.is_null()) return;  // the node did not measure it
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      refuse_key(text, "is not a number: " + excerpt(value));
    series(job, key, value);
  }

  void return_code(const ImportedJob& job, const SuperbenchKey& key, const Json& value,
                   const std::string& text) {
    if (!value.is_number_integer()) refuse_key(text, "is not a whole number: " + excerpt(value));
    ++found_;
    if (value == 0) return;
    const std::string where = key.rank < 0 ? "" : fmt::format(" of rank {}", key.rank);
    sink_.ended(job, Status::failed,
                fmt::format("SuperBench: return code {}{}", dump(value), where));
  }

  void series(const ImportedJob& job, const SuperbenchKey& key, double value) {
    auto unit = superbench_unit(key.benchmark, key.metric);
    const std::string name = key.benchmark + "/" + key.metric;
    if (!unit) {
      without_unit_.insert(name);
      unit = StatedUnit{Unit::count, 1.0, Better::none};
    }
    Json params = Json::object();
    if (key.rank >= 0) params["rank"] = key.rank;
    sink_.series(job, one_value(name, unit->unit, unit->better, params, value * unit->factor));
    ++found_;
  }

  [[noreturn]] void refuse_key(const std::string& key, const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{}:{}: '{}' {}", lines_.origin(), lines_.number(),
                                              key.substr(0, 80), what));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  std::string host_;
  std::set<std::string> nodes_, without_unit_;
  std::size_t found_ = 0;
};

}  // namespace

void import_superbench(const ImportedFile& file, ImportSink& sink) {
  Superbench(file, sink).read();
}

}  // namespace bench
