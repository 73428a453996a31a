// Two probes as tests of the runner need them: one with parameters of every kind, one without.
#pragma once

#include "runner/plan/probe_catalogue.h"

namespace bench {

inline ProbeCatalogue test_catalogue() {
  const Json gemm = Json::parse(R"({
    "title": "gemm", "description": "Multiplies matrices.", "devices": ["host", "cuda"],
    "metrics": {"throughput": {"unit": "FLOP/s", "better": "higher",
      "limit": {"metric": "peak.throughput", "where": {"dtype": "dtype", "threads": "cores"}}}},
    "type": "object", "additionalProperties": false,
    "properties": {
      "dtype": {"type": "string", "enum": ["f32", "f64", "bf16"], "default": "f32"},
      "cores": {"type": "integer", "minimum": 0, "maximum": 64, "default": 1},
      "sizes": {"type": "array", "items": {"type": "integer", "minimum": 1}, "default": [256, 512]}}})");
  const Json peak = Json::parse(R"({
    "title": "peak", "description": "Counts instructions.", "devices": ["host"],
    "metrics": {"throughput": {"unit": "FLOP/s", "better": "higher"},
                "latency": {"unit": "s", "better": "lower"}},
    "type": "object", "properties": {"threads": {"type": "integer", "default": 1}}})");
  return ProbeCatalogue({probe_entry(gemm, "gemm.json"), probe_entry(peak, "peak.json")});
}

}  // namespace bench
