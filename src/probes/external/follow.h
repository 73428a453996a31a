// Runs a command on the ranks of a group until all have ended, and reads their output as it comes.
// A command that fails on one rank, or the deadline, ends all others.
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <filesystem>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/units.h"
#include "devices/group.h"
#include "probes/external/supervised.h"
#include "probes/external/verdict.h"

namespace bench::external {

// Cuts a stream into lines. CR, LF and CRLF end one: progress bars use CR alone, and a log line may
// stand between two of them.

class LineSplitter {
 public:
  /// Takes a line without its end, and how many bytes of it were dropped because it was too long.
  using Take = std::function<void(std::string_view line, std::size_t dropped)>;

  explicit LineSplitter(std::size_t longest) : longest_(longest) {}

  void add(std::string_view bytes, const Take& take);
  /// The stream has ended: the rest after its last line end is a line too.
  void finish(const Take& take);

 private:
  void end_line(const Take& take);

  std::size_t longest_;
  std::string line_;
  std::size_t dropped_ = 0;
  bool after_cr_ = false;
};

// The output of one rank's command: stored in a file as it comes; its MLLOG lines are extracted.

/// A line with the MLLOG token, and when it was read.
struct FollowedLine {
  std::string text;
  std::int64_t arrived_ns = 0;  // UTC, since 1970
  Seconds arrived = {};         // since the ranks began, by this host's steady clock
};

class RankOutput {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{256} << 10;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  /// `most`: bytes the file may hold. Throws Error(environment) if it cannot be created.
  explicit RankOutput(const std::filesystem::path& file, std::size_t most = kMostBytes);

  /// Bytes of stdout or stderr, which share the file line by line; `now`: since the ranks began.
  void add(std::string_view bytes, bool is_error, Seconds now);
  void finish(Seconds now);

  /// The MLLOG lines since the last call.
  std::vector<FollowedLine> take();
  /// The last lines without the MLLOG token, safe to print, joined by " | ".
  std::string last_output() const;

  std::size_t lines_cut() const { return lines_cut_; }
  /// The file lacks output: it is full, or could not be written.
  bool incomplete() const { return incomplete_; }

 private:
  void add_line(std::string_view line, std::size_t dropped, Seconds now);
  void keep(std::string_view line, std::size_t dropped);

  Descriptor file_;
  std::size_t most_;
  std::size_t written_ = 0;
  bool incomplete_ = false;
  std::size_t lines_cut_ = 0;
  LineSplitter out_{kLongestLine};
  LineSplitter error_{kLongestLine};
  std::deque<std::string> tail_;
  std::vector<FollowedLine> followed_;
};

struct FollowSettings {
  Seconds deadline = {60.0};
  /// How often the ranks report to rank 0 and learn whether to continue.
  Seconds tick = {0.25};
};

/// Called on rank 0 for each text with the MLLOG token, of any rank: with the line, or with the
/// text and why it is not a line.
struct LogTaker {
  std::function<void(const LoggedLine& line)> line;
  std::function<void(std::string_view text, const std::string& trouble)> trouble;
};

/// `command`: of this rank; null if it has none. `log`: its output. Every rank must call this; only
/// rank 0 gets the result and the lines. Throws no Error once the command runs.
FinishedRun follow(Group& group, Supervised* command, RankOutput& log, const std::string& log_path,
                   const FollowSettings& settings, const LogTaker& take);

}  // namespace bench::external
