#include "results/importers/superbench_unit.h"

#include <array>

namespace bench {
namespace {

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

}  // namespace

std::optional<StatedUnit> superbench_unit(std::string_view benchmark, std::string_view metric) {
  for (const SuperbenchRule& rule : kRules) {
    if (!benchmark.starts_with(rule.benchmark) || !fits(rule, metric)) continue;
    if (rule.benchmark.empty() && !of_a_model(metric)) continue;
    return stated_unit(rule.unit);
  }
  return {};
}

}  // namespace bench
