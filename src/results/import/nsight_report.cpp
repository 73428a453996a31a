#include "results/import/nsight_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <utility>

#include "core/error.h"
#include "results/store/sqlite.h"

namespace bench {
namespace {

constexpr double kNanosecond = 1e-9;
/// Global thread and process numbers have the thread in these bits.
constexpr std::int64_t kThreadBits = 24;

std::int64_t process_of(std::int64_t global) { return global >> kThreadBits; }

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
    read_kernels();
    read_memory("CUPTI_ACTIVITY_KIND_MEMCPY", "copy");
    read_memory("CUPTI_ACTIVITY_KIND_MEMSET", "fill");
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

  void add_work(SQLite::Statement& row, const std::string& name, DeviceWorkKind kind) {
    const std::int64_t process = process_of(row.getColumn(5).getInt64());
    DeviceTrace& trace = processes_[process];
    trace.work.push_back({names_[process].number_of(name, trace), kind, row.getColumn(2).getInt(),
                          row.getColumn(3).getInt64(), row.getColumn(4).getInt64(),
                          row.getColumn(0).getDouble() * kNanosecond,
                          row.getColumn(1).getDouble() * kNanosecond});
  }

  void read_kernels() {
    const std::string table = "CUPTI_ACTIVITY_KIND_KERNEL";
    if (!db_.tableExists(table)) return;
    SQLite::Statement row(db_, "SELECT t.start, t.end, t.deviceId, t.streamId, t.correlationId, " +
                                   process_column(table) + ", s.value FROM " + table +
                                   " t LEFT JOIN StringIds s ON s.id = t.demangledName");
    while (row.executeStep()) {
      const std::string name = row.getColumn(6).getString();
      add_work(row, name, kind_of_kernel(name));
    }
  }

  void read_memory(const std::string& table, const std::string& name) {
    if (!db_.tableExists(table)) return;
    SQLite::Statement row(db_, "SELECT t.start, t.end, t.deviceId, t.streamId, t.correlationId, " +
                                   process_column(table) + " FROM " + table + " t");
    while (row.executeStep()) add_work(row, name, DeviceWorkKind::memory);
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
      const auto process = processes_.find(process_of(row.getColumn(3).getInt64()));
      if (process != processes_.end())
        process->second.calls[row.getColumn(2).getInt64()] = {
            row.getColumn(0).getDouble() * kNanosecond, row.getColumn(1).getDouble() * kNanosecond};
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
      if (processes_.size() > 1) trace.file += fmt::format(", process {}", process);
      for (DeviceWork& work : trace.work) {
        work.begin -= first;
        work.end = std::max(work.begin, work.end - first);
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
};

}  // namespace

std::vector<DeviceTrace> read_nsight_report(const std::filesystem::path& path) {
  refuse_special_file(path);
  try {
    return NsightReader(path).read();
  } catch (const SQLite::Exception& error) {
    rethrow(error, path);
  }
}

}  // namespace bench
