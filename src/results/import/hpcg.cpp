// HPCG: HPCG-Benchmark_*.txt, lines of GROUP::KEY=VALUE. As HPCG 3.1 writes them
// (src/ReportResults.cpp and src/OutputFile.cpp there).
#include <fmt/format.h>

#include <array>
#include <map>
#include <string>
#include <string_view>

#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

constexpr const char* kHpcgValid = "Final Summary::HPCG result is VALID with a GFLOP/s rating of";
constexpr const char* kHpcgInvalid = "Final Summary::HPCG result is";
constexpr const char* kHpcgShort = "Final Summary::Results are valid but execution time (sec) is";

struct HpcgValue {
  const char* key;
  const char* metric;
  Unit unit;
  Better better;
  double factor;
  const char* kernel;  // a parameter; empty: the whole benchmark
};

constexpr std::array<HpcgValue, 10> kHpcgValues{{
    {kHpcgValid, "throughput", Unit::flop_per_second, Better::higher, 1e9, ""},
    {"GFLOP/s Summary::Raw Total", "raw_throughput", Unit::flop_per_second, Better::higher, 1e9,
     ""},
    {"GFLOP/s Summary::Raw DDOT", "kernel_throughput", Unit::flop_per_second, Better::higher, 1e9,
     "ddot"},
    {"GFLOP/s Summary::Raw WAXPBY", "kernel_throughput", Unit::flop_per_second, Better::higher, 1e9,
     "waxpby"},
    {"GFLOP/s Summary::Raw SpMV", "kernel_throughput", Unit::flop_per_second, Better::higher, 1e9,
     "spmv"},
    {"GFLOP/s Summary::Raw MG", "kernel_throughput", Unit::flop_per_second, Better::higher, 1e9,
     "mg"},
    {"GB/s Summary::Raw Total B/W", "modelled_bandwidth", Unit::byte_per_second, Better::higher,
     1e9, ""},
    {"Benchmark Time Summary::Total", "time", Unit::second, Better::none, 1.0, ""},
    {"Benchmark Time Summary::Optimization phase", "optimization_time", Unit::second, Better::lower,
     1.0, ""},
    {"DDOT Timing Variations::Avg DDOT MPI_Allreduce time", "allreduce_time", Unit::second,
     Better::lower, 1.0, ""},
}};

constexpr std::array<std::pair<const char*, const char*>, 7> kHpcgParams{{
    {"Global Problem Dimensions::Global nx", "nx"},
    {"Global Problem Dimensions::Global ny", "ny"},
    {"Global Problem Dimensions::Global nz", "nz"},
    {"Processor Dimensions::npx", "npx"},
    {"Processor Dimensions::npy", "npy"},
    {"Processor Dimensions::npz", "npz"},
    {"Machine Summary::Threads per processes", "threads"},
}};

class HpcgText {
 public:
  HpcgText(const ImportedFile& file, ImportSink& sink) : lines_(file.text, file.name), sink_(sink) {
    job_.tool = "hpcg";
    job_.name = "hpcg";
  }

  void read() {
    if (!lines_.next() || trim(lines_.line()) != "HPCG-Benchmark")
      throw Error(ErrorKind::input, lines_.origin() + ": the first line is not 'HPCG-Benchmark'",
                  "give the file HPCG-Benchmark_3.1_DATE.txt that HPCG 3.1 writes");
    while (lines_.next())
      if (const auto text = trim(lines_.line()); !text.empty()) line(text);
    lines_.demand_whole();
    const std::string wrong = why_invalid();
    job_.ranks = static_cast<int>(whole("Machine Summary::Distributed Processes"));
    sink_.facts(job_, Facts{"program", {{"program", "HPCG"}, {"version", value("version")}}});
    for (const HpcgValue& one : kHpcgValues) add(one, wrong);
    series_.emit(sink_, lines_.origin(), "HPCG");
    if (!wrong.empty()) sink_.ended(job_, Status::invalid, wrong);
    if (values_.contains(kHpcgShort))
      sink_.note(fmt::format("{}: HPCG ran for {} s only, too short for an official result",
                             lines_.origin(), printable(value(kHpcgShort))));
  }

 private:
  void line(std::string_view text) {
    const std::size_t equals = text.find('=');
    if (equals == std::string_view::npos) lines_.refuse("is not a line of KEY=VALUE");
    // Groups of coarse grids repeat their keys; the first is kept.
    values_.emplace(trim(text.substr(0, equals)), trim(text.substr(equals + 1)));
  }

  std::string value(const std::string& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? std::string() : found->second;
  }

  std::int64_t whole(const std::string& key) const {
    constexpr std::int64_t kMostOfHpcg = 1'000'000'000;
    std::int64_t number = 0;
    if (!read_whole_number(value(key), number) || number < 0 || number > kMostOfHpcg)
      throw Error(ErrorKind::input, fmt::format("{}: '{}' is '{}', not a whole number",
                                                lines_.origin(), key, printable(value(key))));
    return number;
  }

  /// Empty if the result is valid.
  std::string why_invalid() const {
    if (values_.contains(kHpcgValid)) return {};
    if (!values_.contains(kHpcgInvalid))
      lines_.refuse("is the last line, but no 'Final Summary' states whether the result is valid",
                    "the file is truncated; import a complete one");
    std::string groups;
    for (const auto& [key, result] : values_)
      if (key.ends_with("::Result") && result != "PASSED")
        groups += (groups.empty() ? ": " : ", ") + key.substr(0, key.size() - 8);
    std::string verdict = printable(value(kHpcgInvalid));  // "INVALID."
    if (verdict.ends_with('.')) verdict.pop_back();
    return "HPCG: the result is " + verdict + groups;
  }

  void add(const HpcgValue& one, const std::string& wrong) {
    const std::string text = value(one.key);
    double number = 0.0;
    // A kernel of no measurable time has the rate inf.
    if (text.empty() || text == "inf" || text == "nan" || text == "-nan") return;
    if (!read_number(text, number) || number < 0.0)
      throw Error(ErrorKind::input, fmt::format("{}: '{}' is '{}', not a number >= 0",
                                                lines_.origin(), one.key, printable(text)));
    if (number == 0.0) return;
    Json params = Json::object();
    for (const auto& [key, name] : kHpcgParams) params[name] = whole(key);
    if (one.kernel[0] != '\0') params["kernel"] = one.kernel;
    Samples samples = one_value(one.metric, one.unit, one.better, params, number * one.factor);
    mark_invalid(samples, wrong);
    series_.add(job_, std::move(samples));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  ImportedJob job_;
  std::map<std::string, std::string> values_;
  CollectedSeries series_;
};

}  // namespace

void import_hpcg(const ImportedFile& file, ImportSink& sink) { HpcgText(file, sink).read(); }

}  // namespace bench
