// The JSON of nvbandwidth (-j): cells are texts, "N/A" among them; a test that failed may stand
// there a second time with its error.
#include <fmt/format.h>

#include "core/fields.h"
#include "results/importers/imported_lines.h"
#include "results/importers/nvbandwidth.h"

namespace bench {
namespace {

/// "0: NVIDIA H100 80GB HBM3 (00000000:1B:00): (node07)" names its host at the end.
std::string nvbandwidth_host(const Json& devices) {
  if (devices.empty() || !devices.front().is_string()) return {};
  const auto& text = devices.front().get_ref<const std::string&>();
  const std::size_t open = text.rfind('(');
  if (open == std::string::npos || !text.ends_with(')')) return {};
  std::string host = text.substr(open + 1, text.size() - open - 2);
  return is_host_name(host) ? host : std::string();
}

class NvbandwidthJson {
 public:
  NvbandwidthJson(const ImportedFile& file, ImportSink& sink) : file_(file), sink_(sink) {}

  void read(const Json& document) {
    Fields outer(document, file_.name);
    Fields top(outer.object("nvbandwidth"), file_.name, "/nvbandwidth");
    if (top.has("GPU Device list")) host_ = nvbandwidth_host(top.array("GPU Device list"));
    if (top.find("testcases") == nullptr)
      throw Error(ErrorKind::input, file_.name + ": nvbandwidth ran no test: " +
                                        excerpt(top.text_or("error", "no error is given")));
    for (const Json& test : top.array("testcases")) testcase(test);
    if (series_.empty())
      throw Error(ErrorKind::input, file_.name + ": there is no result of nvbandwidth in it");
    say_facts(top);
    series_.hand_over(sink_);
  }

 private:
  void testcase(const Json& json) {
    Fields fields(json, file_.name, fmt::format("/nvbandwidth/testcases/{}", number_++));
    const ImportedJob job = nvbandwidth_job(fields.word("name"), host_);
    if (!is_plain_name(job.name)) fields.refuse("name", "a test's name", json["name"]);
    const std::string status = fields.text("status");
    if (status == "Waived" || status == "Not Found")
      return sink_.note(fmt::format("{}: '{}' was not run: {}", file_.name, job.name, status));
    if (status != "Passed") return sink_.ended(job, Status::failed, failure(fields, status));
    const std::string description = fields.word("bandwidth_description");
    std::size_t row = 0;
    for (const Json& cells : fields.array("bandwidth_matrix"))
      matrix_row(job, description, row++, cells, fields);
  }

  static std::string failure(Fields& fields, const std::string& status) {
    return "nvbandwidth: " + status + ": " + fields.text_or("error", "no reason is given");
  }

  void matrix_row(const ImportedJob& job, const std::string& description, std::size_t row,
                  const Json& cells, Fields& fields) {
    if (!cells.is_array()) fields.refuse("bandwidth_matrix", "rows of texts", cells);
    for (std::size_t column = 0; column < cells.size(); ++column) {
      double value = 0.0;
      const Json& cell = cells[column];
      if (cell == "N/A") continue;
      if (!cell.is_string() || !read_number(cell.get_ref<const std::string&>(), value) ||
          value < 0.0)
        fields.refuse("bandwidth_matrix", "numbers as texts, or N/A", cell);
      if (!add_nvbandwidth(job, description, std::to_string(row), std::to_string(column), value,
                           series_))
        fields.refuse("bandwidth_description", "a text with a known unit", description);
    }
  }

  void say_facts(Fields& top) {
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
  std::size_t number_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_nvbandwidth_json(const std::string& text, const ImportedFile& file, ImportSink& sink) {
  NvbandwidthJson(file, sink).read(parse_json(text, file.name));
}

}  // namespace bench
