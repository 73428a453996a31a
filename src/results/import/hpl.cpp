// HPL: its output file or log. As HPL 2.3 prints it (testing/ptest/HPL_pdtest.c there); NVIDIA's
// has a column more, Gflops per GPU.
#include <fmt/format.h>

#include <optional>
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

constexpr std::int64_t kMostHplRanks = 10'000'000;

/// A row of the table, until its residual follows.
struct HplRow {
  Json params = Json::object();
  int ranks = 0;
  double seconds = 0.0, gflops = 0.0;
  std::size_t residuals = 0;  // HPL 1.0 prints three
  bool passed = true;
  std::optional<Check> check = {};
};

class HplText {
 public:
  HplText(const ImportedFile& file, ImportSink& sink) : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next()) line(trim(lines_.line()));
    if (!ended_) not_ended();
    lines_.demand_whole();
    demand_all();
    for (const HplRow& row : rows_) add(row);
    if (!program_.empty()) sink_.facts(job(1), Facts{"program", program_});
    series_.emit(sink_, lines_.origin(), "HPL");
    if (skipped_ > 0)
      sink_.note(fmt::format("{}: HPL skipped {} tests{}{}", lines_.origin(), skipped_,
                             error_.empty() ? "" : ": ", error_));
  }

 private:
  void line(std::string_view text) {
    if (text.starts_with("HPLinpack ") || text.starts_with("HPL-")) return version(text);
    if (text.starts_with("- Computational tests pass if")) return threshold(text);
    if (text.starts_with("T/V ") && text.find(" Gflops") != std::string_view::npos)
      return header(words_of(text));
    if (text.starts_with("||Ax-b||_oo") && text.find("......") != std::string_view::npos)
      return residual(text);
    if (text.starts_with(">>>")) return error(text);
    if (text.starts_with("Finished ")) return finished(words_of(text));
    if (text.ends_with("tests completed without checking,")) return void(unchecked_ = true);
    if (text.find(" tests skipped because") != std::string_view::npos)
      return void(skipped_ = count(words_of(text).front()));
    if (text == "End of Tests.") return void(ended_ = true);
    const auto words = words_of(text);
    if (open_ && words.size() >= 7 && text.front() == 'W' &&
        (words[0].starts_with("WR") || words[0].starts_with("WC")))
      row(words);
  }

  [[noreturn]] void not_ended() const {
    if (!error_.empty())
      throw Error(ErrorKind::input, lines_.origin() + ": HPL did not run to its end: " + error_,
                  "fix what it reports, run it again and import that output");
    if (lines_.number() == 0 || !open_)
      throw Error(ErrorKind::input, lines_.origin() + ": no HPL results found",
                  "give the output file of xhpl, or its log");
    lines_.refuse("is the last line, but HPL ends with 'End of Tests.'",
                  "the output is truncated; import a complete one");
  }

  /// A test whose solver failed has a row, and counts as skipped.
  void demand_all() const {
    std::size_t whole = 0;
    for (const HplRow& row : rows_) whole += unchecked_ || row.residuals > 0 ? 1 : 0;
    if (whole + skipped_ != finished_)
      lines_.refuse(
          fmt::format("ends {} tests, but the file has results of {}", finished_, whole + skipped_),
          "the output is incomplete; import all of it");
  }

  /// HPLinpack 2.3 -- High-Performance Linpack benchmark -- December 2, 2018
  void version(std::string_view text) {
    const auto words = words_of(text);
    if (words.size() < 2 || program_.contains("version")) return;
    program_ = {{"program", words[0] == "HPLinpack" ? "HPL" : std::string(words[0])},
                {"version", std::string(words[1])}};
  }

  void threshold(std::string_view text) {
    double value = 0.0;
    if (!read_number(words_of(text).back(), value)) lines_.refuse("states no threshold");
    threshold_ = value;
  }

  void header(const std::vector<std::string_view>& words) {
    const bool known = words.size() >= 7 && words[1] == "N" && words[2] == "NB" &&
                       words[3] == "P" && words[4] == "Q" && words[5] == "Time" &&
                       words[6] == "Gflops";
    // "Gflops (   per GPU)"
    if (!known || (words.size() > 7 && (words.size() != 10 || words[9] != "GPU)")))
      lines_.refuse("is not a known HPL header");
    open_ = true;
  }

  void row(const std::vector<std::string_view>& words) {
    std::int64_t n = 0, nb = 0, p = 0, q = 0;
    HplRow row;
    if (!read_whole_number(words[1], n) || !read_whole_number(words[2], nb) ||
        !read_whole_number(words[3], p) || !read_whole_number(words[4], q) || p < 1 || q < 1 ||
        p > kMostHplRanks || q > kMostHplRanks / p || !read_number(words[5], row.seconds) ||
        !read_number(words[6], row.gflops) || row.seconds < 0.0 || row.gflops < 0.0 ||
        !is_plain_name(words[0]))
      lines_.refuse("is not a row of T/V, N, NB, P, Q, Time and Gflops");
    row.params = {{"variant", std::string(words[0])}, {"n", n}, {"nb", nb}, {"p", p}, {"q", q}};
    row.ranks = static_cast<int>(p * q);
    rows_.push_back(std::move(row));
  }

  /// ||Ax-b||_oo/(eps*(||A||_oo*||x||_oo+||b||_oo)*N)=   2.59e-03 ...... PASSED
  void residual(std::string_view text) {
    if (rows_.empty()) lines_.refuse("is a residual without a result before it");
    HplRow& row = rows_.back();
    const auto words = words_of(text);
    if (words.size() < 3 || (words.back() != "PASSED" && words.back() != "FAILED"))
      lines_.refuse("has a residual that neither PASSED nor FAILED");
    ++row.residuals;
    row.passed = row.passed && words.back() == "PASSED";
    double value = 0.0;
    if (threshold_ && read_number(words[words.size() - 3], value) &&
        (!row.check || value > row.check->error))
      row.check = Check{"HPL: scaled residual", value, *threshold_};
  }

  /// >>> Need at least 4 processes for these tests <<<
  void error(std::string_view text) {
    if (error_.empty()) error_ = printable(trim(text.substr(0, text.find("<<<")).substr(3)));
  }

  /// Finished      4 tests with the following results:
  void finished(const std::vector<std::string_view>& words) {
    if (words.size() > 1) finished_ = count(words[1]);
  }

  std::size_t count(std::string_view word) const {
    std::int64_t number = 0;
    if (!read_whole_number(word, number) || number < 0) lines_.refuse("has no number of tests");
    return static_cast<std::size_t>(number);
  }

  static ImportedJob job(int ranks) {
    ImportedJob job;
    job.tool = "hpl";
    job.name = "hpl";
    job.ranks = ranks;
    return job;
  }

  void add(const HplRow& row) {
    Samples time = one_value("time", Unit::second, Better::lower, row.params, row.seconds);
    Samples rate = one_value("throughput", Unit::flop_per_second, Better::higher, row.params,
                             row.gflops * 1e9);
    std::string wrong;
    if (!row.passed || (row.check && !row.check->passed()))
      wrong = "HPL: the residual check failed";
    else if (row.residuals == 0 && !unchecked_)
      wrong = "HPL: no residual check" + (error_.empty() ? error_ : ": " + error_);
    for (Samples* one : {&time, &rate}) {
      one->over = "max";  // of all ranks' wall time
      one->check = row.check;
      mark_invalid(*one, wrong);
    }
    if (!wrong.empty()) sink_.ended(job(row.ranks), Status::invalid, wrong);
    if (row.seconds > 0.0) series_.add(job(row.ranks), std::move(time));
    if (row.gflops > 0.0) series_.add(job(row.ranks), std::move(rate));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  Json program_ = Json::object();
  std::optional<double> threshold_;
  std::vector<HplRow> rows_;
  std::string error_;
  std::size_t finished_ = 0, skipped_ = 0;
  bool open_ = false, ended_ = false, unchecked_ = false;
  CollectedSeries series_;
};

}  // namespace

void import_hpl(const ImportedFile& file, ImportSink& sink) { HplText(file, sink).read(); }

}  // namespace bench
