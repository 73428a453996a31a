#include "results/spool.h"

#include <fmt/format.h>

#include <algorithm>
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
      listed_.push_back(fmt::format("records.jsonl: skipped unreadable line {}: {}", line, what));
  }
  void report(std::vector<std::string>& warnings) const {
    warnings.insert(warnings.end(), listed_.begin(), listed_.end());
    if (count_ > kListedLines)
      warnings.push_back(fmt::format("records.jsonl: skipped {} more unreadable lines",
                                     count_ - kListedLines));
  }

 private:
  std::size_t count_ = 0;
  std::vector<std::string> listed_;
};

}  // namespace

void read_spool(std::string_view text, RunRecords& run) {
  run.records.reserve(static_cast<std::size_t>(std::ranges::count(text, '\n')) + 1);
  BadLines bad;
  std::size_t number = 0;
  while (!text.empty()) {
    ++number;
    const std::size_t end = text.find('\n');
    const bool whole = end != std::string_view::npos;
    const std::string_view line = text.substr(0, end);
    text.remove_prefix(whole ? end + 1 : text.size());
    if (line.empty()) continue;
    try {
      run.records.push_back(record_from_json(parse_json(line, "line")));
    } catch (const std::exception& error) {
      if (whole)
        bad.add(number, error.what());
      else  // kill -9, or a machine that went down, in the middle of a write
        run.warnings.push_back(
            fmt::format("records.jsonl: skipped truncated last line ({} bytes)", line.size()));
    }
  }
  bad.report(run.warnings);
}

}  // namespace bench
