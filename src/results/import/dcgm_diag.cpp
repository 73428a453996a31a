// dcgmi diag -j: a verdict for each test and entity, with texts. As dcgmi of DCGM 3.3.9 and 4.6.0
// prints it (dcgmi/Diag.cpp there).
#include <fmt/format.h>

#include <array>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fields.h"
#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"
#include "results/import/stated_unit.h"

namespace bench {
namespace {

constexpr std::size_t kLongestWarning = 200;

/// Numbers in the texts of the test pcie (nvvs/plugin_src/pcie/PcieMain.cpp).
struct DcgmNumber {
  std::string_view text;
  const char* metric;
};
constexpr std::array<DcgmNumber, 6> kDcgmNumbers{{
    {"GPU to Host bandwidth:", "device_to_host_bandwidth"},
    {"Host to GPU bandwidth:", "host_to_device_bandwidth"},
    {"bidirectional bandwidth:", "bidirectional_bandwidth"},
    {"GPU to Host latency:", "device_to_host_latency"},
    {"Host to GPU latency:", "host_to_device_latency"},
    {"bidirectional latency:", "bidirectional_latency"},
}};

enum class DcgmVerdict { pass, skip, fail };

/// The values of one entity's texts, by metric.
using DcgmValues = std::map<std::string, std::vector<std::pair<double, StatedUnit>>>;

/// Adds "GPU to Host bandwidth:\t\t26.31 GB/s" to the values; other texts have none.
void read_dcgm_info(std::string_view text, DcgmValues& values) {
  for (const DcgmNumber& known : kDcgmNumbers) {
    const std::size_t at = text.find(known.text);
    if (at == std::string_view::npos) continue;
    const auto words = words_of(text.substr(at + known.text.size()));
    double number = 0.0;
    const auto unit = words.size() == 2 ? stated_unit(words[1]) : std::optional<StatedUnit>();
    const bool latency = known.text.ends_with("latency:");
    if (unit && unit->unit == (latency ? Unit::second : Unit::byte_per_second) &&
        read_number(words[0], number) && number > 0.0)
      values[known.metric].emplace_back(number, *unit);
  }
}

class DcgmDiag {
 public:
  DcgmDiag(const ImportedFile& file, ImportSink& sink) : file_(file), sink_(sink) {}

  void read(const Json& document) {
    Fields top(document, file_.name);
    if (const Json* iterations = top.find("iterations")) {
      top.array("iterations");
      for (std::size_t i = 0; i < iterations->size(); ++i)
        if (!(*iterations)[i].is_null()) run((*iterations)[i], fmt::format("/iterations/{}", i));
      aborted(top);
    } else {
      run(document, "");
    }
    sink_.facts(job_of("diag"), Facts{"program", program_});
    series_.emit(sink_, file_.name, "DCGM diagnostic");
    if (repeated_ > 0)
      sink_.note(
          fmt::format("{}: skipped {} numbers of the test pcie that are printed more than "
                      "once without the kind of memory",
                      file_.name, repeated_));
  }

 private:
  /// The file names no host.
  static ImportedJob job_of(const std::string& test) {
    ImportedJob job;
    job.tool = "dcgm_diag";
    job.name = test;
    job.device = "cuda";
    job.ranks = 1;
    return job;
  }

  /// dcgmi stops at the first iteration that it cannot run.
  void aborted(Fields& top) {
    if (top.text_or("Overall Result", "Pass") == "Pass" || failed_) return;
    sink_.ended(job_of("diag"), Status::failed,
                "dcgmi diag: " + top.text_or("Warning", "failed without a reason"));
  }

  void run(const Json& json, const std::string& pointer) {
    Fields top(json, file_.name, pointer);
    Fields diag(top.object("DCGM Diagnostic"), file_.name, pointer + "/DCGM Diagnostic");
    if (const Json* error = diag.find("runtime_error"))
      throw Error(ErrorKind::input,
                  file_.name + ": the diagnostic did not run: " +
                      printable(text_of(*error).substr(0, kLongestWarning)),
                  "fix what dcgmi reports, run it again and import that output");
    facts(top, pointer);
    for (const Json& category : diag.array("test_categories")) {
      Fields fields(category, file_.name, pointer + "/test_categories");
      for (const Json& one : fields.array("tests"))
        if (!one.is_null()) test(one, pointer + "/tests");
    }
  }

  void facts(Fields& top, const std::string& pointer) {
    program_["program"] = "dcgm";
    const auto add = [this](Fields& fields) {
      if (const auto version = fields.text_or("version", ""); !version.empty())
        program_["version"] = version;
      if (const auto driver = fields.text_or("Driver Version Detected", ""); !driver.empty())
        program_["libraries"]["driver"] = driver;
    };
    if (const Json* metadata = top.find("metadata")) {
      Fields fields(*metadata, file_.name, pointer + "/metadata");
      add(fields);
    } else {
      add(top);  // before version 4
    }
  }

  void test(const Json& json, const std::string& pointer) {
    Fields fields(json, file_.name, pointer);
    const ImportedJob job = job_of(fields.word("name"));
    if (!is_plain_name(job.name)) fields.refuse("name", "a test's name", json["name"]);
    std::size_t verdicts = 0;
    bool failed = false;
    if (fields.find("results") != nullptr)
      for (const Json& one : fields.array("results")) {
        if (one.is_null()) continue;  // a GPU that did not run it
        ++verdicts;
        failed |= result(job, one, pointer + "/" + job.name) == DcgmVerdict::fail;
      }
    const Json* summary = fields.find("test_summary");
    if (summary == nullptr) return;
    Fields whole(*summary, file_.name, pointer + "/test_summary");
    // The verdict of the entities, unless none of them explains it.
    if (verdicts == 0 || (!failed && verdict(whole) == DcgmVerdict::fail))
      result(job, *summary, pointer + "/" + job.name);
  }

  static DcgmVerdict verdict(Fields& fields) {
    const std::string status = to_lower(fields.word("status"));
    if (status == "pass") return DcgmVerdict::pass;
    if (status == "skip") return DcgmVerdict::skip;
    if (status != "fail" && status != "warn")
      fields.refuse("status", "Pass, Skip, Warn or Fail", fields.any("status"));
    return DcgmVerdict::fail;
  }

  DcgmVerdict result(const ImportedJob& job, const Json& json, const std::string& pointer) {
    Fields fields(json, file_.name, pointer);
    const DcgmVerdict verdict = DcgmDiag::verdict(fields);
    const std::string entity = entity_of(fields);
    const std::string warning = warning_of(fields);
    const std::string whose = entity.empty() ? "" : entity + ": ";
    if (verdict == DcgmVerdict::skip) {
      sink_.note(fmt::format("{}: '{}' was skipped: {}{}", file_.name, job.name, whose,
                             warning.empty() ? "no reason given" : warning));
      return verdict;
    }
    const bool failed = verdict == DcgmVerdict::fail;
    const std::string reason =
        failed ? "DCGM: " + whose + (warning.empty() ? "failed without a reason" : warning) : "";
    if (!failed && !warning.empty())
      sink_.note(fmt::format("{}: '{}' passed with a warning: {}{}", file_.name, job.name, whose,
                             warning));
    Json params = Json::object();
    if (!entity.empty()) params["entity"] = entity;
    add(job, one_value("passed", Unit::ratio, Better::higher, params, failed ? 0.0 : 1.0), reason);
    numbers(job, params, fields, reason);
    if (failed) sink_.ended(job, Status::failed, reason);
    failed_ |= failed;
    return verdict;
  }

  /// "GPU 0": of version 4, or of version 3, where it may be a text.
  static std::string entity_of(Fields& fields) {
    constexpr std::int64_t kMostEntities = 1'000'000'000;
    if (fields.has("entity_id"))
      return fmt::format("{} {}", printable(fields.text_or("entity_group", "entity")),
                         fields.integer("entity_id", 0, kMostEntities));
    const Json* gpu = fields.find("gpu_id");
    if (gpu == nullptr) return {};
    std::int64_t number = 0;
    if (!read_whole_number(text_of(*gpu), number)) fields.refuse("gpu_id", "a GPU's number", *gpu);
    return number < 0 ? std::string() : fmt::format("GPU {}", number);
  }

  /// The first warning, and how many more there are.
  static std::string warning_of(Fields& fields) {
    if (fields.find("warnings") == nullptr) return {};
    std::string first;
    std::size_t count = 0;
    for (const Json& one : fields.array("warnings")) {
      if (!one.is_object()) continue;
      for (const char* key : {"warning", "warnings"})
        if (const auto text = one.find(key); text != one.end() && text->is_string() && count++ == 0)
          first = printable(text->get_ref<const std::string&>().substr(0, kLongestWarning));
    }
    return count > 1 ? fmt::format("{} (and {} more)", first, count - 1) : first;
  }

  /// Pinned and pageable memory have the same text: a number is taken only if it is the only one.
  void numbers(const ImportedJob& job, const Json& params, Fields& fields,
               const std::string& reason) {
    const Json* info = fields.find("info");
    if (info == nullptr) return;
    DcgmValues values;
    for (const Json& one : info->is_array() ? *info : Json::array({*info}))
      if (one.is_string())
        for (const std::string_view text : words_of(one.get_ref<const std::string&>(), "\n,"))
          read_dcgm_info(text, values);
    for (const auto& [metric, found] : values) {
      if (found.size() > 1) {
        ++repeated_;
        continue;
      }
      const auto& [number, unit] = found.front();
      add(job, one_value(metric, unit.unit, unit.better, params, number * unit.factor), reason);
    }
  }

  void add(const ImportedJob& job, Samples samples, const std::string& reason) {
    if (!reason.empty()) {
      samples.outcome = Status::failed;
      samples.reason = reason;
    }
    series_.add(job, std::move(samples));
  }

  const ImportedFile& file_;
  ImportSink& sink_;
  Json program_ = Json::object();
  bool failed_ = false;
  std::size_t repeated_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_dcgm_diag(const ImportedFile& file, ImportSink& sink) {
  const auto [document, skipped] = json_after_lines(file.text, file.name, "run dcgmi diag with -j");
  if (skipped > 0)
    sink.note(fmt::format("{}: skipped {} lines before the JSON document", file.name, skipped));
  DcgmDiag(file, sink).read(document);
}

}  // namespace bench
