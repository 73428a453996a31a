// Traces of PyTorch's profiler and of Nsight Systems, written here as those programs write them.
#include <SQLiteCpp/SQLiteCpp.h>
#include <sys/stat.h>
#include <zlib.h>

#include <fstream>

#include "core/error.h"
#include "results/import/kineto_trace.h"
#include "results/import/nsight_report.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

constexpr const char* kTrace = R"({
  "schemaVersion": 1, "distributedInfo": {"backend": "nccl", "rank": 2, "world_size": 4},
  "traceEvents": [
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#8", "pid": 1, "tid": 1,
   "ts": 1000100, "dur": 900, "args": {}},
  {"ph": "X", "cat": "user_annotation", "name": "ProfilerStep#7", "pid": 1, "tid": 1,
   "ts": 1000000, "dur": 100, "args": {}},
  {"ph": "X", "cat": "user_annotation", "name": "enumerate(DataLoader)#_Iter.__next__", "pid": 1,
   "tid": 1, "ts": 1000010, "dur": 20},
  {"ph": "X", "cat": "cpu_op", "name": "aten::mm", "pid": 1, "tid": 1, "ts": 1000040, "dur": 30},
  {"ph": "X", "cat": "cuda_runtime", "name": "cudaLaunchKernel", "pid": 1, "tid": 1,
   "ts": 1000050, "dur": 5, "args": {"correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "sgemm", "pid": 3, "tid": 7, "ts": 1000060.5, "dur": 30,
   "args": {"device": 3, "stream": 7, "correlation": 77}},
  {"ph": "X", "cat": "kernel", "name": "ncclKernel_AllReduce", "pid": 3, "tid": 20, "ts": 1000080,
   "dur": 40, "args": {"device": 3, "stream": 20, "correlation": 78}},
  {"ph": "X", "cat": "gpu_memcpy", "name": "Memcpy DtoD", "pid": 3, "tid": 7, "ts": 1000130,
   "dur": 10, "args": {"device": 3, "stream": 7}},
  {"ph": "s", "id": 77, "pid": 1, "tid": 1, "ts": 1000050, "cat": "ac2g", "name": "ac2g"},
  {"ph": "M", "name": "process_name", "pid": 1, "tid": 0, "ts": 0, "args": {"name": "python"}}
  ]})";

std::vector<std::string> names_of(const DeviceTrace& trace) {
  std::vector<std::string> names;
  for (const DeviceWork& work : trace.work)
    names.push_back(trace.names[static_cast<std::size_t>(work.name)]);
  return names;
}

void check_trace(const DeviceTrace& trace) {
  CHECK(trace.rank == 2);
  CHECK(names_of(trace) ==
        std::vector<std::string>{"sgemm", "ncclKernel_AllReduce", "Memcpy DtoD"});
  REQUIRE(trace.work.size() == 3);
  CHECK(trace.work[0].begin == Approx(60.5e-6));
  CHECK(trace.work[0].end == Approx(90.5e-6));
  CHECK(trace.work[0].device == 3);
  CHECK(trace.work[0].stream == 7);
  CHECK(trace.work[1].kind == DeviceWorkKind::communication);
  CHECK(trace.work[2].kind == DeviceWorkKind::memory);
  CHECK(trace.calls.at(77).end == Approx(55e-6));
  REQUIRE(trace.steps.size() == 2);
  CHECK(trace.steps[0].number == 7);
  CHECK(trace.loading.size() == 1);
  CHECK(trace.operations.size() == 1);
}

}  // namespace

TEST_CASE("a trace of PyTorch's profiler, plain and compressed") {
  check_trace(kineto_trace_from(kTrace, "trace.json"));
  const TemporaryDirectory folder;
  const auto path = folder.path() / "trace.json.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, kTrace);
  gzclose(file);
  check_trace(read_kineto_trace(path));
  std::ofstream(folder.path() / "trace.json") << kTrace;
  check_trace(read_kineto_trace(folder.path() / "trace.json"));
}

TEST_CASE("a trace that is damaged or none says so") {
  const TemporaryDirectory folder;
  const auto refused = [](const auto& read, const std::string& part) {
    try {
      read();
      FAIL("was accepted");
    } catch (const Error& error) {
      INFO(error.what());
      CHECK(std::string(error.what()).find(part) != std::string::npos);
    }
  };
  refused([] { kineto_trace_from("{\"a\": 1}", "t.json"); }, "t.json: has no traceEvents");
  refused([] { kineto_trace_from("[1, 2]", "t.json"); }, "has no traceEvents");
  refused([] { kineto_trace_from("{\"traceEvents\": [", "t.json"); }, "not valid JSON");
  refused([&] { read_kineto_trace(folder.path() / "none.json"); }, "none.json");
  const std::string whole = kTrace;
  const auto path = folder.path() / "cut.json.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, whole.data(), static_cast<unsigned>(whole.size()));
  gzclose(file);
  std::filesystem::resize_file(path, std::filesystem::file_size(path) / 2);
  refused([&] { read_kineto_trace(path); }, "cut.json.gz: its gzip stream is damaged or cut");
  std::ofstream(folder.path() / "text.sqlite") << "text";
  refused([&] { read_nsight_report(folder.path() / "text.sqlite"); },
          "text.sqlite is no complete report of Nsight Systems");
  refused([&] { read_nsight_report(folder.path() / "none.sqlite"); }, "none.sqlite");
  mkfifo((folder.path() / "pipe.json").c_str(), 0600);
  refused([&] { read_kineto_trace(folder.path() / "pipe.json"); }, "pipe.json");
  SQLite::Database(folder.path() / "empty.sqlite", SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE)
      .exec("CREATE TABLE other(id INT)");
  refused([&] { read_nsight_report(folder.path() / "empty.sqlite"); },
          "is no report of Nsight Systems");
}

TEST_CASE("times of traces keep their digits") {
  const DeviceTrace trace = kineto_trace_from(
      R"({"traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "a", "ts": 1712195495505543.0, "dur": 2},
  {"ph": "X", "cat": "kernel", "name": "b", "ts": 1712195495505545.0, "dur": 1}]})",
      "t.json");
  CHECK(trace.work[0].end == trace.work[1].begin);
  CHECK(trace.work[1].begin == Approx(2e-6).epsilon(1e-12));
}

TEST_CASE("events with impossible values are left out") {
  const DeviceTrace trace = kineto_trace_from(
      R"({"traceEvents": [
  {"ph": "X", "cat": "kernel", "name": "a", "ts": 1e300, "dur": 1},
  {"ph": "X", "cat": "kernel", "name": "b", "ts": 1, "dur": -1},
  {"ph": "X", "cat": "kernel", "name": "c", "ts": "now", "dur": 1},
  {"ph": "X", "cat": "kernel", "name": "d", "ts": 1, "dur": 1, "args": {"device": -4}},
  {"ph": "X", "cat": 7, "name": {}, "ts": 1, "dur": 1, "args": [1]},
  {"ph": "X", "cat": "kernel", "name": "e", "pid": 2, "tid": 9, "ts": 5, "dur": 1}, 3, null]})",
      "t.json");
  CHECK(names_of(trace) == std::vector<std::string>{"e"});
  CHECK(trace.work.front().device == 2);
  CHECK(trace.work.front().begin == 0.0);
  CHECK(!trace.rank);
}

TEST_CASE("a report of Nsight Systems: each process has its own numbers of launches") {
  const TemporaryDirectory folder;
  const auto path = folder.path() / "report.sqlite";
  constexpr std::int64_t kMachine = std::int64_t{3} << 48;
  constexpr std::int64_t kFirst = kMachine + (std::int64_t{11} << 24),
                         kSecond = kMachine + (std::int64_t{12} << 24);
  {
    SQLite::Database db(path, SQLite::OPEN_READWRITE | SQLite::OPEN_CREATE);
    db.exec("CREATE TABLE StringIds(id INTEGER PRIMARY KEY, value TEXT NOT NULL)");
    db.exec("INSERT INTO StringIds VALUES (1, 'sgemm'), (2, 'ncclDevKernel_AllReduce')");
    db.exec(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_KERNEL(start INT, end INT, deviceId INT, contextId "
        "INT, streamId INT, correlationId INT, globalPid INT, demangledName INT, shortName INT)");
    db.exec(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_MEMCPY(start INT, end INT, deviceId INT, streamId "
        "INT, correlationId INT, globalPid INT, bytes INT, copyKind INT)");
    db.exec(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_RUNTIME(start INT, end INT, globalTid INT, "
        "correlationId INT, nameId INT)");
    const auto kernel = [&](std::int64_t start, std::int64_t process, int device, int name) {
      SQLite::Statement row(db,
                            "INSERT INTO CUPTI_ACTIVITY_KIND_KERNEL VALUES (?, ?, ?, 1, 7, 5, "
                            "?, ?, ?)");
      row.bind(1, start);
      row.bind(2, start + 1000);
      row.bind(3, device);
      row.bind(4, process);
      row.bind(5, name);
      row.bind(6, name);
      row.exec();
    };
    kernel(5000, kFirst, 0, 1);
    kernel(7000, kSecond, 1, 2);
    db.exec("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (8000, 9000, 0, 7, 6, " +
            std::to_string(kFirst) + ", 64, 1)");
    db.exec("INSERT INTO CUPTI_ACTIVITY_KIND_RUNTIME VALUES (4000, 4500, " +
            std::to_string(kFirst + 3) + ", 5, 0), (6000, 6500, " + std::to_string(kSecond + 4) +
            ", 5, 0), (1, 2, " + std::to_string(std::int64_t{13} << 24) +
            ", 5, 0), (-9e999, 9e999, " + std::to_string(kFirst) + ", 9, 0)");
    db.exec("INSERT INTO CUPTI_ACTIVITY_KIND_MEMCPY VALUES (-9e999, 9e999, 0, 7, 6, " +
            std::to_string(kFirst) + ", 64, 1), (3000, 2000, 0, 7, 6, " + std::to_string(kFirst) +
            ", 64, 1), (1, 2, -1, 7, 6, " + std::to_string(kFirst) + ", 64, 1)");
    db.exec(
        "CREATE TABLE CUPTI_ACTIVITY_KIND_GRAPH_TRACE(start INT, end INT, deviceId INT, streamId "
        "INT, correlationId INT, globalPid INT)");
    db.exec("INSERT INTO CUPTI_ACTIVITY_KIND_GRAPH_TRACE VALUES (9500, 9900, 0, 7, 8, " +
            std::to_string(kFirst) + ")");
  }
  const auto traces = read_nsight_report(path);
  REQUIRE(traces.size() == 2);
  CHECK(traces[0].file == "report.sqlite, process 11");
  REQUIRE(traces[0].work.size() == 3);
  CHECK(names_of(traces[0]) == std::vector<std::string>{"sgemm", "CUDA graph", "copy"});
  CHECK(traces[0].calls.size() == 1);
  CHECK(traces[0].work[0].begin == Approx(1e-6));  // since the first call
  CHECK(traces[0].calls.at(5).begin == Approx(0.0));
  REQUIRE(traces[1].work.size() == 1);
  CHECK(traces[1].work[0].kind == DeviceWorkKind::communication);
  CHECK(traces[1].work[0].device == 1);
  CHECK(traces[1].calls.at(5).end == Approx(2.5e-6));
}

}  // namespace bench
