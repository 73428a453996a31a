#include "results/verdicts/training/mllog_files.h"

#include <fmt/format.h>

#include <map>

#include "core/error.h"
#include "core/json_fields.h"
#include "core/mllog.h"
#include "core/whole_file.h"

namespace bench {
namespace fs = std::filesystem;
namespace {

struct Lines {
  std::string text;
  std::size_t left_out = 0;
  std::string why;
  bool resumed = false;

  std::string trouble() const {
    if (resumed)
      return "the training resumed from a checkpoint: the log has only the time of its last "
             "process";
    return left_out == 0 ? "" : fmt::format("{} lines skipped: {}", left_out, why);
  }
};

/// Through the parser, so the output has the official order and form.
void add_line(Lines& lines, const Json& value) {
  const MllogParse parsed = parse_mllog(std::string(kMllogToken) + dump(value));
  if (parsed.line) {
    lines.text += to_text(*parsed.line) + "\n";
    return;
  }
  ++lines.left_out;
  lines.why = parsed.trouble;
}

std::map<std::string, Lines> lines_by_job(const RunRecords& run) {
  std::map<std::string, Lines> by_job;
  for (const Record& record : run.records) {
    const auto* event = std::get_if<Event>(&record.body);
    if (event != nullptr && event->key == kMllogEvent) add_line(by_job[record.job], event->value);
    const auto* facts = std::get_if<Facts>(&record.body);
    if (facts != nullptr && facts->topic == "training" && by_job.contains(record.job))
      by_job[record.job].resumed = integer_field(facts->facts, "resumed_from_step") > 0;
  }
  return by_job;
}

}  // namespace

std::vector<MllogText> mllog_texts(std::span<const RunRecords> runs) {
  std::vector<MllogText> texts;
  for (const RunRecords& run : runs) {
    const auto by_job = lines_by_job(run);
    for (const PlannedJob& job : run.jobs) {
      const auto found = by_job.find(job.id);
      if (found == by_job.end()) continue;
      const Lines& lines = found->second;
      texts.push_back({job.id, lines.text, lines.trouble(), lines.resumed});
    }
  }
  return texts;
}

std::vector<fs::path> write_mllog(const fs::path& folder, const std::vector<MllogText>& texts) {
  std::vector<fs::path> files;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    files.push_back(folder / fmt::format("result_{}.txt", i));
    std::error_code none;
    if (fs::exists(fs::symlink_status(files.back(), none)))
      throw Error(ErrorKind::input, files.back().string() + " already exists",
                  "choose an empty folder, or remove the file");
  }
  for (std::size_t i = 0; i < texts.size(); ++i) write_file(files[i], texts[i].text);
  return files;
}

}  // namespace bench
