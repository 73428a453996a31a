// TransferBench: the tables of its transfers, of p2p and of a2a, as text or with OUTPUT_TO_CSV=1.
// As versions 1.52 to 1.6x print them (src/TransferBench.cpp, later src/client, of
// ROCm/TransferBench).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

constexpr double kGigabytes = 1e9;
constexpr double kMilliseconds = 1e-3;
constexpr std::size_t kLongestTransferError = 200;

/// Without separators and borders, which differ between versions and options.
std::string without_borders(std::string_view line) {
  std::string text(line);
  for (const std::string_view border : {"\u2502", "\u2518", "\u2510", "\u2524", "\u2514", "\u250c",
                                        "\u251c", "\u2534", "\u252c", "\u253c"})
    for (std::size_t at = text.find(border); at != std::string::npos; at = text.find(border, at))
      text.replace(at, border.size(), " ");
  std::ranges::replace(text, '|', ' ');
  std::ranges::replace(text, ',', ' ');
  return text;
}

bool is_rule(std::string_view text) {
  return text.find_first_not_of("-= \t\r\n\v\f") == std::string_view::npos;
}

/// "47.1 GB/s 1.4 ms 67108864 bytes": the start of a row's values.
struct TransferRow {
  double bytes_per_s = 0.0, seconds = 0.0;
  std::int64_t bytes = 0;
};

class TransferBench {
 public:
  TransferBench(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {
    job_.tool = "transferbench";
    job_.name = "transfers";
  }

  void read() {
    while (lines_.next()) {
      const std::string text = without_borders(lines_.line());
      if (!is_rule(text)) line(trim(text), words_of(text));
    }
    end_matrix();
    if (open_ && failure_.empty())
      lines_.refuse("is the last line, but 'Aggregate' did not end the table of transfers",
                    "the output is truncated; import a complete one");
    lines_.demand_whole();
    if (!program_.empty()) sink_.facts(job_, Facts{"program", program_});
    if (failed_) sink_.ended(job_, Status::failed, first_failure_);
    if (!failed_ || !series_.empty()) series_.emit(sink_, lines_.origin(), "TransferBench");
  }

 private:
  using Words = std::vector<std::string_view>;

  void line(std::string_view text, const Words& words) {
    if (text.starts_with("[ERROR]")) return failed(trim(text.substr(7)));
    if (text.starts_with("[WARN]"))
      return sink_.note(lines_.origin() + ": TransferBench warns: " +
                        printable(trim(text.substr(6)).substr(0, kLongestTransferError)));
    if (words[0] == "Executor:") return executor(words);
    if (words[0] == "Transfer" && words.size() > 2) return transfer(words);
    if (words[0] == "Aggregate" && words.size() > 1) return aggregate(words);
    if (text.starts_with("Unidirectional copy") || text.starts_with("Bidirectional copy"))
      return peers(words);
    if (words[0].starts_with("SRC") && words[0].find('\\') != std::string_view::npos)
      return columns(words);
    if (!columns_.empty()) return in_matrix(text, words);
    if (open_) return in_table(words);
    if (words[0] == "Test" && words.size() == 2 && words[1].ends_with(':')) return;
    head(text, words);
  }

  void head(std::string_view text, const Words& words) {
    for (std::size_t i = 0; i + 1 < words.size(); ++i)
      if (words[i].ends_with("TransferBench") && words[i + 1].starts_with('v'))
        program_ = {
            {"program", "TransferBench"},
            {"version", std::string(trim(words[i + 1].substr(1, words[i + 1].find(')') - 1)))}};
    std::int64_t bytes = 0;
    if (text.starts_with("Bytes Per Direction") && read_whole_number(words.back(), bytes))
      bytes_ = bytes;
    if (text.starts_with("- Copying ") && words.size() > 2 && read_whole_number(words[2], bytes))
      bytes_ = bytes;
  }

  /// Of the transfers of the open test, or of the one before.
  void failed(std::string_view text) {
    failed_ = true;
    if (failure_.empty())
      failure_ = "TransferBench: " + printable(text.substr(0, kLongestTransferError));
    if (first_failure_.empty()) first_failure_ = failure_;
  }

  /// Values from `at` on, where a test's rows have them.
  TransferRow values(const Words& words, std::size_t at) const {
    TransferRow row;
    if (words.size() < at + 6 || !read_number(words[at], row.bytes_per_s) ||
        words[at + 1] != "GB/s" || !read_number(words[at + 2], row.seconds) ||
        words[at + 3] != "ms" || !read_whole_number(words[at + 4], row.bytes) ||
        words[at + 5] != "bytes" || row.bytes_per_s < 0.0 || row.seconds < 0.0 || row.bytes < 0)
      lines_.refuse("has no bandwidth in GB/s, time in ms and size in bytes");
    row.bytes_per_s *= kGigabytes;
    row.seconds *= kMilliseconds;
    return row;
  }

  /// Executor: GPU 00, or with several ranks: Executor: Rank 1 GPU 00.
  void executor(const Words& words) {
    const std::size_t at = words.size() > 1 && words[1] == "Rank" ? 5 : 3;
    const TransferRow row = values(words, at);
    open_ = true;
    Json params = test_params(row);
    params["executor"] = name(words[at - 2]) + " " + name(words[at - 1]);
    if (at == 5) params["rank"] = number(words[2]);
    add("executor_bandwidth", Better::higher, params, row.bytes_per_s);
  }

  /// Transfer 00 47.1 GB/s 1.4 ms 67108864 bytes G0 -> GPU00:008 -> G1
  void transfer(const Words& words) {
    const TransferRow row = values(words, 2);
    constexpr std::size_t kSource = 8;
    if (words.size() != kSource + 5 || words[kSource + 1] != "->" || words[kSource + 3] != "->")
      lines_.refuse("does not end with 'source -> executor -> destination'");
    open_ = any_transfer_ = true;
    end_transfer();
    transfer_ = test_params(row);
    transfer_["transfer"] = number(words[1]);
    transfer_["source"] = name(words[kSource]);
    transfer_["executor"] = name(words[kSource + 2]);
    transfer_["destination"] = name(words[kSource + 4]);
    add("bandwidth", Better::higher, transfer_, row.bytes_per_s);
    if (row.seconds > 0.0) add("time", Better::lower, transfer_, row.seconds);
  }

  /// Repetitions (SHOW_ITERATIONS=1), printed from fast to slow: "Iter 003 47.9 GB/s 1.401 ms ...".
  void in_table(const Words& words) {
    if (words[0] == "StandardDev" || words[0] == "#") return;
    double value = 0.0;
    if (words[0] != "Iter" || words.size() < 4 || words[3] != "GB/s" ||
        !read_number(words[2], value) || value < 0.0)
      lines_.refuse("is unknown within a table of transfers");
    iterations_[number(words[1])] = value * kGigabytes;
  }

  void end_transfer() {
    if (!iterations_.empty()) {
      Samples samples =
          one_value("iteration_bandwidth", Unit::byte_per_second, Better::higher, transfer_, 0.0);
      samples.values.clear();
      for (const auto& [at, value] : iterations_) samples.values.push_back(value);
      samples.flags.assign(samples.values.size(), kClean);
      add(std::move(samples));
    }
    iterations_.clear();
  }

  /// "Aggregate (CPU) 340.2 GB/s ..." ends a test; "Aggregate bandwidth (CPU Timed): ..." an a2a.
  void aggregate(const Words& words) {
    if (words[1] == "bandwidth") return all_to_all_total(words);
    const TransferRow row = values(words, 2);
    end_transfer();
    add("aggregate_bandwidth", Better::higher, test_params(row), row.bytes_per_s);
    open_ = false;
    failure_.clear();
    ++test_;
  }

  void all_to_all_total(const Words& words) {
    double value = 0.0;
    if (words.size() != 6 || words[5] != "GB/s" || !read_number(words[4], value) || value < 0.0)
      lines_.refuse("states no aggregate bandwidth in GB/s");
    if (words[2] != "(CPU") return;  // a sum of means
    Json params = {{"test", "a2a"}};
    if (bytes_ > 0) params["size_bytes"] = bytes_;
    add("aggregate_bandwidth", Better::higher, params, value * kGigabytes);
    all_to_all_open_ = false;
  }

  /// Unidirectional copy peak bandwidth GB/s [Local read / Remote write] (GPU-Executor: GFX)
  void peers(const Words& words) {
    end_matrix();
    if (words.size() < 6 || words[2] != "peak" || words[3] != "bandwidth" || words[4] != "GB/s")
      lines_.refuse("is not in GB/s");
    matrix_ = {{"test", "p2p"},
               {"mode", words[0].starts_with("Uni") ? "unidirectional" : "bidirectional"}};
    if (words[5].starts_with('[')) matrix_["read"] = to_lower(name(words[5].substr(1)));
    if (words.back().ends_with(')'))
      matrix_["executor"] = name(words.back().substr(0, words.back().size() - 1));
    if (bytes_ > 0) matrix_["size_bytes"] = bytes_;
  }

  /// SRC+EXE\DST CPU 00 GPU 00 GPU 01, or of a2a with STotal and Actual at the end.
  void columns(const Words& words) {
    const bool all_to_all = words.back() == "Actual";
    const std::size_t end = words.size() - (all_to_all && words.size() > 2 ? 2 : 0);
    if (all_to_all) {
      end_matrix();
      matrix_ = {{"test", "a2a"}};
      if (bytes_ > 0) matrix_["size_bytes"] = bytes_;
    }
    if (matrix_.empty() || end < 3 || end % 2 == 0)
      lines_.refuse("is not a header of the presets p2p or a2a");
    columns_.clear();
    rows_ = 0;
    for (std::size_t i = 1; i + 1 < end; i += 2) {
      if (words[i] != "CPU" && words[i] != "GPU")
        lines_.refuse("has a column that is neither a CPU nor a GPU");
      columns_.push_back(name(words[i]) + " " + name(words[i + 1]));
    }
    all_to_all_open_ = all_to_all;
  }

  void in_matrix(std::string_view text, const Words& words) {
    if (words[0] == "RTotal" || words[0] == "Average" || words[0] == "Averages" ||
        text.starts_with("CPU->CPU"))
      return;
    if (words.size() < 3 || (words[0] != "CPU" && words[0] != "GPU"))
      lines_.refuse("is unknown within a matrix");
    matrix_row(words, matrix_["test"] == "a2a");
  }

  /// GPU 00 -> N/A 47.1; min and max have their own metrics, sd and the sum "<->" are skipped.
  void matrix_row(const Words& words, bool all_to_all) {
    const std::size_t first = all_to_all ? 2 : 3;
    if (words.size() != first + columns_.size() + (all_to_all ? 2 : 0))
      lines_.refuse(fmt::format("has {} values, its matrix has {} columns", words.size() - first,
                                columns_.size()));
    const std::string_view kind = all_to_all ? "->" : words[2];
    // The last line of a row: of both directions it is their sum.
    if (kind == (matrix_.value("mode", "") == "bidirectional" ? "<->" : "->")) ++rows_;
    if (kind == "sd" || kind == "<->") return;
    const char* metric = kind == "min"   ? "bandwidth_min"
                         : kind == "max" ? "bandwidth_max"
                                         : "bandwidth";
    if (kind == "->" || kind == "<-") arrow_ = kind;
    if (kind != "->" && kind != "<-" && kind != "min" && kind != "max")
      lines_.refuse("is a row of an unknown kind");
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      double value = 0.0;
      if (words[first + i] == "N/A") continue;
      if (!read_number(words[first + i], value) || value < 0.0)
        lines_.refuse("has non-numeric cells");
      if (all_to_all && any_transfer_) continue;  // the same as in the table of transfers
      Json params = matrix_;
      params["row"] = name(words[0]) + " " + name(words[1]);
      params["column"] = columns_[i];
      if (!all_to_all) params["arrow"] = arrow_;
      add(metric, Better::higher, params, value * kGigabytes);
    }
  }

  /// A matrix has as many rows as columns.
  void end_matrix() {
    if (!columns_.empty() && failure_.empty() && (rows_ != columns_.size() || all_to_all_open_))
      lines_.refuse(fmt::format("follows a matrix with {} of {} rows", rows_, columns_.size()),
                    "the output is truncated; import a complete one");
    columns_.clear();
    matrix_ = Json::object();
    all_to_all_open_ = false;
  }

  Json test_params(const TransferRow& row) const {
    return {{"test", test_}, {"size_bytes", row.bytes}};
  }

  std::string name(std::string_view word) const {
    if (!is_plain_name(word)) lines_.refuse("has a name with control characters");
    return std::string(word);
  }

  std::int64_t number(std::string_view word) const {
    std::int64_t value = 0;
    if (!read_whole_number(word, value) || value < 0) lines_.refuse("has no number");
    return value;
  }

  void add(const char* metric, Better better, const Json& params, double value) {
    if (value == 0.0) return;
    const Unit unit = better == Better::lower ? Unit::second : Unit::byte_per_second;
    add(one_value(metric, unit, better, params, value));
  }

  /// A mismatch is reported before the results of its test.
  void add(Samples samples) {
    if (!failure_.empty()) {
      samples.outcome = Status::failed;
      samples.reason = failure_;
    }
    series_.add(job_, std::move(samples));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  ImportedJob job_;
  Json program_ = Json::object(), transfer_ = Json::object(), matrix_ = Json::object();
  std::vector<std::string> columns_;
  std::map<std::int64_t, double> iterations_;
  std::string failure_, first_failure_, arrow_ = "->";
  std::int64_t test_ = 1, bytes_ = 0;
  std::size_t rows_ = 0;
  bool open_ = false, failed_ = false, any_transfer_ = false, all_to_all_open_ = false;
  CollectedSeries series_;
};

}  // namespace

void import_transferbench(const ImportedFile& file, ImportSink& sink) {
  TransferBench(file, sink).read();
}

}  // namespace bench
