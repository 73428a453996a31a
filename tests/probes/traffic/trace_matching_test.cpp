#include "probes/traffic/trace_matching.h"

#include <string>
#include <vector>

#include "tests/support/catch.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

using Calls = std::vector<TraceCall>;

TraceCall send_to(int rank, std::uint64_t node, std::int64_t elements = 8) {
  return {TrafficKind::send, TrafficGroup::all, rank, elements, node};
}
TraceCall receive_from(int rank, std::uint64_t node, std::int64_t elements = 8) {
  return {TrafficKind::receive, TrafficGroup::all, rank, elements, node};
}
TraceCall sum_in(TrafficGroup group, std::uint64_t node, std::int64_t elements = 8) {
  return {TrafficKind::sum, group, 0, elements, node};
}

}  // namespace

TEST_CASE("ranks whose messages and collectives meet come to their ends") {
  const Calls first{send_to(1, 1), receive_from(1, 2), sum_in(TrafficGroup::all, 3)};
  const Calls second{send_to(0, 1), receive_from(0, 2), sum_in(TrafficGroup::all, 3)};
  CHECK(trace_mismatch({first, second}, {}) == "");
  // Groups meet on their own.
  const TrafficSplit split{.tensor = 2};
  const Calls twice{sum_in(TrafficGroup::tensor, 1), sum_in(TrafficGroup::tensor, 2)};
  const Calls once{sum_in(TrafficGroup::tensor, 1)};
  CHECK(trace_mismatch({twice, twice, once, once}, split) == "");
}

TEST_CASE("ranks that would deadlock are refused with rank and node") {
  CHECK_THAT(trace_mismatch(
                 {{receive_from(1, 4), send_to(1, 5)}, {receive_from(0, 6), send_to(0, 7)}}, {}),
             Contains("node with id 4 of rank 0") && Contains("would deadlock") &&
                 Contains("node with id 6 of rank 1"));
  CHECK_THAT(trace_mismatch({{send_to(1, 4)}, {}}, {}),
             Contains("node with id 4 of rank 0") && Contains("never received"));
  CHECK_THAT(trace_mismatch({{}, {receive_from(0, 9)}}, {}),
             Contains("node with id 9 of rank 1") && Contains("would deadlock"));
  CHECK_THAT(trace_mismatch({{sum_in(TrafficGroup::all, 1)}, {}}, {}),
             Contains("node with id 1 of rank 0") && Contains("would deadlock"));
  CHECK_THAT(trace_mismatch({{sum_in(TrafficGroup::all, 1), receive_from(1, 2)},
                             {send_to(0, 3), receive_from(0, 4), sum_in(TrafficGroup::all, 5)}},
                            {}),
             Contains("node with id 1 of rank 0") && Contains("node with id 4 of rank 1"));
}

TEST_CASE("sizes that differ between the ends of an operation are refused") {
  CHECK_THAT(trace_mismatch({{send_to(1, 4, 8)}, {receive_from(0, 5, 16)}}, {}),
             Contains("node with id 5 of rank 1") && Contains("16 elements") &&
                 Contains("node with id 4 of rank 0") && Contains("8 elements"));
  const TraceCall small{TrafficKind::all_to_all, TrafficGroup::all, 0, 8, 1};
  TraceCall large = small;
  large.elements = 9;
  CHECK(trace_mismatch({{small}, {small}}, {}) == "");
  CHECK_THAT(trace_mismatch({{small}, {large}}, {}), Contains("would meet"));
  // An all-to-all would take the message.
  CHECK_THAT(trace_mismatch({{send_to(1, 4), small}, {small, receive_from(0, 5)}}, {}),
             Contains("would receive node with id 4 of rank 0"));
}

TEST_CASE("more sends than may be undelivered before the first receive are refused") {
  const auto ranks = [](int messages) {
    std::vector<Calls> both;
    for (const int other : {1, 0}) {
      Calls& calls = both.emplace_back();
      for (int i = 0; i < messages; ++i) calls.push_back(send_to(other, 1));
      for (int i = 0; i < messages; ++i) calls.push_back(receive_from(other, 2));
    }
    return both;
  };
  CHECK(trace_mismatch(ranks(64), {}) == "");
  CHECK_THAT(trace_mismatch(ranks(65), {}), Contains("would deadlock"));
}

TEST_CASE("lists of operations arrive as they were sent") {
  const Calls calls{send_to(3, 18'446'744'073'709'551'615U, std::int64_t{1} << 40),
                    sum_in(TrafficGroup::expert_data, 0)};
  CHECK(trace_calls_from(to_text(calls)) == calls);
  CHECK(trace_calls_from("").empty());
  CHECK_THROWS_WITH(trace_calls_from("1 2 3"), Contains("damaged"));
}

}  // namespace bench
