// A valid log that tests modify: Llama 3.1 8B in the closed division, 32 sequences per batch,
// evaluated every 12,288 sequences, reaching the target at the third evaluation or later.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

namespace bench::mlperf {

struct LogLine {
  std::string key = {};
  std::string value = "null";  // JSON
  std::string metadata = {};   // JSON members in addition to file and lineno: "\"epoch_num\": 1"
  std::string time = {};       // JSON
  std::string event = "POINT_IN_TIME";
};

class RightLog {
 public:
  explicit RightLog(std::int64_t start_ms = 1'760'000'000'000, int seed = 4711,
                    int evaluations = 3);

  /// The first line with `key`.
  LogLine& line(const std::string& key);
  /// The n-th evaluation, from 0.
  LogLine& evaluation(std::size_t n);
  void remove(const std::string& key);
  /// Inserts before the first line with `key`.
  void insert(const std::string& key, LogLine line);
  void append(LogLine line) { lines_.push_back(std::move(line)); }
  /// The number of the first line with `key`, from 1.
  std::int64_t number(const std::string& key) const;
  std::string text() const;

 private:
  void add(const std::string& key, const std::string& value, const std::string& metadata = {});
  void train(int evaluations);

  std::vector<LogLine> lines_;
  std::int64_t now_ = 0;
};

}  // namespace bench::mlperf
