#include "core/metric_names.h"

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("an old metric name maps to the current name") {
  CHECK(current_metric_name("burn.kept") == "burn.sustained_ratio");
  CHECK(current_metric_name("concurrency.kept") == "concurrency.sustained_ratio");
  CHECK(current_metric_name("concurrency.hidden") == "concurrency.overlap_ratio");
}

TEST_CASE("current and unknown metric names stay unchanged") {
  for (const char* name : {"", "burn.sustained_ratio", "burn.kept2", "gemm.kept", "kept", "burn."})
    CHECK(current_metric_name(name) == name);
}

TEST_CASE("a metric of a known probe keeps its form, with or without the probe name") {
  CHECK(current_metric_of("burn", "kept") == "sustained_ratio");
  CHECK(current_metric_of("burn", "burn.kept") == "burn.sustained_ratio");
  CHECK(current_metric_of("concurrency", "hidden") == "overlap_ratio");
  CHECK(current_metric_of("gemm", "kept") == "kept");
  CHECK(current_metric_of("burn", "gemm_rate") == "gemm_rate");
  CHECK(current_metric_of("burn", "") == "");
}

TEST_CASE("no metric name is both old and current") {
  for (const MetricRename& rename : metric_renames())
    CHECK(current_metric_name(rename.name) == rename.name);
}
