// What one rank's command prints: kept in a file as it comes, and its MLLOG lines picked out.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "core/descriptor.h"
#include "core/units.h"
#include "probes/external/line_splitter.h"

namespace bench::external {

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

}  // namespace bench::external
