#include "results/import/nsight_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/error.h"
#include "core/whole_file.h"
#include "results/store/sqlite.h"

namespace bench {
namespace {

constexpr double kNanosecond = 1e-9;
/// Global numbers of threads: the machine, the process in 24 bits, the thread in 24 bits. Those of
/// processes have no thread.
constexpr int kThreadBits = 24;
constexpr std::int64_t kProcessMask = (std::int64_t{1} << 24) - 1;

std::int64_t process_of(std::int64_t global) { return global >> kThreadBits; }
std::int64_t pid_of(std::int64_t process) { return process & kProcessMask; }

class NsightReader {
 public:
  explicit NsightReader(const std::filesystem::path& path)
      : file_(path.filename().string()), db_(path, SQLite::OPEN_READONLY) {
    distrust(db_);
  }

  std::vector<DeviceTrace> read() {
    if (!db_.tableExists("StringIds"))
      throw Error(ErrorKind::input, file_ + ": is no report of Nsight Systems",
                  "give a report that `nsys export --type sqlite` wrote");
    read_strings();
    read_kernels();
    // Graphs of kernels that were traced as a whole, which is the default of nsys.
    read_other("CUPTI_ACTIVITY_KIND_GRAPH_TRACE", "CUDA graph", DeviceWorkKind::compute);
    read_other("CUPTI_ACTIVITY_KIND_MEMCPY", "copy", DeviceWorkKind::memory);
    read_other("CUPTI_ACTIVITY_KIND_MEMSET", "fill", DeviceWorkKind::memory);
    if (processes_.empty())
      throw Error(ErrorKind::input, file_ + ": has no kernels, copies or fills",
                  "profile with `nsys profile --trace cuda`");
    read_calls();
    return finish();
  }

 private:
  bool has_column(const std::string& table, const std::string& column) {
    SQLite::Statement query(db_, "SELECT 1 FROM pragma_table_info(?) WHERE name = ?");
    query.bind(1, table);
    query.bind(2, column);
    return query.executeStep();
  }
  /// The process of a row; all are of one in reports that do not say.
  std::string process_column(const std::string& table) {
    return has_column(table, "globalPid") ? "t.globalPid" : "0";
  }

  /// Columns start, end, deviceId, streamId, correlationId and the process.
  void add_work(SQLite::Statement& row, const std::string& name, DeviceWorkKind kind) {
    const DeviceCall time = time_of(row);
    const std::int64_t device = row.getColumn(2).getInt64();
    if (!is_valid(time) || device < 0 || device > std::numeric_limits<int>::max()) return;
    const std::int64_t process = process_of(row.getColumn(5).getInt64());
    DeviceTrace& trace = processes_[process];
    trace.work.push_back({names_[process].number_of(name, trace), kind, static_cast<int>(device),
                          row.getColumn(3).getInt64(), row.getColumn(4).getInt64(), time.begin,
                          time.end});
  }

  static DeviceCall time_of(SQLite::Statement& row) {
    return {row.getColumn(0).getDouble() * kNanosecond, row.getColumn(1).getDouble() * kNanosecond};
  }
  static bool is_valid(const DeviceCall& time) {
    constexpr double kLatest = 1e12;
    return std::abs(time.begin) < kLatest && std::abs(time.end) < kLatest && time.end >= time.begin;
  }

  void read_strings() {
    SQLite::Statement row(db_, "SELECT id, value FROM StringIds");
    while (row.executeStep())
      strings_.emplace(row.getColumn(0).getInt64(), row.getColumn(1).getString());
  }

  void read_kernels() {
    const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
    if (!db_.tableExists(table)) return;
    SQLite::Statement row(db_, "SELECT t.start, t.end, t.deviceId, t.streamId, t.correlationId, " +
                                   process_column(table) + ", t.demangledName FROM " + table +
                                   " t");
    while (row.executeStep()) {
      const auto found = strings_.find(row.getColumn(6).getInt64());
      const std::string name = found == strings_.end() ? "unknown" : found->second;
      add_work(row, name, kind_of_kernel(name));
    }
  }

  void read_other(const std::string& table, const std::string& name, DeviceWorkKind kind) {
    if (!db_.tableExists(table)) return;
    SQLite::Statement row(db_, "SELECT t.start, t.end, t.deviceId, t.streamId, t.correlationId, " +
                                   process_column(table) + " FROM " + table + " t");
    while (row.executeStep()) add_work(row, name, kind);
  }

  void read_calls() {
    const std::string table = "CUPTI_ACTIVITY_KIND_RUNTIME";
    if (!db_.tableExists(table)) return;
    const bool known =
        has_column("CUPTI_ACTIVITY_KIND_KERNEL", "globalPid") && has_column(table, "globalTid");
    SQLite::Statement row(db_, "SELECT t.start, t.end, t.correlationId, " +
                                   std::string(known ? "t.globalTid" : "0") + " FROM " + table +
                                   " t");
    while (row.executeStep()) {
      const DeviceCall time = time_of(row);
      const auto process = processes_.find(process_of(row.getColumn(3).getInt64()));
      if (process != processes_.end() && is_valid(time))
        process->second.calls[row.getColumn(2).getInt64()] = time;
    }
  }

  std::vector<DeviceTrace> finish() {
    double first = std::numeric_limits<double>::infinity();
    for (const auto& [process, trace] : processes_) {
      for (const DeviceWork& work : trace.work) first = std::min(first, work.begin);
      for (const auto& [number, call] : trace.calls) first = std::min(first, call.begin);
    }
    std::vector<DeviceTrace> all;
    for (auto& [process, trace] : processes_) {
      trace.file = file_;
      if (processes_.size() > 1) trace.file += fmt::format(", process {}", pid_of(process));
      for (DeviceWork& work : trace.work) {
        work.begin -= first;
        work.end -= first;
      }
      for (auto& [number, call] : trace.calls) {
        call.begin -= first;
        call.end -= first;
      }
      all.push_back(std::move(trace));
    }
    return all;
  }

  std::string file_;
  SQLite::Database db_;
  std::map<std::int64_t, DeviceTrace> processes_ = {};
  std::map<std::int64_t, TraceNames> names_ = {};  // by process
  std::map<std::int64_t, std::string> strings_ = {};
};

}  // namespace

std::vector<DeviceTrace> read_nsight_report(const std::filesystem::path& path) {
  open_input(path);  // refuses what is no file, and says why one cannot be read
  try {
    return NsightReader(path).read();
  } catch (const SQLite::Exception& error) {
    throw Error(ErrorKind::input,
                path.string() + " is no complete report of Nsight Systems: " + error.what(),
                "export the report again with `nsys export --type sqlite`");
  }
}

}  // namespace bench
