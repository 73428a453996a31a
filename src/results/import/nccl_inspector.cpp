// NCCL Inspector: one JSON object a line for each collective or transfer, of format v4.0. As the
// profiler plugin of NCCL 2.28 to 2.30 writes it (inspector_json.cc there).
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <string_view>
#include <utility>

#include "core/fields.h"
#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

constexpr std::int64_t kMostInspectorRanks = 10'000'000;

/// The names that nccl-tests uses, so that series of both can be laid side by side.
constexpr std::array<std::pair<std::string_view, const char*>, 10> kInspectorOps{{
    {"AllGather", "all_gather"},
    {"AllReduce", "all_reduce"},
    {"Broadcast", "broadcast"},
    {"Recv", "recv"},
    {"Reduce", "reduce"},
    {"ReduceScatter", "reduce_scatter"},
    {"SendRecv", "sendrecv"},
    {"Send", "send"},
    {"All2All", "alltoall"},
    {"AllGatherV", "all_gather_v"},
}};

class NcclInspector {
 public:
  NcclInspector(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {}

  void read() {
    while (lines_.next())
      if (!trim(lines_.line()).empty()) operation();
    lines_.demand_whole();
    series_.emit(sink_, lines_.origin(), "NCCL Inspector");
    if (untimed_ > 0)
      sink_.note(
          fmt::format("{}: skipped {} operations with a time of 0 us", lines_.origin(), untimed_));
  }

 private:
  void operation() {
    const std::string where = fmt::format("{}:{}", lines_.origin(), lines_.number());
    const Json json = parse_json(lines_.line(), where);
    Fields top(json, where);
    Fields metadata(top.object("metadata"), where, "/metadata");
    const std::string version = metadata.text("inspector_output_format_version");
    if (!version.starts_with("v4."))
      metadata.refuse("inspector_output_format_version", "v4", version);
    ImportedJob job = job_of(top, metadata, where);
    const bool collective = top.has("coll_perf");
    const char* key = collective ? "coll_perf" : "p2p_perf";
    Fields fields(top.object(key), where, std::string("/") + key);
    measured(std::move(job), communicator(top, where), collective ? "coll" : "p2p", fields);
  }

  static ImportedJob job_of(Fields& top, Fields& metadata, const std::string& where) {
    Fields header(top.object("header"), where, "/header");
    constexpr std::int64_t kLatest_us = 9'000'000'000'000'000;  // within 64 bits of nanoseconds
    ImportedJob job;
    job.tool = "nccl_inspector";
    job.device = "cuda";
    job.ranks = static_cast<int>(header.integer("n_ranks", 1, kMostInspectorRanks));
    job.rank = static_cast<int>(header.integer("rank", 0, job.ranks - 1));
    job.time_ns = metadata.integer("dump_timestamp_us", 0, kLatest_us) * 1000;
    const std::string host = metadata.text("hostname");
    if (is_host_name(host) && host != "localhost") job.hosts = {host};
    return job;
  }

  /// Its name, else its place in the file: its ID differs from run to run.
  Json communicator(Fields& top, const std::string& where) {
    Fields header(top.object("header"), where, "/header");
    const std::string name = header.text_or("comm_name", "unknown");
    Json params = {{"nodes", header.integer("nnodes", 0, kMostInspectorRanks)}};
    const auto [at, is_new] = communicators_.try_emplace(header.word("id"), communicators_.size());
    if (name != "unknown" && is_plain_name(name))
      params["communicator"] = name;
    else
      params["communicator"] = at->second;
    return params;
  }

  void measured(ImportedJob job, Json params, const std::string& kind, Fields& fields) {
    job.name = operation_name(kind, fields);
    params["op"] = job.name;
    params["size_bytes"] = fields.integer(kind + "_msg_size_bytes", 0, INT64_MAX);
    params["timing"] = fields.text_or(kind + "_timing_source", "unknown");
    if (kind == "p2p") params["peer"] = fields.integer("p2p_peer", 0, kMostInspectorRanks);
    const double microseconds = fields.at_least(kind + "_exec_time_us", 0.0);
    const double busbw = fields.at_least(kind + "_busbw_gbs", 0.0);
    if (microseconds == 0.0) return void(++untimed_);
    series_.add(job,
                one_value("latency", Unit::second, Better::lower, params, microseconds * 1e-6));
    if (busbw > 0.0)
      series_.add(job,
                  one_value("busbw", Unit::byte_per_second, Better::higher, params, busbw * 1e9));
  }

  static std::string operation_name(const std::string& kind, Fields& fields) {
    const std::string name = fields.word(kind);
    for (const auto& [theirs, ours] : kInspectorOps)
      if (name == theirs) return ours;
    fields.refuse(kind, "an operation of NCCL such as AllReduce", name);
  }

  ImportedLines lines_;
  ImportSink& sink_;
  std::map<std::string, std::size_t> communicators_;
  std::size_t untimed_ = 0;
  CollectedSeries series_;
};

}  // namespace

void import_nccl_inspector(const ImportedFile& file, ImportSink& sink) {
  NcclInspector(file, sink).read();
}

}  // namespace bench
