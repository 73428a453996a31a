// fio --output-format=json (and json+); warnings may precede the JSON document.
#include <fmt/format.h>

#include <array>

#include "core/fields.h"
#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

/// What makes two jobs of fio different measurements. Other options stay out: some hold passwords.
constexpr std::array kFioOptions = {"rw",        "readwrite", "bs",      "blocksize", "iodepth",
                                    "ioengine",  "direct",    "numjobs", "size",      "filename",
                                    "directory", "rwmixread", "fsync",   "buffered",  "sync"};

constexpr std::array<std::pair<const char*, const char*>, 4> kFioPercentiles = {
    {{"50.000000", "p50"}, {"95.000000", "p95"}, {"99.000000", "p99"}, {"99.900000", "p999"}}};

class FioJson {
 public:
  FioJson(const ImportedFile& file, ImportSink& sink) : file_(file), sink_(sink) {}

  void read(const Json& document) {
    Fields top(document, file_.name);
    top.word("fio version");
    if (const Json* options = top.find("global options")) global_ = *options;
    time_ns_ = time(top);
    // One host's jobs, or those of fio's clients.
    const bool clients = top.find("jobs") == nullptr && top.find("client_stats") != nullptr;
    const char* list = clients ? "client_stats" : "jobs";
    std::size_t number = 0;
    for (const Json& job : top.array(list)) one_job(job, fmt::format("/{}/{}", list, number++));
    if (series_.empty() && !failed_)
      throw Error(ErrorKind::input, file_.name + ": no fio results found");
    sink_.facts(last_, Facts{"program", {{"program", "fio"}, {"version", version(document)}}});
    series_.emit(sink_);
  }

 private:
  static std::int64_t time(Fields& top) {
    constexpr std::int64_t kLatest = 9'000'000'000'000;  // ms: within 64 bits of nanoseconds
    if (top.has("timestamp_ms")) return top.integer("timestamp_ms", 0, kLatest) * 1'000'000;
    if (top.has("timestamp")) return top.integer("timestamp", 0, kLatest / 1000) * 1'000'000'000;
    return 0;
  }

  static std::string version(const Json& document) {
    const std::string text = document["fio version"];
    return text.starts_with("fio-") ? text.substr(4) : text;
  }

  void one_job(const Json& json, const std::string& pointer) {
    Fields fields(json, file_.name, pointer);
    ImportedJob job;
    job.tool = "fio";
    job.time_ns = time_ns_;
    job.name = fields.word("jobname");
    if (!is_plain_name(job.name)) fields.refuse("jobname", "a name", json["jobname"]);
    if (job.name == "All clients") return;  // a sum over the entries before it
    const std::string host = fields.text_or("hostname", "");
    if (is_host_name(host) && host != "localhost") job.hosts = {host};
    last_ = job;
    if (const auto error = fields.integer("error", -4096, 4096); error != 0) {
      failed_ = true;
      return sink_.ended(job, Status::failed, fmt::format("fio: error {}", error));
    }
    const Json params = parameters(fields);
    for (const char* direction : {"read", "write", "trim"})
      if (const Json* found = fields.find(direction))
        one_direction(job, params, direction,
                      Fields(*found, file_.name, pointer + "/" + direction));
  }

  Json parameters(Fields& fields) const {
    Json params = Json::object();
    const Json* own = fields.find("job options");
    for (const Json* options : {&global_, own}) {
      if (options == nullptr || !options->is_object()) continue;
      for (const char* name : kFioOptions)
        if (const auto found = options->find(name); found != options->end() && found->is_string())
          params[name] = *found;
    }
    return params;
  }

  void one_direction(const ImportedJob& job, Json params, const char* direction, Fields fields) {
    if (fields.integer("total_ios", 0, INT64_MAX) == 0) return;
    params["direction"] = direction;
    const double bandwidth = fields.has("bw_bytes") ? fields.at_least("bw_bytes", 0.0)
                                                    : fields.at_least("bw", 0.0) * 1024.0;
    add(job, "bandwidth", Unit::byte_per_second, Better::higher, params, bandwidth);
    add(job, "iops", Unit::hertz, Better::higher, params, fields.at_least("iops", 0.0));
    for (const char* which : {"lat_ns", "clat_ns"})
      if (const Json* found = fields.find(which))
        latencies(job, params, which, Fields(*found, file_.name, std::string("/") + which));
  }

  /// lat: from submission to completion; clat: from when the kernel has it.
  void latencies(const ImportedJob& job, const Json& params, const std::string& which,
                 Fields fields) {
    const std::string name = which == "lat_ns" ? "latency" : "completion_latency";
    add(job, name, Unit::second, Better::lower, params, fields.at_least("mean", 0.0) * 1e-9);
    const Json* percentiles = fields.find("percentile");
    if (percentiles == nullptr) return;
    Fields each = fields.inside("percentile", *percentiles);
    for (const auto& [key, suffix] : kFioPercentiles)
      if (each.has(key))
        add(job, name + "_" + suffix, Unit::second, Better::lower, params,
            each.at_least(key, 0.0) * 1e-9);
  }

  void add(const ImportedJob& job, const std::string& metric, Unit unit, Better better,
           const Json& params, double value) {
    if (value > 0.0) series_.add(job, one_value(metric, unit, better, params, value));
  }

  const ImportedFile& file_;
  ImportSink& sink_;
  Json global_ = Json::object();
  std::int64_t time_ns_ = 0;
  ImportedJob last_;
  bool failed_ = false;
  CollectedSeries series_;
};

}  // namespace

void import_fio(const ImportedFile& file, ImportSink& sink) {
  const auto [document, skipped] =
      json_after_lines(file.text, file.name, "run fio with --output-format=json");
  if (skipped > 0)
    sink.note(fmt::format("{}: skipped {} lines before the JSON document", file.name, skipped));
  FioJson(file, sink).read(document);
}

}  // namespace bench
