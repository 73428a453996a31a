// What a rank says beside its records: kept in a file up to a cap, its last lines for reasons.
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

  /// Throws Error(environment) when the file cannot be made.
  explicit RankLog(const std::filesystem::path& path);

  void add_line(std::string_view line);
  /// Forget the lines so far: what follows belongs to another job. The file keeps them.
  void start_job() { tail_.clear(), error_.clear(); }
  /// The last lines since start_job(), and before them the first error of a rank, joined by " | "
  /// and safe to print; empty for none.
  std::string last_words() const;

 private:
  Descriptor file_;
  std::size_t written_ = 0;
  std::deque<std::string> tail_;
  std::string error_;
};

}  // namespace bench
