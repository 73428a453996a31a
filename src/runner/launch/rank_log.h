// Log of a rank's other output: stored in a file of limited size; its last lines are used in reasons.
#pragma once

#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include "core/descriptor.h"

namespace bench {

class RankLog {
 public:
  static constexpr std::size_t kMaxBytes = 16u << 20;

  /// Throws Error(environment) if the file cannot be created.
  explicit RankLog(const std::filesystem::path& path);

  void add_line(std::string_view line);
  /// Starts a new tail for another job. The file keeps all lines.
  void start_job() { tail_.clear(), error_.clear(); }
  /// The first error of a rank and the last lines since start_job(), joined by " | " and printable; empty
  /// if there are none.
  std::string stderr_tail() const;

 private:
  Descriptor file_;
  std::size_t written_ = 0;
  std::deque<std::string> tail_;
  std::string error_;
};

}  // namespace bench
