// perftest: ib_write_bw, ib_read_lat and the others, as text. Columns and units as perftest 24.07
// and the master of July 2026 print them (src/perftest_parameters.h there).
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
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

constexpr double kMebibytes = 1048576.0;
constexpr double kGigabits = 125e6;
constexpr std::size_t kLongestPerftestError = 200;

/// A column of a table: its title, up to the unit in brackets.
struct PerftestColumn {
  std::string_view title;
  const char* metric;  // empty: no measurement
  Unit unit = Unit::second;
  Better better = Better::lower;
  double factor = 1e-6;  // 0: of the unit in the header
  int port = 0;
};

/// t_stdev is omitted: perftest cuts each deviation to whole microseconds.
constexpr std::array<PerftestColumn, 20> kPerftestColumns{{
    {"#bytes", ""},
    {"#iterations", ""},
    {"#sl", ""},
    {"BW peak", "peak_bandwidth", Unit::byte_per_second, Better::higher, 0.0},
    {"BW average", "bandwidth", Unit::byte_per_second, Better::higher, 0.0},
    {"BW Port1", "bandwidth", Unit::byte_per_second, Better::higher, 0.0, 1},
    {"BW Port2", "bandwidth", Unit::byte_per_second, Better::higher, 0.0, 2},
    {"MsgRate Port1[Mpps]", "message_rate", Unit::hertz, Better::higher, 1e6, 1},
    {"MsgRate Port2[Mpps]", "message_rate", Unit::hertz, Better::higher, 1e6, 2},
    {"MsgRate[Mpps]", "message_rate", Unit::hertz, Better::higher, 1e6},
    {"t_min[usec]", "latency_min"},
    {"t_max[usec]", "latency_max"},
    {"t_typical[usec]", "latency_median"},
    {"t_avg[usec]", "latency"},
    {"t_stdev[usec]", ""},
    {"99% percentile[usec]", "latency_p99"},
    {"99.9% percentile[usec]", "latency_p999"},
    {"tps average", "transaction_rate", Unit::hertz, Better::higher, 1.0},
    {"CPU_Util[%%]", "cpu_share", Unit::ratio, Better::none, 0.01},
    {"CPU_Util[%]", "cpu_share", Unit::ratio, Better::none, 0.01},
}};

/// Lines of the head that make two tests different measurements.
constexpr std::array<std::pair<std::string_view, const char*>, 7> kPerftestParams{{
    {"Device", "device"},
    {"Number of qps", "queue_pairs"},
    {"Connection type", "connection"},
    {"TX depth", "tx_depth"},
    {"Mtu", "mtu"},
    {"Link type", "link"},
    {"Post List", "post_list"},
}};

bool is_perftest_error(std::string_view text) {
  constexpr std::array<std::string_view, 10> kErrors = {
      "Completion with", "A completion with", "Failed ",   "Error",      "Test exited with",
      "Problems with",   "Can't produce",     "Couldn't ", "Unable to ", "Data validation"};
  return std::ranges::any_of(kErrors, [&](std::string_view one) { return text.starts_with(one); });
}

class Perftest {
 public:
  Perftest(const ImportedFile& file, ImportSink& sink) : lines_(file.text, file.name), sink_(sink) {
    job_.tool = "perftest";
  }

  void read() {
    while (lines_.next()) line(trim(lines_.line()));
    if (open_ && error_.empty())
      lines_.refuse("is the last line, but no line of dashes ends its table",
                    "the output is truncated; import a complete one");
    lines_.demand_whole();
    end_test();
    if (!error_.empty())
      throw Error(ErrorKind::input,
                  lines_.origin() + ": perftest failed before its test: " + error_,
                  "fix what it reports, run it again and import that output");
    if (!failed_ || !series_.empty()) series_.emit(sink_, lines_.origin(), "perftest");
    if (repetitions_ > 0)
      sink_.note(fmt::format("{}: skipped {} single latencies of option -U or -H", lines_.origin(),
                             repetitions_));
    if (clock_warnings_ > 0)
      sink_.note(lines_.origin() +
                 ": perftest saw conflicting CPU frequencies: its times may be wrong");
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) return;
    if (text.starts_with("Conflicting CPU frequency")) return void(++clock_warnings_);
    if (is_perftest_error(text)) return error(text);
    if (text.starts_with("-----")) return dashes();
    if (text.starts_with('{'))
      lines_.refuse("begins JSON, which does not state the unit of a bandwidth",
                    "import the text that perftest prints");
    if (text.starts_with("#bytes")) return header(text);
    if (text.starts_with("#, ")) return raw(text);
    if (open_) return row(words_of(text));
    if (text.ends_with(" Test") && after_dashes_) return title(text.substr(0, text.size() - 5));
    if (text == "Local results:") side_ = "local";
    if (text == "Remote results:") side_ = "remote";
    head(text);
  }

  /// "RDMA_Write Bidirectional BW".
  void title(std::string_view text) {
    end_test();
    job_.name = to_lower(text);
    std::ranges::replace(job_.name, ' ', '_');
    if (!is_plain_name(job_.name)) lines_.refuse("names no test");
    params_ = Json::object();
    side_.clear();
    after_dashes_ = false;
  }

  /// "Number of qps   : 1		Transport type : IB": one or two settings.
  void head(std::string_view text) {
    after_dashes_ = false;
    for (const std::string_view part : cells_of(text, '\t')) {
      const std::size_t colon = part.find(':');
      if (colon == std::string_view::npos) continue;
      const auto name = trim(part.substr(0, colon)), value = trim(part.substr(colon + 1));
      for (const auto& [title, key] : kPerftestParams)
        if (name == title && is_plain_name(value)) params_[key] = setting(value);
    }
  }

  /// "4096[B]" is 4096.
  static Json setting(std::string_view value) {
    constexpr std::string_view kBytesSuffix = "[B]";
    if (value.ends_with(kBytesSuffix)) value.remove_suffix(kBytesSuffix.size());
    std::int64_t number = 0;
    return read_whole_number(value, number) ? Json(number) : Json(std::string(value));
  }

  void dashes() {
    open_ = raw_ = false;
    after_dashes_ = true;
  }

  /// An error ends its test, whose table stays open. The next lines tell more.
  void error(std::string_view text) {
    failed_ = true;
    if (error_.size() > kLongestPerftestError) return;
    error_ += (error_.empty() ? "" : "; ") + printable(text.substr(0, kLongestPerftestError));
  }

  /// perftest writes errors to stderr, so one may come before the test it belongs to.
  void end_test() {
    if (error_.empty() || job_.name.empty()) return;
    sink_.ended(job_, Status::failed, "perftest: " + error_);
    error_.clear();
  }

  void header(std::string_view text) {
    if (job_.name.empty())
      lines_.refuse("begins a table without a title such as 'RDMA_Write BW Test' before it",
                    "import the whole output of perftest");
    columns_.clear();
    while (!text.empty()) {
      columns_.push_back(column(text));
      text = trim(text);
    }
    open_ = true;
    raw_ = false;
  }

  /// Takes a column off the header. "MB/sec" are MiB there too: until 24.07 only the title differs.
  PerftestColumn column(std::string_view& text) const {
    for (PerftestColumn found : kPerftestColumns) {
      if (!text.starts_with(found.title)) continue;
      text.remove_prefix(found.title.size());
      if (found.factor != 0.0) return found;
      for (const auto& [unit, factor] : {std::pair{std::string_view("[MiB/sec]"), kMebibytes},
                                         std::pair{std::string_view("[MB/sec]"), kMebibytes},
                                         std::pair{std::string_view("[Gb/sec]"), kGigabits}}) {
        if (!text.starts_with(unit)) continue;
        text.remove_prefix(unit.size());
        found.factor = factor;
        return found;
      }
    }
    lines_.refuse("has an unknown column: '" + printable(text.substr(0, 40)) + "'",
                  "known are the columns of the bandwidth and latency tests");
  }

  /// Single latencies, one a line: "#, usec".
  void raw(std::string_view text) {
    if (text != "#, usec")
      lines_.refuse("begins times in another unit than microseconds",
                    "run perftest without -C: its tables do not tell cycles from microseconds");
    raw_ = true;
  }

  void row(const std::vector<std::string_view>& words) {
    if (raw_) return void(++repetitions_);
    if (words.size() != columns_.size())
      lines_.refuse(
          fmt::format("has {} columns, its header has {}", words.size(), columns_.size()));
    Json params = params_;
    if (!side_.empty()) params["side"] = side_;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (columns_[i].title == "#bytes") params["size_bytes"] = whole(words[i]);
      if (columns_[i].title == "#sl") params["service_level"] = whole(words[i]);
    }
    for (std::size_t i = 0; i < words.size(); ++i) value(columns_[i], words[i], params);
  }

  std::int64_t whole(std::string_view word) const {
    std::int64_t number = 0;
    if (!read_whole_number(word, number) || number < 0)
      lines_.refuse("has no whole number where its header says so");
    return number;
  }

  void value(const PerftestColumn& column, std::string_view word, Json params) {
    double number = 0.0;
    if (!read_number(word, number) || number < 0.0)
      lines_.refuse("has no number in column '" + std::string(column.title) + "'");
    if (column.metric[0] == '\0' || number == 0.0) return;  // 0: not measured, or below precision
    if (column.port > 0) params["port"] = column.port;
    series_.add(
        job_, one_value(column.metric, column.unit, column.better, params, number * column.factor));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  ImportedJob job_;
  Json params_ = Json::object();
  std::string side_, error_;
  std::vector<PerftestColumn> columns_;
  bool open_ = false, raw_ = false, after_dashes_ = false, failed_ = false;
  std::size_t repetitions_ = 0, clock_warnings_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_perftest(const ImportedFile& file, ImportSink& sink) { Perftest(file, sink).read(); }

}  // namespace bench
