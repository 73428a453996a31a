// OSU micro-benchmarks: a title, then tables with a header for each column.
#include <fmt/format.h>

#include <algorithm>
#include <optional>

#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

struct OsuColumn {
  std::string title;   // as the tool prints it
  std::string metric;  // empty: no measurement
  Unit unit = Unit::second;
  Better better = Better::lower;
  double factor = 1e-6;
  std::string over = "rank";
};

/// MB are 1e6 bytes there. Times of collectives are means over the ranks.
const std::vector<OsuColumn>& osu_columns() {
  static const std::vector<OsuColumn> columns = {
      {"Bandwidth (MB/s)", "bandwidth", Unit::byte_per_second, Better::higher, 1e6},
      {"MB/s", "bandwidth", Unit::byte_per_second, Better::higher, 1e6},
      {"Messages/s", "message_rate", Unit::hertz, Better::higher, 1.0},
      {"Latency (us)", "latency"},
      {"Avg Latency(us)", "latency", Unit::second, Better::lower, 1e-6, "mean"},
      {"Min Latency(us)", "latency_min"},
      {"Max Latency(us)", "latency_max", Unit::second, Better::lower, 1e-6, "max"},
      {"Overall(us)", "overall_time", Unit::second, Better::lower, 1e-6, "mean"},
      {"Compute(us)", "", Unit::second},
      {"Coll. Init(us)", "init_time", Unit::second, Better::lower, 1e-6, "mean"},
      {"MPI_Test(us)", "test_time", Unit::second, Better::lower, 1e-6, "mean"},
      {"MPI_Wait(us)", "wait_time", Unit::second, Better::lower, 1e-6, "mean"},
      {"Pure Comm.(us)", "communication_time", Unit::second, Better::lower, 1e-6, "mean"},
      {"Min Comm.(us)", "communication_time_min"},
      {"Max Comm.(us)", "communication_time_max", Unit::second, Better::lower, 1e-6, "max"},
      {"Overlap(%)", "overlap", Unit::ratio, Better::higher, 0.01, "mean"},
      {"Iterations", ""},
      {"Transmit Size", ""},
      {"Validation", ""},
      {"Size", ""}};
  return columns;
}

/// "P99 Tail Lat(us) ..." and "P99 Tail BW(MB/s) ...".
std::optional<OsuColumn> osu_percentile(std::string_view text) {
  if (!text.starts_with('P')) return {};
  const std::size_t end = text.find(' ');
  std::int64_t percent = 0;
  if (end == std::string_view::npos || !read_whole_number(text.substr(1, end - 1), percent) ||
      percent < 1 || percent > 99)
    return {};
  const std::string prefix(text.substr(0, end));
  if (text.substr(end).starts_with(" Tail Lat(us)"))
    return OsuColumn{prefix + " Tail Lat(us)", fmt::format("latency_p{}", percent)};
  if (text.substr(end).starts_with(" Tail BW(MB/s)"))
    return OsuColumn{prefix + " Tail BW(MB/s)", fmt::format("bandwidth_p{}", percent),
                     Unit::byte_per_second, Better::higher, 1e6};
  return {};
}

class OsuText {
 public:
  OsuText(const ImportedFile& file, ImportSink& sink) : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next()) line(trim(lines_.line()));
    lines_.demand_whole();
    series_.emit(sink_, lines_.origin(), "OSU micro-benchmark");
    if (talk_ > 0)
      sink_.note(
          fmt::format("{}: skipped {} lines before the first title", lines_.origin(), talk_));
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) return;
    if (text.starts_with('#')) return comment(trim(text.substr(1)));
    if (text.starts_with("DATA VALIDATION ERROR")) return validation_failed(text);
    if (!columns_.empty()) return row(words_of(text));
    if (!job_.name.empty()) lines_.refuse("appears where a table should begin");
    ++talk_;
  }

  void comment(std::string_view text) {
    if (text.starts_with("OSU ")) return title(text);
    if (job_.name.empty()) lines_.refuse("comes before a title, '# OSU MPI ... Test v7.4'");
    if (text.starts_with("Datatype:")) return datatype(trim(text.substr(9)));
    if (text.starts_with("[ pairs:")) return pairs(text);
    if (text.starts_with("Rank 0 Memory on")) return void(params_["memory"] = std::string(text));
    if (text.starts_with("Window creation:"))
      return void(params_["window"] = std::string(trim(text.substr(16))));
    if (text.starts_with("Synchronization:"))
      return void(params_["synchronization"] = std::string(trim(text.substr(16))));
    if (text.starts_with("Overall = ")) return;
    header(text);
  }

  /// "OSU MPI-CUDA Allreduce Latency Test v7.4": names the case; the version is a fact.
  void title(std::string_view text) {
    const std::size_t test = text.rfind(" Test");
    if (test == std::string_view::npos || !is_plain_name(text))
      lines_.refuse("is not a known test title");
    const auto words = words_of(text.substr(0, test));
    if (words.size() < 3) lines_.refuse("names no test");
    columns_.clear();
    params_ = Json::object();
    job_.tool = "osu";
    const std::size_t dash = words[1].find('-');
    if (dash != std::string_view::npos)
      params_["accelerator"] = std::string(words[1].substr(dash + 1));
    job_.name =
        std::string(text.substr(static_cast<std::size_t>(words[2].data() - text.data()),
                                test - static_cast<std::size_t>(words[2].data() - text.data())));
    const auto version = trim(text.substr(test + 5));
    if (version.starts_with('v'))
      sink_.facts(job_, Facts{"program",
                              {{"program", "osu-micro-benchmarks"},
                               {"version", std::string(version.substr(1))}}});
  }

  void datatype(std::string_view name) {
    if (name.ends_with('.')) name.remove_suffix(1);
    if (!is_plain_name(name)) lines_.refuse("names no datatype");
    params_["datatype"] = std::string(name);
  }

  /// [ pairs: 4 ] [ window size: 64 ]
  void pairs(std::string_view text) {
    const auto words = words_of(text);
    std::int64_t pairs = 0, window = 0;
    if (words.size() != 9 || !read_whole_number(words[2], pairs) ||
        !read_whole_number(words[7], window))
      lines_.refuse("is of an unknown kind (varied window?)");
    params_["pairs"] = pairs;
    params_["window"] = window;
  }

  void header(std::string_view text) {
    columns_.clear();
    while (!text.empty()) {
      columns_.push_back(column(text));
      text = trim(text.substr(columns_.back().title.size()));
    }
  }

  OsuColumn column(std::string_view text) const {
    for (const OsuColumn& known : osu_columns())
      if (text.starts_with(known.title)) return known;
    const auto percentile = osu_percentile(text);
    if (!percentile) lines_.refuse("is neither a comment nor a header with known columns");
    return *percentile;
  }

  void row(const std::vector<std::string_view>& words) {
    if (words.size() != columns_.size())
      lines_.refuse(
          fmt::format("has {} columns, its header has {}", words.size(), columns_.size()));
    Json params = params_;
    params["test"] = job_.name;
    bool valid = true;
    for (std::size_t i = 0; i < words.size(); ++i) {
      if (columns_[i].title == "Validation") valid = words[i] == "Pass";
      if (columns_[i].title == "Size") params["size_bytes"] = size(words[i]);
    }
    for (std::size_t i = 0; i < words.size(); ++i)
      if (!columns_[i].metric.empty()) value(columns_[i], words[i], params, valid);
  }

  std::int64_t size(std::string_view word) const {
    std::int64_t bytes = 0;
    if (!read_whole_number(word, bytes) || bytes < 0) lines_.refuse("does not begin with a size");
    return bytes;
  }

  void value(const OsuColumn& column, std::string_view word, const Json& params, bool valid) {
    double number = 0.0;
    if (!read_number(word, number) || number < 0.0)
      lines_.refuse(fmt::format("has no number in column '{}'", column.title));
    Samples samples =
        one_value(column.metric, column.unit, column.better, params, number * column.factor);
    samples.over = column.over;
    if (!valid) mark_invalid(samples, "the benchmark's own validation failed");
    series_.add(job_, std::move(samples));
  }

  void validation_failed(std::string_view text) {
    if (job_.name.empty()) lines_.refuse("comes before a title");
    sink_.ended(job_, Status::invalid, std::string(text.substr(0, 200)));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  ImportedJob job_;
  Json params_ = Json::object();
  std::vector<OsuColumn> columns_;
  std::size_t talk_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_osu(const ImportedFile& file, ImportSink& sink) { OsuText(file, sink).read(); }

}  // namespace bench
