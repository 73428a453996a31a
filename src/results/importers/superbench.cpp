// SuperBench's results-summary.jsonl: one object a node, {"node": ..., "benchmark/metric:rank": n}.
#include <fmt/format.h>

#include <cmath>
#include <map>
#include <set>

#include "core/json.h"
#include "results/importers/collected_series.h"
#include "results/importers/imported_lines.h"
#include "results/importers/importers.h"
#include "results/importers/superbench_unit.h"

namespace bench {
namespace {

/// "nccl-bw:nvlink/allreduce_1024_busbw:3".
struct SuperbenchKey {
  std::string benchmark;  // "nccl-bw:nvlink"
  std::string metric;     // "allreduce_1024_busbw"
  std::int64_t rank = -1;
};

bool read_key(const std::string& text, SuperbenchKey& key) {
  const std::size_t slash = text.find('/');
  if (slash == std::string::npos || slash == 0 || !is_plain_name(text)) return false;
  key = {text.substr(0, slash), text.substr(slash + 1)};
  const std::size_t colon = key.metric.rfind(':');
  std::int64_t rank = 0;
  if (colon != std::string::npos &&
      read_whole_number(std::string_view(key.metric).substr(colon + 1), rank) && rank >= 0) {
    key.rank = rank;
    key.metric.resize(colon);
  }
  return !key.metric.empty();
}

class Superbench {
 public:
  Superbench(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next())
      if (!trimmed(lines_.line()).empty()) node();
    lines_.demand_whole();
    if (found_ == 0)
      throw Error(ErrorKind::input, lines_.origin() + ": no SuperBench results found");
    if (!without_unit_.empty())
      sink_.note(
          fmt::format("{}: unknown unit for {} metrics, the first being '{}': kept as plain counts, in which any change matters",
                      lines_.origin(), without_unit_.size(), *without_unit_.begin()));
  }

 private:
  void node() {
    const Json json = parse_json(lines_.line(), lines_.origin());
    const Json* name = json.is_object() && json.contains("node") ? &json["node"] : nullptr;
    if (name == nullptr || !name->is_string() || !is_host_name(*name))
      lines_.refuse("has no 'node' with a host name");
    host_ = *name;
    if (!nodes_.insert(host_).second)
      lines_.refuse("names a node of an earlier line",
                    "one file holds one run: import each file separately");
    for (const auto& [text, value] : json.items())
      if (text != "node") entry(text, value);
  }

  void entry(const std::string& text, const Json& value) {
    SuperbenchKey key;
    if (!read_key(text, key))
      refuse_key(text, "is not 'benchmark/metric' or 'benchmark/metric:rank'");
    ImportedJob job;
    job.tool = "superbench";
    job.name = key.benchmark;
    job.hosts = {host_};
    job.ranks = 1;
    if (key.metric == "return_code") return return_code(job, key, value, text);
    if (value.is_null()) return;  // the node did not measure it
    if (!value.is_number() || !std::isfinite(value.get<double>()))
      refuse_key(text, "is not a number: " + excerpt(value));
    series(job, key, value);
  }

  void return_code(const ImportedJob& job, const SuperbenchKey& key, const Json& value,
                   const std::string& text) {
    if (!value.is_number_integer()) refuse_key(text, "is not a whole number: " + excerpt(value));
    ++found_;
    if (value == 0) return;
    const std::string where = key.rank < 0 ? "" : fmt::format(" of rank {}", key.rank);
    sink_.ended(job, Status::failed,
                fmt::format("SuperBench: return code {}{}", dump(value), where));
  }

  void series(const ImportedJob& job, const SuperbenchKey& key, double value) {
    auto unit = superbench_unit(key.benchmark, key.metric);
    const std::string name = key.benchmark + "/" + key.metric;
    if (!unit) {
      without_unit_.insert(name);
      unit = StatedUnit{Unit::count, 1.0, Better::none};
    }
    Json params = Json::object();
    if (key.rank >= 0) params["rank"] = key.rank;
    sink_.series(job, one_value(name, unit->unit, unit->better, params, value * unit->factor));
    ++found_;
  }

  [[noreturn]] void refuse_key(const std::string& key, const std::string& what) const {
    throw Error(ErrorKind::input, fmt::format("{}:{}: '{}' {}", lines_.origin(), lines_.number(),
                                              key.substr(0, 80), what));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  std::string host_;
  std::set<std::string> nodes_, without_unit_;
  std::size_t found_ = 0;
};

}  // namespace

void import_superbench(const ImportedFile& file, ImportSink& sink) {
  Superbench(file, sink).read();
}

}  // namespace bench
