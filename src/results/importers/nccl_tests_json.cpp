// The JSON of nccl-tests (-J), version 3: truth values and NaN are texts, root is padded,
// out_of_place may be null, and the whole environment stands in it.
#include <fmt/format.h>

#include <cmath>

#include "core/fields.h"
#include "core/text.h"
#include "results/importers/import_secrets.h"
#include "results/importers/imported_lines.h"
#include "results/importers/nccl_tests.h"

namespace bench {
namespace {

constexpr std::int64_t kKnownVersion = 3;
constexpr std::int64_t kMost = std::int64_t{1} << 60;

/// A number, or nothing for "nan".
std::optional<double> nccl_number(Fields& fields, const char* key) {
  const Json& value = fields.any(key);
  if (value.is_string() && value.get_ref<const std::string&>() == "nan") return {};
  const double number = fields.number(key);
  if (number < 0.0) fields.refuse(key, "a number from 0 on", value);
  return number;
}

class NcclJson {
 public:
  NcclJson(const ImportedFile& file, ImportSink& sink) : file_(file), sink_(sink) {}

  void read(const Json& document) {
    Fields top(document, file_.name);
    if (top.integer("version", 1, 1'000'000) > kKnownVersion)
      top.refuse("version", fmt::format("at most {}", kKnownVersion), document["version"]);
    job_.tool = "nccl_tests";
    job_.device = "cuda";
    job_.name = operation(top.array("args"));
    devices(top.object("config"));
    job_.time_ns = start(top.text_or("start_time", ""));
    if (top.find("results") == nullptr || top.find("out_of_bounds") == nullptr)
      throw Error(ErrorKind::input,
                  file_.name + ": there is no 'out_of_bounds': the run did not come to its end");
    for (const Json& result : top.array("results")) row(result);
    if (series_.empty())
      throw Error(ErrorKind::input, file_.name + ": there is no result of nccl-tests in it");
    say_facts(top);
    series_.hand_over(sink_);
    verdict(Fields(top.object("out_of_bounds"), file_.name, "/out_of_bounds"));
  }

 private:
  std::string operation(const Json& args) const {
    const std::string found = args.empty() || !args.front().is_string()
                                  ? std::string()
                                  : nccl_operation(args.front().get_ref<const std::string&>());
    if (!found.empty()) return found;
    if (!file_.operation.empty()) return file_.operation;
    throw Error(ErrorKind::input, file_.name + ": /args names no program of nccl-tests",
                "name the collective: --operation all_reduce");
  }

  /// "2026-11-20 18:30:05" without a zone, taken as UTC; nearer than the time of a copied file.
  static std::int64_t start(std::string text) {
    constexpr std::size_t kLength = 19;
    if (text.size() != kLength || text[10] != ' ') return 0;
    text[10] = 'T';
    try {
      return parse_time(text + "Z");
    } catch (const Error&) {
      return 0;
    }
  }

  void devices(const Json& config) {
    Fields fields(config, file_.name, "/config");
    for (const Json& one : fields.array("devices")) {
      const std::string host = Fields(one, file_.name, "/config/devices").text("hostname");
      if (!is_host_name(host))
        throw Error(ErrorKind::input,
                    file_.name + ": /config/devices: " + excerpt(host) + " is no host's name");
      add_nccl_host(host, job_);
    }
  }

  void row(const Json& json) {
    Fields fields(json, file_.name, fmt::format("/results/{}", row_++));
    NcclMeasurement measured;
    measured.bytes = fields.integer("size", 0, kMost);
    measured.type = fields.word("type");
    measured.redop = fields.text_or("redop", "");
    const std::string root = fields.text_or("root", "-1");
    if (!read_whole_number(trimmed(root), measured.root))
      fields.refuse("root", "a whole number as text", json["root"]);
    for (const char* place : {"out_of_place", "in_place"}) {
      measured.in_place = std::string_view(place) == "in_place";
      if (const Json* body = fields.find(place)) group(Fields(*body, file_.name, place), measured);
      const std::string times = std::string(place) + "_per_iter";
      if (const Json* body = fields.find(times)) iterations(*body, times, measured);
    }
  }

  void group(Fields fields, NcclMeasurement& measured) {
    const auto time = nccl_number(fields, fields.has("cpu_time") ? "cpu_time" : "time");
    const auto busbw = nccl_number(fields, "bus_bw");
    measured.seconds = time.value_or(0.0) * 1e-6;
    measured.bus_bytes_per_s = busbw.value_or(0.0) * 1e9;
    measured.wrong.reset();
    if (fields.find("nwrong") != nullptr) measured.wrong = nccl_number(fields, "nwrong");
    add_nccl(job_, measured, series_);
  }

  /// Each repetition of the slowest process.
  void iterations(const Json& json, const std::string& place, const NcclMeasurement& measured) {
    Fields fields(json, file_.name, place);
    const auto skipped =
        static_cast<std::size_t>(fields.integer("skipped_iterations", 0, 1'000'000));
    const Json& times = fields.array("times_us");
    Samples samples = one_value("iteration_latency", Unit::second, Better::lower,
                                nccl_params(measured, job_.name), 0.0);
    samples.over = "max";
    samples.values.clear();
    for (std::size_t i = skipped; i < times.size(); ++i) {
      if (!times[i].is_number()) fields.refuse("times_us", "numbers", times[i]);
      samples.values.push_back(times[i].get<double>() * 1e-6);
    }
    samples.flags.assign(samples.values.size(), kClean);
    if (!samples.values.empty() && measured.bytes > 0) series_.add(job_, std::move(samples));
  }

  void say_facts(Fields& top) {
    Json program = {{"program", "nccl-tests"}, {"libraries", Json::object()}};
    if (const Json* version = top.find("nccl_version"); version != nullptr && version->is_number())
      program["libraries"]["nccl"] = dump(*version);
    sink_.facts(job_, Facts{"program", program});
    const Json* list = top.find("env");
    if (list == nullptr) return;
    const KeptEnvironment kept = harmless_environment(*list, file_.name);
    sink_.facts(job_, Facts{"imported_environment", kept.variables});
    sink_.note(
        fmt::format("{}: {} of {} environment variables were kept; the others may hold secrets",
                    file_.name, kept.variables.size(), list->size()));
  }

  void verdict(Fields fields) {
    if (fields.text("okay") == "true") return;
    sink_.ended(job_, Status::invalid,
                "nccl-tests: out of bounds values: " + dump(fields.any("count")));
  }

  const ImportedFile& file_;
  ImportSink& sink_;
  ImportedJob job_;
  std::size_t row_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_nccl_json(const std::string& text, const ImportedFile& file, ImportSink& sink) {
  NcclJson(file, sink).read(parse_json(text, file.name));
}

}  // namespace bench
