#include "mlperf/follow/follow_log.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>

#include "core/descriptor.h"
#include "core/error.h"
#include "core/json_fields.h"
#include "core/mllog.h"
#include "core/text.h"
#include "mlperf/log/log_line.h"

namespace bench::mlperf {
namespace {

// Reads the new bytes at the end of a growing file.

class LogTail {
 public:
  /// Throws Error(environment).
  explicit LogTail(const std::filesystem::path& path);

  struct Piece {
    bool restarted = false;  // the file was truncated or replaced: discard earlier pieces
    bool all = true;         // no more bytes available now
    std::string bytes = {};
  };
  /// The bytes since the last call. Throws Error(environment).
  Piece more();

 private:
  void open();
  bool replaced() const;

  std::filesystem::path path_;
  Descriptor file_;
  dev_t device_ = 0;
  ino_t inode_ = 0;
  off_t at_ = 0;
};

constexpr std::size_t kMaxPieceBytes = std::size_t{16} << 20;

LogTail::LogTail(const std::filesystem::path& path) : path_(path) { open(); }

void LogTail::open() {
  const std::string name = printable(path_.string());
  file_ = Descriptor(::open(path_.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK));
  if (!file_.valid()) throw_errno("open " + name, "check that the training has created it");
  struct stat status {};
  if (::fstat(file_.get(), &status) != 0) throw_errno("stat " + name);
  if (!S_ISREG(status.st_mode))
    throw Error(ErrorKind::input, name + " is not a regular file",
                "pass the log that the run writes");
  device_ = status.st_dev;
  inode_ = status.st_ino;
  at_ = 0;
}

/// True if the file was truncated or another file has its name; a temporarily missing name does not
/// count.
bool LogTail::replaced() const {
  struct stat open_file {
  }, named{};
  if (::fstat(file_.get(), &open_file) == 0 && open_file.st_size < at_) return true;
  return ::stat(path_.c_str(), &named) == 0 && (named.st_dev != device_ || named.st_ino != inode_);
}

LogTail::Piece LogTail::more() {
  Piece piece;
  piece.restarted = replaced();
  if (piece.restarted) open();
  std::string block(std::size_t{1} << 16, '\0');
  for (;;) {
    piece.all = piece.bytes.size() < kMaxPieceBytes;
    if (!piece.all) break;
    const ssize_t got = ::pread(file_.get(), block.data(), block.size(), at_);
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) throw_errno("read " + printable(path_.string()));
    if (got == 0) break;
    piece.bytes.append(block, 0, static_cast<std::size_t>(got));
    at_ += got;
  }
  return piece;
}

}  // namespace

void GrowingLog::feed(std::string_view bytes) {
  log_.bytes += static_cast<std::int64_t>(bytes.size());
  while (!bytes.empty()) {
    const std::size_t end = bytes.find_first_of("\r\n");
    rest_ += bytes.substr(0, end);
    if (end == bytes.npos) return;
    take_line(rest_);
    physical_bytes_ += static_cast<std::int64_t>(rest_.size()) + 1;
    rest_.clear();
    if (bytes[end] == '\n') {
      ++log_.lines;
      physical_bytes_ = 0;
    }
    bytes.remove_prefix(end + 1);
  }
}

void GrowingLog::finish() {
  if (!rest_.empty() || physical_bytes_ > 0) {
    take_line(rest_);
    ++log_.lines;
  }
  rest_.clear();
}

void GrowingLog::take_line(std::string_view line) {
  const auto token = line.rfind(kMllogToken);
  if (token == line.npos) return;
  if (line.find("tracked_stats", token) != line.npos) take_stats(line);
  LineReader reader(log_);  // of this line alone, because it is not kept
  reader.add(line.substr(token), log_.lines + 1,
             physical_bytes_ + static_cast<std::int64_t>(token) + 1);
  if (!log_.entries.empty()) log_.entries.back().text = {};  // `line` is not kept
}

void GrowingLog::take_stats(std::string_view line) {
  const auto parsed = parse_mllog(line).line;
  if (!parsed || parsed->key != "tracked_stats") return;
  const auto take = [](const Json& from, const char* key, std::optional<double>& to) {
    if (const double value = number_field(from, key); std::isfinite(value)) to = value;
  };
  stats_.time_ms = static_cast<double>(parsed->time_ms);
  take(parsed->metadata, "step", stats_.step);
  for (const char* key : {"train_loss", "reduced_train_loss"})
    take(parsed->value, key, stats_.loss);
  take(parsed->value, "throughput", stats_.throughput);
  take(parsed->value, "train_step_time", stats_.step_seconds);
}

namespace {

std::string quoted(const std::string& benchmark) { return PythonValue(benchmark).excerpt(); }

void set_target(RunGoal& goal, const RunFacts& facts, const RuleSet& rules) {
  const auto found = rules.benchmarks.find(facts.benchmark);
  if (facts.benchmark.empty()) {
    goal.why_no_target = "the benchmark is not logged yet";
  } else if (found == rules.benchmarks.end()) {
    goal.why_no_target =
        "rule set " + rules.version + " has no benchmark " + quoted(facts.benchmark);
  } else {
    goal.target = found->second.target;
    goal.lower_is_better = found->second.lower_is_better;
    goal.progress = found->second.progress;
    if (!goal.target) goal.why_no_target = "the rules have no single target for this benchmark";
  }
}

void set_reference(RunGoal& goal, const RunFacts& facts, const RcpSets& points) {
  const auto set = points.find(facts.benchmark);
  if (set == points.end()) {
    goal.why_no_reference = "no reference convergence points";
  } else if (!facts.global_batch_size) {
    goal.why_no_reference = "the global batch size is not logged yet";
  } else if (const RcpReference found = reference_at(set->second, *facts.global_batch_size);
             found.point) {
    goal.reference_mean = found.point->mean;
    goal.reference_least = found.point->minimum - set->second.allowance;
  } else {
    goal.why_no_reference = "the batch is larger than that of any reference convergence point";
  }
}

}  // namespace

RunGoal goal_of(const RunFacts& facts, const RuleSet& rules, const RcpSets& points) {
  RunGoal goal;
  set_target(goal, facts, rules);
  set_reference(goal, facts, points);
  return goal;
}

namespace {

/// A report is printed when one of these changes.
struct ReportedState {
  RunPhase phase = RunPhase::waiting;
  std::size_t evaluations = 0;
  std::size_t invalid_lines = 0;
  double minute = 0.0;  // of initialisation

  bool operator==(const ReportedState&) const = default;
};

ReportedState state_of(const ProgressReport& report) {
  const bool initialising = report.phase == RunPhase::initialising;
  return {report.phase, report.evaluations, report.invalid_lines,
          initialising ? std::floor(report.init_minutes.value_or(0.0)) : 0.0};
}

}  // namespace

bool follow_log(const std::filesystem::path& path, const FollowCallbacks& callbacks) {
  LogTail tail(path);
  GrowingLog growing;
  std::optional<ReportedState> last_reported;
  for (;;) {
    LogTail::Piece piece = tail.more();
    if (piece.restarted) {
      growing = GrowingLog();
      last_reported.reset();
    }
    growing.feed(piece.bytes);
    const Log& log = growing.log();
    ProgressReport report = progress_of(log, callbacks.goal(log), callbacks.now_ms());
    report.stats = growing.stats();
    if (report.stats.time_ms)
      report.last_line_ms = std::max(report.last_line_ms.value_or(0.0), *report.stats.time_ms);
    const ReportedState now = state_of(report);
    callbacks.report(report, last_reported != now);
    last_reported = now;
    if (report.phase == RunPhase::stopped) return true;
    if (piece.all && !callbacks.wait()) return false;
  }
}

}  // namespace bench::mlperf
