// The text of nccl-tests: of 2017 (bytes, N, op, res; milliseconds), of 2019 (error), of 2022
// (root, #wrong), and with -I (i_min ... i_cv%).
#include <fmt/format.h>

#include <sstream>

#include "results/importers/imported_lines.h"
#include "results/importers/nccl_tests.h"

namespace bench {
namespace {

/// What the header of a table says about its columns.
struct NcclTable {
  std::size_t group = 0;  // columns of one of the two groups, time first
  double seconds = 1e-6;  // one unit of its times
  bool wrong = false;     // the fourth column counts wrong elements
  bool timestamp = false;
};

class NcclText {
 public:
  NcclText(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink), operation_(file.operation) {}

  void read() {
    while (lines_.next()) line(trimmed(lines_.line()));
    if (open_)
      lines_.refuse("is the last line, but no 'Out of bounds values' stands behind the table",
                    "the output is cut off; import a whole one");
    if (series_.empty())
      throw Error(ErrorKind::input, lines_.origin() + ": there is no result of nccl-tests in it");
    series_.hand_over(sink_);
    if (talk_ > 0)
      sink_.note(fmt::format("{}: {} lines of others between the output were left out",
                             lines_.origin(), talk_));
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) return;
    if (text.starts_with("Out of bounds values")) return end_table(text);  // 2017
    if (text.starts_with('#')) return comment(trimmed(text.substr(1)));
    const bool of_nccl = text.find(" NCCL ") != std::string_view::npos ||
                         text.starts_with("NCCL version") || text.starts_with("Avg bus bandwidth");
    if (open_ && !of_nccl) return row(imported_words(text));
    talk_ += text.starts_with("Avg bus bandwidth") ? 0 : 1;
  }

  void comment(std::string_view text) {
    const auto words = imported_words(text);
    if (words.size() >= 3 && words[0] == "Rank") return rank(words);
    if (text.starts_with("Collective test starting:")) return program(trimmed(text.substr(25)));
    if (text.starts_with("nccl-tests version")) return version(words);
    if (text.starts_with("Out of bounds values")) return end_table(text);
    if (!words.empty() && (words[0] == "size" || words[0] == "bytes") && words.size() > 6)
      return header(words);
    if (text.starts_with("nThread") && !open_) job_.hosts.clear(), job_.ranks = 0;
  }

  /// Rank 0 Group 0 Pid 1234 on host device 0 [0000:07:00] name; Group is missing before 2022.
  void rank(const std::vector<std::string_view>& words) {
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i] != "on") continue;
      const std::string host(words[i + 1]);
      if (!is_host_name(host)) lines_.refuse("names no host behind 'on'");
      return add_nccl_host(host, job_);
    }
    lines_.refuse("names no host");
  }

  void program(std::string_view name) {
    operation_ = nccl_operation(name);
    if (operation_.empty()) lines_.refuse("names no program of nccl-tests");
  }

  void version(const std::vector<std::string_view>& words) {
    if (words.size() < 3) lines_.refuse("names no version");
    program_ = {{"program", "nccl-tests"}, {"version", std::string(words[2])}};
    for (const std::string_view word : words)
      if (word.starts_with("nccl-library="))
        program_["libraries"] = {{"nccl", std::string(word.substr(13))}};
  }

  void header(const std::vector<std::string_view>& words) {
    if (open_)
      lines_.refuse("begins a table within another",
                    "the outputs of two processes are mixed: import them one by one");
    std::size_t first = 0, times = 0;
    table_ = {};
    table_.seconds = words[0] == "bytes" ? 1e-3 : 1e-6;
    table_.timestamp = words.back() == "timestamp";
    for (std::size_t i = 0; i < words.size(); ++i) {
      table_.wrong |= words[i] == "#wrong";
      if (words[i] != "time" && words[i] != "cputime") continue;
      if (times++ == 0)
        first = i;
      else
        table_.group = i - first;
    }
    if (times != 2 || (table_.group != 4 && table_.group != 8) ||
        words.size() != first + 2 * table_.group + (table_.timestamp ? 1 : 0))
      lines_.refuse("is no header of nccl-tests that is known");
    begin();
  }

  void begin() {
    if (operation_.empty())
      lines_.refuse("begins a table, and nothing before it names the collective",
                    "name it: --operation all_reduce");
    open_ = true;
    job_.tool = "nccl_tests";
    job_.name = operation_;
    job_.device = "cuda";
    if (!program_.is_null()) sink_.facts(job_, Facts{"program", program_});
  }

  /// size, count, type, then redop and root where they are, then one or two groups. A single group
  /// is in place: of a replayed trace.
  void row(const std::vector<std::string_view>& words) {
    const std::size_t count = words.size() - (table_.timestamp && words.size() >= 2 ? 2 : 0);
    const std::size_t groups = count > 2 * table_.group + 2 ? 2 : 1;
    const std::size_t left = count - groups * table_.group;
    if (count < table_.group + 3 || left < 3 || left > 5)
      lines_.refuse(fmt::format("has {} columns, which its table does not", words.size()));
    NcclMeasurement measured;
    std::int64_t elements = 0;
    if (!read_whole_number(words[0], measured.bytes) || !read_whole_number(words[1], elements) ||
        measured.bytes < 0 || elements < 0 || !is_plain_name(words[2]))
      lines_.refuse("does not begin with a size, a count and a type");
    measured.type = words[2];
    for (std::size_t i = 3; i < left; ++i)
      if (!read_whole_number(words[i], measured.root)) measured.redop = words[i];
    for (std::size_t group = 0; group < groups; ++group) {
      measured.in_place = groups == 1 || group == 1;
      values(words, left + group * table_.group, measured);
    }
  }

  void values(const std::vector<std::string_view>& words, std::size_t at,
              NcclMeasurement& measured) {
    double time = 0.0, algbw = 0.0, busbw = 0.0, last = 0.0;
    if (words[at] == "N/A" || words[at] == "nan") return;  // not run in place
    const bool checked = words[at + 3] != "N/A" && words[at + 3] != "nan";
    if (!read_number(words[at], time) || !read_number(words[at + 1], algbw) ||
        !read_number(words[at + 2], busbw) || time < 0.0 || busbw < 0.0 ||
        (checked && !read_number(words[at + 3], last)))
      lines_.refuse("has something else than numbers in its columns");
    measured.seconds = time * table_.seconds;
    measured.bus_bytes_per_s = busbw * 1e9;
    measured.wrong.reset();
    if (checked && table_.wrong) measured.wrong = last;
    add_nccl(job_, measured, series_);
  }

  /// Out of bounds values : 0 OK
  void end_table(std::string_view text) {
    if (!open_) lines_.refuse("ends a table that did not begin");
    const auto words = imported_words(text);
    if (words.size() != 7 && words.size() != 6) lines_.refuse("has no verdict");
    open_ = false;
    if (words.back() == "OK") return;
    sink_.ended(job_, Status::invalid, "nccl-tests: " + std::string(text));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  std::string operation_;
  ImportedJob job_;
  NcclTable table_;
  bool open_ = false;
  Json program_;
  std::size_t talk_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_nccl_tests(const ImportedFile& file, ImportSink& sink) {
  while (file.text.peek() == ' ' || file.text.peek() == '\n' || file.text.peek() == '\r' ||
         file.text.peek() == '\t')
    file.text.get();
  if (file.text.peek() != '{') return NcclText(file, sink).read();
  std::ostringstream text;
  text << file.text.rdbuf();
  import_nccl_json(text.str(), file, sink);
}

}  // namespace bench
