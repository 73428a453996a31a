#include "results/run/dimensions.h"

#include "tests/support/catch.h"

using namespace bench;

TEST_CASE("names in a plot have the parameters in which metrics of one name differ") {
  const Json one = {{"dtype", "f32"}, {"library", "onednn"}, {"threads", 1}};
  const Json two = {{"dtype", "f32"}, {"library", "onednn"}, {"threads", 2}};
  const Json more = {{"dtype", "f32"}, {"level", "L3"}};
  CHECK(short_names({{"gemm.throughput", one}, {"latency", more}, {"gemm.throughput", two}}) ==
        std::vector<std::string>{"gemm.throughput (threads 1)", "latency",
                                 "gemm.throughput (threads 2)"});
  CHECK(short_names({{"a", {{"x", 1}}}, {"a", Json::object()}}) ==
        std::vector<std::string>{"a (x 1)", "a"});
  CHECK(short_names({}).empty());
}
