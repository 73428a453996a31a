#include "probes/traffic/trace_schedule.h"

#include <string>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

/// As chakra_jsonizer writes them: 64-bit numbers as text, zeros left out, no separators.
constexpr const char* kJsonized = R"({
  "version": "0.0.4"
}{
  "id": "4", "name": "grad", "type": "COMM_COLL_NODE", "dataDeps": ["3"],
  "attr": [{"name": "comm_type"}, {"name": "comm_size", "int64Val": "4096"}, {"name": "pg_name", "stringVal": "dp \" group"},
           {"name": "is_cpu_op", "boolVal": false}]
}{
  "id": "3", "name": "gemm", "type": "COMP_NODE", "ctrlDeps": ["1"], "durationMicros": "250"
}{
  "id": "1", "name": "gather", "type": "COMM_COLL_NODE",
  "attr": [{"name": "comm_type", "int64Val": "2"}, {"name": "comm_size", "int64Val": "1000"}]
}{
  "id": "2", "name": "start", "type": "METADATA_NODE"
}{
  "id": "5", "name": "weights", "type": "COMM_COLL_NODE",
  "attr": [{"name": "comm_type", "int64Val": "5"}, {"name": "comm_size", "int64Val": "8"}]
}{
  "id": "6", "type": "COMM_SEND_NODE", "dataDeps": ["4"],
  "attr": [{"name": "comm_size", "uint64Val": "64"}, {"name": "comm_dst", "int32Val": 2}]
})";

std::string node(const std::string& members) { return "{\"type\": 7, " + members + "}"; }

/// An all-reduce with other members.
std::string summing(int id, const std::string& members = R"("name": "sum")") {
  return node("\"id\": " + std::to_string(id) + ", " + members +
              R"(, "attr": [{"name": "comm_type"}, {"name": "comm_size", "int64Val": 8}])");
}

std::string refused_trace(const std::string& text) {
  try {
    parse_execution_trace(text, "et.json");
  } catch (const Error& error) {
    CHECK(error.kind() == ErrorKind::input);
    return error.text();
  }
  return "not refused";
}

TraceSettings named_groups() {
  TraceSettings settings;
  settings.groups["dp \" group"] = TrafficGroup::data;
  return settings;
}

}  // namespace

TEST_CASE("a trace is read in the order of its dependencies") {
  const ExecutionTrace trace = parse_execution_trace(kJsonized, "et.json");
  REQUIRE(trace.nodes.size() == 4);
  CHECK(trace.nodes[0].kind == TrafficKind::gather);
  CHECK(trace.nodes[0].bytes == 1000);
  CHECK(trace.nodes[1].kind == TrafficKind::compute);
  CHECK(trace.nodes[1].seconds == Approx(250e-6));
  CHECK(trace.nodes[2].kind == TrafficKind::sum);
  CHECK(trace.nodes[2].group == "dp \" group");
  CHECK(trace.nodes[3].kind == TrafficKind::send);
  CHECK(trace.nodes[3].peer == 2);
  CHECK(trace.left_out == std::map<std::string, std::int64_t>{{"BROADCAST", 1}});
}

TEST_CASE("traces may also be lists, with the names of the schema") {
  const std::string list =
      R"([{"id": 1, "type": 7, "data_deps": [2], "attr": [{"name": "comm_type", "int64_val": 0},
                                                {"name": "comm_size", "int64_val": 8}]},
          {"id": 2, "type": 4, "duration_micros": 5}])";
  for (const std::string& text : {list, R"({"schema": "x", "nodes": )" + list + "}"}) {
    const ExecutionTrace trace = parse_execution_trace(text, "et.json");
    REQUIRE(trace.nodes.size() == 2);
    CHECK(trace.nodes[0].kind == TrafficKind::compute);
    CHECK(trace.nodes[1].bytes == 8);
  }
}

TEST_CASE("the operations of a trace run in the groups that their names were given") {
  const TrafficSplit split{.tensor = 2};
  const TrafficPlace place = traffic_place(split, 1, 4);
  const ExecutionTrace trace = parse_execution_trace(kJsonized, "et.json");
  TraceSettings settings = named_groups();
  settings.time_scale = 2.0;
  const StepSchedule schedule = make_trace_schedule(trace, settings, split, place, "et.json");
  REQUIRE(schedule.ops.size() == 4);
  CHECK(schedule.ops[0].group == TrafficGroup::all);
  CHECK(schedule.ops[0].elements == 250);
  CHECK(schedule.ops[1].seconds == Approx(500e-6));
  CHECK(schedule.ops[2].group == TrafficGroup::data);
  CHECK(schedule.ops[2].payload(2) == 1024);
  CHECK(schedule.ops[3].peer == 2);
  CHECK_THROWS_WITH(make_trace_schedule(trace, {}, split, place, "et.json"),
                    Contains("node with id 4") && Contains("which is not known"));
  CHECK_THROWS_WITH(
      make_trace_schedule(trace, named_groups(), {}, traffic_place({}, 0, 2), "et.json"),
      Contains("node with id 6 of rank 0 has a message for rank 2 of 2"));
}

TEST_CASE("ranks that would not make the same calls have other fingerprints") {
  const auto print = [](const std::string& size, const std::string& type = "0") {
    const ExecutionTrace trace =
        parse_execution_trace(node(R"("attr": [{"name": "comm_type", "int64Val": )" + type +
                                   R"(}, {"name": "comm_size", "int64Val": )" + size + "}]"),
                              "et.json");
    return fingerprint(make_trace_schedule(trace, {}, {}, traffic_place({}, 0, 2), "et.json"),
                       TrafficGroup::all);
  };
  CHECK(print("64") == print("64"));
  CHECK(print("64") != print("128"));
  CHECK(print("64", "6") == print("64", "6"));
  CHECK(print("64", "6") != print("128", "6"));  // all-to-all
}

TEST_CASE("a trace that cannot be is refused with the node and the value") {
  CHECK_THAT(refused_trace(""), Contains("et.json: the file is empty"));
  CHECK_THAT(refused_trace("{\"type\": 7"), Contains("the last object has no end"));
  CHECK_THAT(refused_trace("{} 12"), Contains("byte 3 is between two objects"));
  CHECK_THAT(refused_trace("{}}"), Contains("closes no object"));
  CHECK_THAT(refused_trace("[3]"), Contains("a node is not an object"));
  CHECK_THAT(refused_trace("{\"nodes\": 3}"), Contains("nodes is not a list"));
  CHECK_THAT(refused_trace("{\"version\": \"1\"}"), Contains("no node communicates"));
  CHECK_THAT(refused_trace(node("\"id\": -4")), Contains("node 0: id is not a number"));
  CHECK_THAT(refused_trace(summing(1) + summing(1)), Contains("two nodes have the id 1"));
  CHECK_THAT(refused_trace(summing(1, R"("data_deps": [9])")),
             Contains("a node depends on id 9, which the trace lacks"));
  CHECK_THAT(refused_trace(summing(1, R"("data_deps": ["x"])")), Contains("which is not an id"));
  CHECK_THAT(refused_trace(summing(1, R"("dataDeps": [2])") + summing(2, R"("ctrlDeps": [1])")),
             Contains("2 nodes form a dependency cycle"));
  CHECK_THAT(refused_trace(node(R"("id": 1, "attr": [{"name": "comm_type"},
                                  {"name": "comm_size", "int64Val": "-5"}])")),
             Contains("node with id 1: comm_size is -5"));
  CHECK_THAT(refused_trace(node(R"("id": 1, "attr": [{"name": "comm_type", "int64Val": 77}])")),
             Contains("comm_type is 77, not from 0 to 9"));
  CHECK_THAT(refused_trace(node(R"("id": 1, "attr": [{"int64Val": 77}])")),
             Contains("an attribute has no name"));
  CHECK_THAT(refused_trace(R"({"type": "COMP_NODE", "durationMicros": "soon"})"),
             Contains("duration_micros is not a number"));
}

TEST_CASE("a node that does not say what it communicates is refused, naming it") {
  const auto with = [](const std::string& type, const std::string& attributes) {
    return refused_trace("[{\"id\": 3, \"type\": " + type + ", \"attr\": [" + attributes + "]}]");
  };
  const std::string size = R"({"name": "comm_size", "int64Val": 8})";
  CHECK_THAT(with("7", size), Contains("node with id 3: comm_type is missing"));
  CHECK_THAT(with("7", R"({"name": "comm_type"})"),
             Contains("node with id 3: comm_size is missing"));
  CHECK(with("7", R"({"name": "comm_type", "int64Val": 9})") == "not refused");  // a barrier
  CHECK_THAT(with("5", size), Contains("node with id 3: comm_dst is missing"));
  CHECK_THAT(with("6", size), Contains("node with id 3: comm_src is missing"));
  CHECK_THAT(with("6", R"({"name": "comm_src", "int64Val": 1})"),
             Contains("node with id 3: comm_size is missing"));
}

TEST_CASE("nodes of groups of one rank and without bytes are counted") {
  const std::string type = R"({"name": "comm_type", "int64Val": 0})";
  const std::string text =
      "[" +
      node(R"("id": 1, "attr": [)" + type +
           R"(, {"name": "comm_size", "int64Val": 8},
                                           {"name": "pg_name", "stringVal": "0"}])") +
      "," + node(R"("id": 2, "attr": [)" + type + R"(, {"name": "comm_size", "int64Val": 0}])") +
      "]";
  TraceSettings settings;
  settings.groups["0"] = TrafficGroup::tensor;
  const StepSchedule schedule = make_trace_schedule(
      parse_execution_trace(text, "et.json"), settings, {}, traffic_place({}, 0, 2), "et.json");
  CHECK(schedule.ops.empty());
  CHECK(schedule.of_one_rank == 1);
  CHECK(schedule.empty == 1);
}

}  // namespace bench
