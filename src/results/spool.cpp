#include "results/spool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <exception>

#include "core/json.h"
#include "core/record.h"

namespace bench {
namespace {

/// More bad lines than this are counted, not listed.
constexpr std::size_t kListedLines = 20;

/// Collects complaints about single lines, the first few in full.
class BadLines {
 public:
  void add(std::size_t line, const std::string& what) {
    if (++count_ <= kListedLines)
      listed_.push_back(fmt::format("records.jsonl: line {} unreadable, left out: {}", line, what));
  }
  void report(std::vector<std::string>& warnings) const {
    warnings.insert(warnings.end(), listed_.begin(), listed_.end());
    if (count_ > kListedLines)
      warnings.push_back(fmt::format("records.jsonl: {} more lines are unreadable, left out",
                                     count_ - kListedLines));
  }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> listed_;
};

std::size_t count_lines(std::istream& file) {
  std::array<char, 64u << 10> piece;
  std::size_t lines = 0;
  do {
    file.read(piece.data(), piece.size());
    lines += static_cast<std::size_t>(std::count(piece.data(), piece.data() + file.gcount(), '\n'));
  } while (file);
  file.clear();
  file.seekg(0);
  return lines;
}

}  // namespace

// Line by line: the records of 4,000 hosts, as one text beside what is made of them, take too much.
void read_spool(std::istream& file, RunRecords& run) {
  run.records.reserve(count_lines(file) + 1);
  BadLines bad;
  std::string line;
  for (std::size_t number = 1; std::getline(file, line); ++number) {
    const bool whole = !file.eof();
    if (line.empty()) continue;
    try {
      run.records.push_back(record_from_json(parse_json(line, "line")));
    } catch (const std::exception& error) {
      if (whole)
        bad.add(number, error.what());
      else  // kill -9, or a machine that went down, in the middle of a write
        run.warnings.push_back(
            fmt::format("records.jsonl: last line is torn ({} bytes), left out", line.size()));
    }
  }
  bad.report(run.warnings);
}

}  // namespace bench
