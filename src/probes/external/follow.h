// Runs a command on the ranks of a group until all of them have ended, reading what they print as
// it comes. A command that ends badly on one rank, and the deadline, end all the others.
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
  /// The stream has ended: what stands after its last line end is a line too.
  void finish(const Take& take);

 private:
  void end_line(const Take& take);

  std::size_t longest_;
  std::string line_;
  std::size_t dropped_ = 0;
  bool after_cr_ = false;
};

// What one rank's command prints: kept in a file as it comes, and its MLLOG lines picked out.

/// A line with MLLOG's token, and when it was read.
struct FollowedLine {
  std::string text;
  std::int64_t arrived_ns = 0;  // UTC, since 1970
  Seconds arrived = {};         // since the ranks began, by this host's steady clock
};

class RankOutput {
 public:
  static constexpr std::size_t kLongestLine = std::size_t{256} << 10;
  static constexpr std::size_t kMostBytes = std::size_t{256} << 20;

  /// `most`: bytes the file may hold. Throws Error(environment) when it cannot be made.
  explicit RankOutput(const std::filesystem::path& file, std::size_t most = kMostBytes);

  /// Bytes of stdout and stderr, which share the file line by line; `now` since the ranks began.
  void add(std::string_view bytes, bool is_error, Seconds now);
  void finish(Seconds now);

  /// The MLLOG lines since the last call.
  std::vector<FollowedLine> take();
  /// The last lines that are no MLLOG, safe to print, joined by " | ".
  std::string last_output() const;

  std::size_t lines_cut() const { return lines_cut_; }
  /// The file holds not all of it: it is full, or could not be written.
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
  /// How often the ranks tell rank 0 their news, and learn whether to go on.
  Seconds tick = {0.25};
};

/// What stands at rank 0 for each text with MLLOG's token, of any rank: the line, or the text and
/// why it is none.
struct LogTaker {
  std::function<void(const LoggedLine& line)> line;
  std::function<void(std::string_view text, const std::string& trouble)> trouble;
};

/// `command`: of this rank; null where it has none. `log`: what it prints. Every rank must call it;
/// the result, and the lines, are rank 0's. Throws no Error once the command runs.
FinishedRun follow(Group& group, Supervised* command, RankOutput& log, const std::string& log_path,
                   const FollowSettings& settings, const LogTaker& take);

}  // namespace bench::external
