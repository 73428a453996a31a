// Applies one section of a rule set to all lines of a log: one pass of the official checker.
#pragma once

#include <string>
#include <unordered_map>
#include <vector>

#include "results/mlperf/log/log.h"
#include "results/mlperf/rules/failures.h"
#include "results/mlperf/rules/rule_set.h"

namespace bench::mlperf {

class SectionCheck {
 public:
  /// Borrows all three.
  SectionCheck(const Section& section, const std::vector<LogEntry>& lines, Failures& failures)
      : section_(section), lines_(lines), failures_(failures), state_(section.begin) {}

  /// Adds the failures and returns the names of the sections that follow. Throws OfficialCrash.
  std::vector<std::string> run();

 private:
  /// The lines seen for one key.
  struct Seen {
    std::vector<const LogEntry*> lines = {};
    bool some = false;  // one of them satisfied `some`
  };

  void check_line(const LogEntry& line);
  void test_line(const KeyRule& rule, const LogEntry& line);
  void test(const LineTest& test, const KeyRule& rule, const LogEntry& line,
            const std::string& kind);
  bool holds_some(const KeyRule& rule, const LogEntry& line) const;
  void assign(const KeyRule& rule, const LogEntry& line);
  void continue_with(const KeyRule& rule, const LogEntry& line);
  void count(const std::string& key, const KeyRule& rule);
  void require_some(const std::string& key, const KeyRule& rule);
  void require_either(const std::string& key, const KeyRule& rule);
  const std::vector<const LogEntry*>& lines_of(const std::string& key) const;

  Scope scope_of(const LogEntry& line) const {
    return {&line.value, &line.metadata, line.time_ms, &state_};
  }

  const Section& section_;
  const std::vector<LogEntry>& lines_;
  Failures& failures_;
  State state_;
  std::unordered_map<std::string, Seen> seen_ = {};
  std::vector<std::string> following_ = {};
};

}  // namespace bench::mlperf
