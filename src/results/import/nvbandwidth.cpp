// nvbandwidth: its text, and its JSON (-j).
#include <fmt/format.h>

#include <map>
#include <string>
#include <string_view>

#include "core/fields.h"
#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"
#include "results/import/stated_unit.h"

namespace bench {
namespace {

constexpr std::size_t kLongestFailure = 200;

ImportedJob nvbandwidth_job(const std::string& test, const std::string& host) {
  ImportedJob job;
  job.tool = "nvbandwidth";
  job.name = test;
  job.device = "cuda";
  job.ranks = 1;
  if (!host.empty() && host != "localhost") job.hosts = {host};
  return job;
}

/// Adds a cell of a test's matrix: "bandwidth" from "... bandwidth (GB/s)", "latency" from "...
/// (ns)". Zeros, as on the diagonal, are skipped. False if the description has no such unit.
bool add_nvbandwidth(const ImportedJob& job, const std::string& description, const std::string& row,
                     const std::string& column, double value, CollectedSeries& series) {
  const std::size_t open = description.rfind('(');
  const std::size_t close = description.rfind(')');
  if (open == std::string::npos || close == std::string::npos || close < open) return false;
  const auto unit = stated_unit(std::string_view(description).substr(open + 1, close - open - 1));
  if (!unit || (unit->unit != Unit::byte_per_second && unit->unit != Unit::second)) return false;
  if (value == 0.0) return true;
  const Json params = {{"test", job.name}, {"row", row}, {"column", column}};
  const char* metric = unit->unit == Unit::second ? "latency" : "bandwidth";
  series.add(job, one_value(metric, unit->unit, unit->better, params, value * unit->factor));
  return true;
}

/// Running NAME. / description / a line of columns / rows / SUM NAME value.
class NvbandwidthText {
 public:
  NvbandwidthText(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next()) line(trim(lines_.line()));
    if (!test_.empty())
      lines_.refuse("is the last line, but '" + test_ + "' did not end with a SUM",
                    "the output is truncated; import a complete one");
    lines_.demand_whole();
    program_["program"] = "nvbandwidth";
    sink_.facts(nvbandwidth_job(first_, host_), Facts{"program", program_});
    if (!failed_ || !series_.empty()) series_.emit(sink_, lines_.origin(), "nvbandwidth");
    if (waived_ > 0)
      sink_.note(fmt::format("{}: nvbandwidth waived {} tests", lines_.origin(), waived_));
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) return;
    if (text.starts_with("Running ")) return begin(text);
    if (text.starts_with("Waived:")) return void(++waived_);
    if (is_failure(text)) return failed(text);
    if (!test_.empty()) return in_test(text);
    if (test_.empty() && !first_.empty() && is_trailer(text)) return;
    if (first_.empty() || text.starts_with("NOTE:")) return head(text);
    lines_.refuse("is an unknown line between tests");
  }

  /// MIN, MAX and AVG of option -v follow the SUM.
  static bool is_trailer(std::string_view text) {
    return text.starts_with("MIN ") || text.starts_with("MAX ") || text.starts_with("AVG ") ||
           text.starts_with("Performance can vary");
  }

  /// An exception of a test, or a failed call, which ends nvbandwidth and goes to stderr.
  static bool is_failure(std::string_view text) {
    return text.starts_with("Error:") || text.starts_with("ERROR:") ||
           text.starts_with("[CUDA_ERROR_") || text.starts_with("[cudaError") ||
           text.starts_with("NVML_ERROR:") || text.starts_with("ASSERT in expression");
  }

  void head(std::string_view text) {
    if (const auto version = text_after(text, "nvbandwidth Version:"); !version.empty())
      program_["version"] = version.starts_with('v') ? version.substr(1) : version;
    if (const auto version = text_after(text, "CUDA Runtime Version:"); !version.empty())
      program_["libraries"]["cuda"] = version;
    if (const auto version = text_after(text, "Driver Version:"); !version.empty())
      program_["libraries"]["driver"] = version;
    // Since version 0.7 the host name is on its own line before "Device 0:".
    if (text.starts_with("Device 0:") && is_host_name(before_)) host_ = before_;
    before_ = text;
  }

  void begin(std::string_view text) {
    if (!test_.empty()) lines_.refuse("begins a test, but '" + test_ + "' did not end");
    test_ = std::string(text.substr(8));
    if (test_.ends_with('.')) test_.pop_back();
    if (!is_plain_name(test_)) lines_.refuse("names no test");
    if (first_.empty()) first_ = test_;
    description_.clear();
    columns_.clear();
  }

  void failed(std::string_view text) {
    if (test_.empty()) lines_.refuse("is an error outside a test: nothing to import");
    sink_.ended(nvbandwidth_job(test_, host_), Status::failed,
                "nvbandwidth: " + printable(text.substr(0, kLongestFailure)));
    test_.clear();
    failed_ = true;
  }

  void in_test(std::string_view text) {
    const auto words = words_of(text);
    if (words[0] == "SUM" || words[0] == "&&&&") return end(words);
    if (description_.empty()) return void(description_ = text);
    if (columns_.empty()) return void(columns_.assign(words.begin(), words.end()));
    row(words);
  }

  void row(const std::vector<std::string_view>& words) {
    if (words.size() != columns_.size() + 1)
      lines_.refuse(fmt::format("has {} cells, its matrix has {} columns", words.size() - 1,
                                columns_.size()));
    for (std::size_t i = 0; i < columns_.size(); ++i) {
      double value = 0.0;
      if (words[i + 1] == "N/A") continue;
      if (!read_number(words[i + 1], value) || value < 0.0) lines_.refuse("has non-numeric cells");
      if (!add_nvbandwidth(nvbandwidth_job(test_, host_), description_, std::string(words[0]),
                           columns_[i], value, series_))
        lines_.refuse("belongs to a matrix without a known unit: '" + description_ + "'");
    }
  }

  void end(const std::vector<std::string_view>& words) {
    const std::size_t name = words[0] == "SUM" ? 1 : 2;
    if (words.size() <= name || words[name] != test_) lines_.refuse("does not end '" + test_ + "'");
    test_.clear();
  }

  ImportedLines lines_;
  ImportSink& sink_;
  std::string test_, first_, host_, before_, description_;
  std::vector<std::string> columns_;
  Json program_ = Json::object();
  std::size_t waived_ = 0;
  bool failed_ = false;
  CollectedSeries series_;
};

// The JSON (-j): cells are texts, "N/A" among them; a test that failed may stand there a second
// time with its error.
/// "0: NVIDIA H100 80GB HBM3 (00000000:1B:00): (node07)" names its host at the end.
std::string nvbandwidth_host(const Json& devices) {
  if (devices.empty() || !devices.front().is_string()) return {};
  const auto& text = devices.front().get_ref<const std::string&>();
  const std::size_t open = text.rfind('(');
  if (open == std::string::npos || !text.ends_with(')')) return {};
  std::string host = text.substr(open + 1, text.size() - open - 2);
  return is_host_name(host) ? host : std::string();
}

struct NvbandwidthFailure {
  std::string status, error;

  /// The error may stand only at the end of the document, without its test.
  std::string reason(const std::string& of_document) const {
    const std::string& known = error.empty() ? of_document : error;
    return status + ": " +
           (known.empty() ? "no reason given" : printable(trim(known).substr(0, kLongestFailure)));
  }
};

class NvbandwidthJson {
 public:
  NvbandwidthJson(const ImportedFile& file, ImportSink& sink) : file_(file), sink_(sink) {}

  void read(const Json& document) {
    Fields outer(document, file_.name);
    Fields top(outer.object("nvbandwidth"), file_.name, "/nvbandwidth");
    if (top.has("GPU Device list")) host_ = nvbandwidth_host(top.array("GPU Device list"));
    if (top.find("testcases") == nullptr)
      throw Error(ErrorKind::input, file_.name + ": nvbandwidth ran no test: " +
                                        excerpt(top.text_or("error", "no error given")));
    for (const Json& test : top.array("testcases")) testcase(test);
    for (const auto& [test, failure] : failures_)
      sink_.ended(nvbandwidth_job(test, host_), Status::failed,
                  "nvbandwidth: " + failure.reason(top.text_or("error", "")));
    add_facts(top);
    if (failures_.empty() || !series_.empty()) series_.emit(sink_, file_.name, "nvbandwidth");
  }

 private:
  void testcase(const Json& json) {
    Fields fields(json, file_.name, fmt::format("/nvbandwidth/testcases/{}", number_++));
    const ImportedJob job = nvbandwidth_job(fields.word("name"), host_);
    if (!is_plain_name(job.name)) fields.refuse("name", "a test's name", json["name"]);
    const std::string status = fields.text("status");
    if (status == "Waived" || status == "Not Found")
      return sink_.note(fmt::format("{}: '{}' was not run: {}", file_.name, job.name, status));
    if (status != "Passed") return failed(job.name, status, fields.text_or("error", ""));
    const std::string description = fields.word("bandwidth_description");
    std::size_t row = 0;
    for (const Json& cells : fields.array("bandwidth_matrix"))
      matrix_row(job, description, row++, cells, fields);
  }

  /// A test that fails is left as "Running", and may follow again with its error.
  void failed(const std::string& test, const std::string& status, const std::string& error) {
    NvbandwidthFailure& failure = failures_[test];
    if (!failure.error.empty()) return;
    failure = {status, error};
  }

  void matrix_row(const ImportedJob& job, const std::string& description, std::size_t row,
                  const Json& cells, Fields& fields) {
    if (!cells.is_array()) fields.refuse("bandwidth_matrix", "rows of strings", cells);
    for (std::size_t column = 0; column < cells.size(); ++column) {
      double value = 0.0;
      const Json& cell = cells[column];
      if (cell == "N/A") continue;
      if (!cell.is_string() || !read_number(cell.get_ref<const std::string&>(), value) ||
          value < 0.0)
        fields.refuse("bandwidth_matrix", "numbers as strings, or N/A", cell);
      if (!add_nvbandwidth(job, description, std::to_string(row), std::to_string(column), value,
                           series_))
        fields.refuse("bandwidth_description", "a string with a known unit", description);
    }
  }

  void add_facts(Fields& top) {
    Json program = {{"program", "nvbandwidth"}, {"version", top.text_or("version", "")}};
    if (const Json* cuda = top.find("CUDA Runtime Version"))
      program["libraries"]["cuda"] = cuda->is_string() ? *cuda : Json(dump(*cuda));
    if (const Json* driver = top.find("Driver Version"); driver != nullptr && driver->is_string())
      program["libraries"]["driver"] = *driver;
    sink_.facts(nvbandwidth_job("", host_), Facts{"program", program});
  }

  const ImportedFile& file_;
  ImportSink& sink_;
  std::string host_;
  std::map<std::string, NvbandwidthFailure> failures_;
  std::size_t number_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_nvbandwidth(const ImportedFile& file, ImportSink& sink) {
  if (const auto document = leading_json(file.text, file.name))
    return NvbandwidthJson(file, sink).read(*document);
  NvbandwidthText(file, sink).read();
}

}  // namespace bench
