// nccl-tests: its text, and its JSON (-J); rccl-tests prints the same text.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <optional>
#include <string>
#include <string_view>

#include "core/fields.h"
#include "core/text.h"
#include "core/time.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

/// One size, in or out of place.
struct NcclMeasurement {
  std::int64_t bytes = 0;
  std::string type, redop;  // redop "none" or empty: the operation has none
  std::int64_t root = -1;   // below 0: none
  bool in_place = false;
  double seconds = 0.0;
  double bus_bytes_per_s = 0.0;
  std::optional<double> wrong = {};  // elements; nothing if results were not checked
};

/// Our names for element types, so that series of both can be laid side by side.
std::string dtype_name(const std::string& type) {
  static const std::map<std::string, std::string> names = {
      {"float", "f32"},         {"double", "f64"},       {"half", "f16"},
      {"bfloat16", "bf16"},     {"f8e4m3", "fp8_e4m3"},  {"f8e5m2", "fp8_e5m2"},
      {"fp8_e4m3", "fp8_e4m3"}, {"fp8_e5m2", "fp8_e5m2"}};
  const auto found = names.find(type);
  return found == names.end() ? type : found->second;
}

void mark_wrong(const std::optional<double>& wrong, Samples& samples) {
  if (!wrong) return;
  samples.check = Check{"nccl-tests: wrong elements", *wrong, 0.0};
  if (!samples.check->passed()) mark_invalid(samples, "nccl-tests found wrong elements");
}

/// "all_reduce" from "./build/all_reduce_perf"; empty if the text is not such a program.
std::string nccl_operation(std::string_view program) {
  program = program.substr(program.find_last_of('/') + 1);  // npos + 1 is 0
  constexpr std::string_view kEnd = "_perf";
  const std::size_t end = program.find(kEnd);  // all_reduce_perf_mpi exists, too
  if (end == std::string_view::npos || end == 0) return {};
  const std::string name(program.substr(0, end));
  const bool plain = std::ranges::all_of(
      name, [](char c) { return c == '_' || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9'); });
  return plain && name.size() < 64 ? name : std::string();
}

Json nccl_params(const NcclMeasurement& measured, const std::string& operation) {
  Json params = {{"op", operation},
                 {"dtype", dtype_name(measured.type)},
                 {"size_bytes", measured.bytes},
                 {"placement", measured.in_place ? "in_place" : "out_of_place"}};
  if (!measured.redop.empty() && measured.redop != "none") params["redop"] = measured.redop;
  if (measured.root >= 0) params["root"] = measured.root;
  return params;
}

/// Adds latency and bus bandwidth. Omits a size of 0, which moves nothing, and a bus bandwidth of
/// 0, which is below the printed precision.
void add_nccl(const ImportedJob& job, const NcclMeasurement& measured, CollectedSeries& series) {
  if (measured.bytes == 0) return;
  const Json params = nccl_params(measured, job.name);
  // The tools divide by the repeats and take the mean over the ranks (option -a, default 1).
  Samples latency = one_value("latency", Unit::second, Better::lower, params, measured.seconds);
  Samples busbw =
      one_value("busbw", Unit::byte_per_second, Better::higher, params, measured.bus_bytes_per_s);
  for (Samples* one : {&latency, &busbw}) {
    one->over = "mean";
    mark_wrong(measured.wrong, *one);
  }
  if (measured.seconds > 0.0) series.add(job, std::move(latency));
  if (measured.bus_bytes_per_s > 0.0) series.add(job, std::move(busbw));
}

/// Adds a rank's host to the job; "localhost" does not count as a name.
void add_nccl_host(const std::string& host, ImportedJob& job) {
  ++job.ranks;
  if (host == "localhost" || std::ranges::find(job.hosts, host) != job.hosts.end()) return;
  job.hosts.push_back(host);
}

// The text of nccl-tests: of 2017 (bytes, N, op, res; milliseconds), of 2019 (error), of 2022
// (root, #wrong), and with -I (i_min ... i_cv%).

/// Columns of a table, from its header.
struct NcclTable {
  std::size_t group = 0;  // columns of one of the two groups, time first
  double seconds = 1e-6;  // one unit of its times
  bool wrong = false;     // the fourth column counts wrong elements
  bool timestamp = false;
};

class NcclText {
 public:
  NcclText(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink), operation_(file.operation) {}

  void read() {
    while (lines_.next()) line(trim(lines_.line()));
    if (open_)
      lines_.refuse("is the last line, but the table has no 'Out of bounds values' line after it",
                    "the output is truncated; import a complete one");
    series_.emit(sink_, lines_.origin(), "nccl-tests");
    if (talk_ > 0)
      sink_.note(fmt::format("{}: skipped {} unrelated lines", lines_.origin(), talk_));
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) return;
    if (text.starts_with("Out of bounds values")) return end_table(text);  // 2017
    if (text.starts_with("rccl-tests: Version")) return rccl_version(words_of(text));
    if (text.starts_with('#')) return comment(trim(text.substr(1)));
    const bool of_nccl = text.find(" NCCL ") != std::string_view::npos ||
                         text.starts_with("NCCL version") || text.starts_with("Avg bus bandwidth");
    if (open_ && !of_nccl) return row(words_of(text));
    talk_ += text.starts_with("Avg bus bandwidth") ? 0 : 1;
  }

  void comment(std::string_view text) {
    const auto words = words_of(text);
    if (words.size() >= 3 && words[0] == "Rank") return rank(words);
    if (text.starts_with("Collective test starting:")) return program(trim(text.substr(25)));
    if (text.starts_with("nccl-tests version")) return version(words);
    if (text.starts_with("Out of bounds values")) return end_table(text);
    if (!words.empty() && (words[0] == "size" || words[0] == "bytes") && words.size() > 6)
      return header(words);
    if (text.starts_with("nThread") && !open_) job_.hosts.clear(), job_.ranks = 0;
  }

  /// Rank 0 Group 0 Pid 1234 on host device 0 [0000:07:00] name; Group is missing before 2022.
  void rank(const std::vector<std::string_view>& words) {
    for (std::size_t i = 2; i + 1 < words.size(); ++i) {
      if (words[i] != "on") continue;
      const std::string host(words[i + 1]);
      if (!is_host_name(host)) lines_.refuse("names no host after 'on'");
      return add_nccl_host(host, job_);
    }
    lines_.refuse("names no host");
  }

  void program(std::string_view name) {
    operation_ = nccl_operation(name);
    if (operation_.empty()) lines_.refuse("names no nccl-tests program");
  }

  void version(const std::vector<std::string_view>& words) {
    if (words.size() < 3) lines_.refuse("names no version");
    program_ = {{"program", "nccl-tests"}, {"version", std::string(words[2])}};
    for (const std::string_view word : words)
      if (word.starts_with("nccl-library="))
        program_["libraries"] = {{"nccl", std::string(word.substr(13))}};
  }

  /// rccl-tests: Version develop:ae3e635
  void rccl_version(const std::vector<std::string_view>& words) {
    if (words.size() > 2)
      program_ = {{"program", "rccl-tests"}, {"version", std::string(words[2])}};
  }

  void header(const std::vector<std::string_view>& words) {
    if (open_)
      lines_.refuse("begins a table inside another",
                    "the outputs of two processes are mixed: import them separately");
    std::size_t first = 0, times = 0;
    table_ = {};
    table_.seconds = words[0] == "bytes" ? 1e-3 : 1e-6;
    table_.timestamp = words.back() == "timestamp";
    for (std::size_t i = 0; i < words.size(); ++i) {
      table_.wrong |= words[i] == "#wrong";
      if (words[i] != "time" && words[i] != "cputime") continue;
      if (times++ == 0)
        first = i;
      else
        table_.group = i - first;
    }
    // rccl-tests -O 0 measures in place only.
    if (times == 1) table_.group = words.size() - first - (table_.timestamp ? 1 : 0);
    const std::size_t groups = times == 1 ? 1 : 2;
    if (times == 0 || times > 2 || (table_.group != 4 && table_.group != 8) ||
        words.size() != first + groups * table_.group + (table_.timestamp ? 1 : 0))
      lines_.refuse("is not a known nccl-tests header");
    begin();
  }

  void begin() {
    if (operation_.empty())
      lines_.refuse("begins a table without naming the collective",
                    "name it with --operation all_reduce");
    open_ = true;
    job_.tool = "nccl_tests";
    job_.name = operation_;
    job_.device = "cuda";
    if (!program_.is_null()) sink_.facts(job_, Facts{"program", program_});
  }

  /// size, count, type, then redop and root if present, then one or two groups. A single group is
  /// in place: of a replayed trace.
  void row(const std::vector<std::string_view>& words) {
    const std::size_t count = words.size() - (table_.timestamp && words.size() >= 2 ? 2 : 0);
    const std::size_t groups = count > 2 * table_.group + 2 ? 2 : 1;
    const std::size_t left = count - groups * table_.group;
    if (count < table_.group + 3 || left < 3 || left > 5)
      lines_.refuse(fmt::format("has {} columns, unlike its table", words.size()));
    NcclMeasurement measured;
    std::int64_t elements = 0;
    if (!read_whole_number(words[0], measured.bytes) || !read_whole_number(words[1], elements) ||
        measured.bytes < 0 || elements < 0 || !is_plain_name(words[2]))
      lines_.refuse("does not begin with size, count and type");
    measured.type = words[2];
    for (std::size_t i = 3; i < left; ++i)
      if (!read_whole_number(words[i], measured.root)) measured.redop = words[i];
    for (std::size_t group = 0; group < groups; ++group) {
      measured.in_place = groups == 1 || group == 1;
      values(words, left + group * table_.group, measured);
    }
  }

  void values(const std::vector<std::string_view>& words, std::size_t at,
              NcclMeasurement& measured) {
    double time = 0.0, algbw = 0.0, busbw = 0.0, last = 0.0;
    if (words[at] == "N/A" || words[at] == "nan") return;  // not run in place
    const bool checked = words[at + 3] != "N/A" && words[at + 3] != "nan";
    if (!read_number(words[at], time) || !read_number(words[at + 1], algbw) ||
        !read_number(words[at + 2], busbw) || time < 0.0 || busbw < 0.0 ||
        (checked && !read_number(words[at + 3], last)))
      lines_.refuse("has non-numeric columns");
    measured.seconds = time * table_.seconds;
    measured.bus_bytes_per_s = busbw * 1e9;
    measured.wrong.reset();
    if (checked && table_.wrong) measured.wrong = last;
    add_nccl(job_, measured, series_);
  }

  /// Out of bounds values : 0 OK
  void end_table(std::string_view text) {
    if (!open_) lines_.refuse("ends a table that was not started");
    const auto words = words_of(text);
    if (words.size() != 7 && words.size() != 6) lines_.refuse("has no verdict");
    open_ = false;
    if (words.back() == "OK") return;
    sink_.ended(job_, Status::invalid, "nccl-tests: " + std::string(text));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  std::string operation_;
  ImportedJob job_;
  NcclTable table_;
  bool open_ = false;
  Json program_;
  std::size_t talk_ = 0;
  CollectedSeries series_;
};

// The JSON of nccl-tests (-J), version 3: booleans and NaN are strings, root is padded,
// out_of_place may be null, and the whole environment is included.

constexpr std::int64_t kKnownVersion = 3;
constexpr std::int64_t kMost = std::int64_t{1} << 60;

/// A number, or nothing for "nan".
std::optional<double> nccl_number(Fields& fields, const char* key) {
  const Json& value = fields.any(key);
  if (value.is_string() && value.get_ref<const std::string&>() == "nan") return {};
  const double number = fields.number(key);
  if (number < 0.0) fields.refuse(key, "a number >= 0", value);
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
      throw Error(ErrorKind::input, file_.name + ": no 'out_of_bounds': the run did not finish");
    for (const Json& result : top.array("results")) row(result);
    add_facts(top);
    series_.emit(sink_, file_.name, "nccl-tests");
    verdict(Fields(top.object("out_of_bounds"), file_.name, "/out_of_bounds"));
  }

 private:
  std::string operation(const Json& args) const {
    const std::string found = args.empty() || !args.front().is_string()
                                  ? std::string()
                                  : nccl_operation(args.front().get_ref<const std::string&>());
    if (!found.empty()) return found;
    if (!file_.operation.empty()) return file_.operation;
    throw Error(ErrorKind::input, file_.name + ": /args names no nccl-tests program",
                "name the collective with --operation all_reduce");
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
                    file_.name + ": /config/devices: " + excerpt(host) + " is not a host name");
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
    if (!read_whole_number(trim(root), measured.root))
      fields.refuse("root", "a whole number as a string", json["root"]);
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

  void add_facts(Fields& top) {
    Json program = {{"program", "nccl-tests"}, {"libraries", Json::object()}};
    if (const Json* version = top.find("nccl_version"); version != nullptr && version->is_number())
      program["libraries"]["nccl"] = dump(*version);
    sink_.facts(job_, Facts{"program", program});
    const Json* list = top.find("env");
    if (list == nullptr) return;
    const KeptEnvironment kept = harmless_environment(*list, file_.name);
    sink_.facts(job_, Facts{"imported_environment", kept.variables});
    sink_.note(fmt::format("{}: kept {} of {} environment variables; the others may hold secrets",
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

void import_nccl_tests(const ImportedFile& file, ImportSink& sink) {
  if (const auto document = leading_json(file.text, file.name))
    return NcclJson(file, sink).read(*document);
  NcclText(file, sink).read();
}

}  // namespace bench
