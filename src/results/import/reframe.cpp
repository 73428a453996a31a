// A performance log of ReFrame: a header, then one line a test case, one column set a variable.
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include "core/hostlist.h"
#include "core/text.h"
#include "core/time.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"
#include "results/import/stated_unit.h"

namespace bench {
namespace {

constexpr std::size_t kMostNodes = 10'000;
/// Rows further apart than this belong to different sessions of ReFrame.
constexpr std::int64_t kSessionGap_ns = std::int64_t{6} * 3600 * 1'000'000'000;

/// Columns that distinguish test cases; kept as parameters.
constexpr const char* kCaseColumns[] = {"name",
                                        "unique_name",
                                        "short_name",
                                        "system",
                                        "partition",
                                        "system:partition",
                                        "environ",
                                        "num_tasks",
                                        "num_tasks_per_node",
                                        "num_cpus_per_task",
                                        "num_gpus_per_node"};

bool is_none(std::string_view cell) { return cell.empty() || cell == "null" || cell == "None"; }

struct PerfVariable {
  std::string name;
  std::size_t value = 0;
  std::optional<std::size_t> unit = {}, lower = {}, upper = {};
};

class ReframeLog {
 public:
  ReframeLog(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    if (!lines_.next()) throw Error(ErrorKind::input, lines_.origin() + ": the file is empty");
    header();
    while (lines_.next())
      if (!lines_.line().empty()) row(cells_of(lines_.line(), separator_));
    lines_.demand_whole();
    if (found_ == 0) throw Error(ErrorKind::input, lines_.origin() + ": no ReFrame results found");
  }

 private:
  /// The separator follows the first column's name.
  void header() {
    const std::string& line = lines_.line();
    const std::size_t end = line.find_first_of("|,;\t");
    if (end == std::string::npos) lines_.refuse("is not a performance log header");
    separator_ = line[end];
    names_.clear();
    for (const std::string_view name : cells_of(line, separator_)) names_.emplace_back(name);
    for (std::size_t i = 0; i < names_.size(); ++i) {
      if (!is_plain_name(names_[i])) lines_.refuse("has a column without a name");
      if (!column_.emplace(names_[i], i).second)
        lines_.refuse("has the column '" + names_[i] + "' twice");
    }
    variables();
    if (!column_.contains("job_completion_time") && !column_.contains("job_completion_time_unix"))
      lines_.refuse("has no time column", "log %(check_job_completion_time)s or its _unix form");
  }

  void variables() {
    constexpr std::string_view kValue = "_value";
    for (const auto& [name, at] : column_) {
      if (!name.ends_with(kValue)) continue;
      PerfVariable variable{name.substr(0, name.size() - kValue.size()), at};
      variable.unit = place(variable.name + "_unit");
      variable.lower = place(variable.name + "_lower_thres");
      variable.upper = place(variable.name + "_upper_thres");
      if (!variable.unit)
        lines_.refuse("has no unit for the variable '" + variable.name + "'",
                      "log %(check_perf_unit)s with each variable");
      variables_.push_back(variable);
    }
    if (variables_.empty())
      lines_.refuse("has no performance variable: no column ends in '_value'");
  }

  std::optional<std::size_t> place(const std::string& column) const {
    const auto found = column_.find(column);
    return found == column_.end() ? std::optional<std::size_t>() : found->second;
  }

  void row(const std::vector<std::string_view>& row) {
    if (row.size() != names_.size())
      lines_.refuse(
          fmt::format("has {} columns, the header has {}: does a column contain the separator?",
                      row.size(), names_.size()));
    const auto cell = [&](const std::string& column) {
      const auto at = place(column);
      return at ? row[*at] : std::string_view();
    };
    ImportedJob job;
    job.tool = "reframe";
    job.time_ns = time(cell("job_completion_time_unix"), cell("job_completion_time"));
    job.hosts = nodes(is_none(cell("job_nodelist")) ? cell("hostname") : cell("job_nodelist"));
    Json params = Json::object();
    for (const char* column : kCaseColumns)
      if (const auto text = cell(column); !is_none(text)) params[column] = checked(text);
    for (const char* column : {"short_name", "unique_name", "name"})
      if (params.contains(column)) job.name = params[column];
    if (job.name.empty()) job.name = "reframe";
    std::int64_t tasks = 0;
    if (read_whole_number(cell("num_tasks"), tasks) && tasks > 0 && tasks < 10'000'000)
      job.ranks = static_cast<int>(tasks);
    job.run = session(job, params);
    bool any = false;
    for (const PerfVariable& variable : variables_) any |= value(job, params, variable, row);
    if (any) return;
    ++found_;
    sink_.ended(job, Status::failed,
                "ReFrame: " + std::string(cell("result").substr(0, 60)) + " " +
                    std::string(cell("fail_reason").substr(0, 120)));
  }

  std::string checked(std::string_view text) const {
    if (!is_plain_name(text)) lines_.refuse("has an invalid name in a column");
    return std::string(text);
  }

  /// A test case that repeats, or starts much later than the previous row, belongs to another
  /// session, as a run holds each measurement once.
  std::string session(const ImportedJob& job, const Json& params) {
    const bool later = job.time_ns - last_ns_ > kSessionGap_ns;
    if (session_ == 0 || later || seen_.contains(dump(params))) {
      ++session_;
      seen_.clear();
    }
    last_ns_ = job.time_ns;
    seen_.insert(dump(params));
    return std::to_string(session_);
  }

  std::int64_t time(std::string_view unix_seconds, std::string_view text) const {
    constexpr double kLatest = 9e9;
    double seconds = 0.0;
    if (read_number(unix_seconds, seconds) && seconds > 0.0 && seconds < kLatest)
      return static_cast<std::int64_t>(seconds * 1e9);
    std::string moment(text.substr(0, 40));
    if (moment.size() == 19) moment += "Z";  // ReFrame's default has no zone: taken as UTC
    try {
      return parse_time(moment);
    } catch (const Error&) {
      lines_.refuse("has an unreadable time: '" + printable(moment) + "'",
                    "log %(check_job_completion_time_unix)s");
    }
  }

  std::vector<std::string> nodes(std::string_view list) const {
    if (is_none(list) || list == "localhost") return {};
    std::string expression(list);
    std::ranges::replace(expression, '|', ',');
    try {
      return expand_hostlist(expression, kMostNodes);
    } catch (const Error& error) {
      lines_.refuse(std::string("has an unreadable node list: ") + error.what());
    }
  }

  bool value(const ImportedJob& job, const Json& params, const PerfVariable& variable,
             const std::vector<std::string_view>& row) {
    const std::string_view text = row[variable.value];
    if (is_none(text)) return false;
    double number = 0.0;
    if (!read_number(text, number))
      lines_.refuse("has no number in column '" + variable.name + "_value'");
    auto unit = stated_unit(row[*variable.unit]);
    if (!unit)
      lines_.refuse("has an unknown unit in column '" + variable.name + "_unit': '" +
                        printable(row[*variable.unit].substr(0, 20)) + "'",
                    "use units such as MB/s, GiB/s, Gflop/s, us, s, %");
    unit->better = direction(variable, row).value_or(unit->better);
    sink_.series(job,
                 one_value(variable.name, unit->unit, unit->better, params, number * unit->factor));
    ++found_;
    return true;
  }

  /// A bound on only one side gives the direction.
  static std::optional<Better> direction(const PerfVariable& variable,
                                         const std::vector<std::string_view>& row) {
    if (!variable.lower || !variable.upper) return {};
    const bool lower = !is_none(row[*variable.lower]), upper = !is_none(row[*variable.upper]);
    if (lower == upper) return {};
    return lower ? Better::higher : Better::lower;
  }

  ImportedLines lines_;
  ImportSink& sink_;
  char separator_ = '|';
  std::vector<std::string> names_;
  std::map<std::string, std::size_t> column_;
  std::vector<PerfVariable> variables_;
  std::set<std::string> seen_;
  std::int64_t session_ = 0, last_ns_ = 0;
  std::size_t found_ = 0;
};

}  // namespace

void import_reframe(const ImportedFile& file, ImportSink& sink) { ReframeLog(file, sink).read(); }

}  // namespace bench
