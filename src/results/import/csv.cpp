// Our own table: run,time,host,device,metric,params,unit,better,value, one row per run value.
// `export csv` writes these columns first and adds others, some of which are read as well.
#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <string>
#include <vector>

#include "core/hostlist.h"
#include "core/json.h"
#include "core/metric_names.h"
#include "core/text.h"
#include "core/time.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"
#include "results/output/document/csv_cell.h"
#include "results/output/run/export.h"

namespace bench {
namespace {

// Rows of RFC 4180: quoted cells may hold separators, quotes and line breaks.

class CsvRows {
 public:
  /// Borrowed.
  explicit CsvRows(ImportedLines& lines) : lines_(lines) {}
  /// The next non-empty row; false at the end. Throws Error(input) for an unclosed quote, and for
  /// text after a closing one.
  bool next(std::vector<std::string>& cells);

 private:
  void row(std::vector<std::string>& cells);
  std::string quoted_cell(std::size_t& at);

  ImportedLines& lines_;
};

constexpr std::size_t kLongestCell = std::size_t{1} << 20;

bool CsvRows::next(std::vector<std::string>& cells) {
  do {
    if (!lines_.next()) return false;
  } while (lines_.line().empty());
  row(cells);
  return true;
}

void CsvRows::row(std::vector<std::string>& cells) {
  cells.clear();
  for (std::size_t at = 0;;) {
    if (at < lines_.line().size() && lines_.line()[at] == '"') {
      cells.push_back(quoted_cell(at));
      if (at < lines_.line().size() && lines_.line()[at] != ',')
        lines_.refuse("has text after a closing quote");
    } else {
      const std::size_t end = std::min(lines_.line().find(',', at), lines_.line().size());
      cells.push_back(lines_.line().substr(at, end - at));
      at = end;
    }
    if (at >= lines_.line().size()) return;
    ++at;  // the comma
  }
}

/// Reads from the opening quote to the closing one, possibly over several lines.
std::string CsvRows::quoted_cell(std::size_t& at) {
  std::string cell;
  ++at;
  for (;;) {
    const std::string& line = lines_.line();
    const std::size_t quote = line.find('"', at);
    cell.append(line, at, quote - at);
    if (cell.size() > kLongestCell) lines_.refuse("has a cell that is too long");
    if (quote == std::string::npos) {
      cell += '\n';
      if (!lines_.next()) lines_.refuse("ends inside a quoted cell");
      at = 0;
      continue;
    }
    at = quote + 1;
    if (at >= line.size() || line[at] != '"') return cell;
    cell += '"';  // a doubled quote is one quote
    ++at;
  }
}

constexpr std::size_t kMostHostsOfRow = 10'000;

class CsvTable {
 public:
  CsvTable(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), rows_(lines_), sink_(sink), program_(file.program) {}

  void read() {
    std::vector<std::string> cells;
    if (!rows_.next(cells)) throw Error(ErrorKind::input, lines_.origin() + ": the file is empty");
    header(cells);
    while (rows_.next(cells)) row(cells);
    lines_.demand_whole();
    if (found_ == 0) throw Error(ErrorKind::input, lines_.origin() + ": no row with a value found");
    if (left_out_ > 0)
      sink_.note(fmt::format("{}: skipped {} rows without a value", lines_.origin(), left_out_));
  }

 private:
  void header(const std::vector<std::string>& cells) {
    const std::vector<std::string> known = csv_columns();
    for (std::size_t i = 0; i < cells.size(); ++i) {
      if (std::ranges::find(known, cells[i]) == known.end())
        lines_.refuse("has the unknown column '" + printable(cells[i].substr(0, 40)) + "'." +
                          did_you_mean(cells[i].substr(0, 40), known),
                      "use run,time,host,device,metric,params,unit,better,value and the columns of "
                      "`benchctl export csv`");
      if (!column_.emplace(cells[i], i).second)
        lines_.refuse("has the column '" + cells[i] + "' twice");
    }
    for (const char* needed : {"metric", "unit", "better", "value"})
      if (!column_.contains(needed)) lines_.refuse(std::string("has no column '") + needed + "'");
    width_ = cells.size();
  }

  void row(const std::vector<std::string>& cells) {
    if (cells.size() != width_)
      lines_.refuse(fmt::format("has {} cells, the header has {}", cells.size(), width_));
    const auto cell = [&](const char* name) {
      const auto at = column_.find(name);
      return std::string(at == column_.end() ? "" : csv_text(cells[at->second]));
    };
    if (cell("value").empty()) return void(++left_out_);
    ++found_;
    ImportedJob job;
    std::string metric(current_metric_name(cell("metric")));
    if (!program_.empty() && !metric.empty() && metric.find('.') == std::string::npos)
      metric.insert(0, program_ + '.');
    const std::size_t dot = metric.find('.');
    if (dot == std::string::npos || dot == 0 || dot + 1 == metric.size() || !is_plain_name(metric))
      lines_.refuse("has no valid metric: '" + printable(metric.substr(0, 40)) + "'",
                    "write PROGRAM.METRIC, for example gemm.throughput, or name the program with "
                    "--program");
    job.run = cell("run");
    job.tool = metric.substr(0, dot);
    job.name = cell("case").empty() ? job.tool : cell("case");
    job.device = cell("device").empty() ? "host" : cell("device");
    for (const std::string* name : {&job.name, &job.device})
      if (!is_plain_name(*name)) lines_.refuse("has an invalid case or device name");
    job.repeat = count(cell("repeat"), "repeat", 0);
    job.rank = count(cell("rank"), "rank", 0);
    job.ranks = count(cell("ranks"), "ranks", 1);
    try {
      if (!cell("time").empty()) job.time_ns = parse_time(cell("time"));
      if (!cell("host").empty()) job.hosts = expand_hostlist(cell("host"), kMostHostsOfRow);
      sink_.series(job, samples(metric.substr(dot + 1), cell));
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::input) throw;
      lines_.refuse(std::string(": ") + error.what(), error.hint());
    }
  }

  int count(const std::string& text, const char* column, int least) const {
    std::int64_t value = least;
    if (!text.empty() && (!read_whole_number(text, value) || value < least || value > 10'000'000))
      lines_.refuse(fmt::format("has no valid count in column '{}'", column));
    return static_cast<int>(value);
  }

  template <class Cell>
  Samples samples(const std::string& metric, const Cell& cell) const {
    double value = 0.0;
    if (!read_number(cell("value"), value))
      throw Error(ErrorKind::input,
                  "'" + printable(cell("value").substr(0, 40)) + "' is not a number");
    const Json params =
        cell("params").empty() ? Json::object() : parse_json(cell("params"), "params");
    if (!params.is_object()) throw Error(ErrorKind::input, "params is not a JSON object");
    for (const Json& one : params)
      if (one.is_structured())
        throw Error(ErrorKind::input, "params may hold only strings and numbers");
    Samples one =
        one_value(metric, unit_from(cell("unit")), better_from(cell("better")), params, value);
    if (!cell("over").empty()) one.over = over(cell("over"));
    if (!cell("outcome").empty()) one.outcome = status_from(cell("outcome"));
    one.reason = cell("reason");
    return one;
  }

  static std::string over(const std::string& text) {
    if (text == "rank" || text == "max" || text == "mean" || text == "sum") return text;
    throw Error(ErrorKind::input, "over must be rank, max, mean or sum");
  }

  ImportedLines lines_;
  CsvRows rows_;
  ImportSink& sink_;
  std::string program_;  // of plain metric names; empty: there may be none
  std::map<std::string, std::size_t> column_;
  std::size_t width_ = 0, found_ = 0, left_out_ = 0;
};

}  // namespace

void import_csv(const ImportedFile& file, ImportSink& sink) { CsvTable(file, sink).read(); }

}  // namespace bench
