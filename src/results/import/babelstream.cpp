// BabelStream: its table, or the rows of --csv. The lines before the table describe the run.
#include <fmt/format.h>

#include <algorithm>
#include <array>

#include "core/text.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"
#include "results/import/stated_unit.h"

namespace bench {
namespace {

constexpr std::array<std::string_view, 6> kKernels = {"Copy",  "Mul", "Add",
                                                      "Triad", "Dot", "Nstream"};

constexpr double kMostBytes = 1e18;

std::vector<std::string_view> comma_cells(std::string_view line) {
  auto cells = cells_of(line, ',');
  for (std::string_view& cell : cells) cell = trim(cell);
  return cells;
}

class BabelStream {
 public:
  BabelStream(const ImportedFile& file, ImportSink& sink)
      : lines_(file.text, file.name), sink_(sink) {
    job_.tool = "babelstream";
    job_.name = "babelstream";
  }

  void read() {
    while (lines_.next()) line(trim(lines_.line()));
    lines_.demand_whole();
    program_["program"] = "BabelStream";
    sink_.facts(job_, Facts{"program", program_});
    series_.emit(sink_, lines_.origin(), "BabelStream");
    if (!failure_.empty()) sink_.ended(job_, Status::invalid, failure_);
  }

 private:
  void line(std::string_view text) {
    if (text.empty()) return;
    if (text.starts_with("FAILED validation") || text.starts_with("Validation failed"))
      return void(failure_ = text.substr(0, 200));
    if (csv_) return csv_row(comma_cells(text));
    if (text.starts_with("function,num_times,")) return csv_header(comma_cells(text));
    const auto words = words_of(text);
    if (words[0] == "Function") return header(words);
    if (factor_ > 0.0) return row(words);
    head(text);
  }

  void head(std::string_view text) {
    if (const auto version = text_after(text, "Version:"); !version.empty())
      program_["version"] = version;
    for (const auto& [word, key] :
         {std::pair{"Implementation:", "implementation"}, std::pair{"Precision:", "precision"}})
      if (const auto found = text_after(text, word); is_plain_name(found)) params_[key] = found;
    if (const auto found = text_after(text, "Implementation:"); is_plain_name(found))
      job_.name = found;
    if (const auto size = text_after(text, "Array size:"); !size.empty()) array_size(size);
    if (text.starts_with("Using ") && text.find(" device ") != std::string_view::npos)
      job_.device = text.starts_with("Using CUDA") ? "cuda" : job_.device;
  }

  /// 268.4 MB (=0.3 GB)
  void array_size(const std::string& text) {
    const auto words = words_of(text);
    double value = 0.0;
    const auto unit = words.size() < 2 ? std::optional<StatedUnit>() : stated_unit(words[1]);
    if (!unit || unit->unit != Unit::byte || !read_number(words[0], value) || value <= 0.0)
      lines_.refuse("has no array size");
    params_["array_bytes"] = std::min(value * unit->factor, kMostBytes);
  }

  /// Function MBytes/sec Min (sec) Max Average
  void header(const std::vector<std::string_view>& words) {
    const auto unit = words.size() == 6 ? stated_unit(words[1]) : std::optional<StatedUnit>();
    if (!unit || unit->unit != Unit::byte_per_second || words[2] != "Min" || words[3] != "(sec)" ||
        words[4] != "Max" || words[5] != "Average")
      lines_.refuse("is not a known BabelStream header");
    factor_ = unit->factor;
  }

  void row(const std::vector<std::string_view>& words) {
    if (words.size() != 5) lines_.refuse("is not a table row");
    measured(words[0], params_, words[1], words[2], words[3], words[4]);
  }

  /// function,num_times,n_elements,sizeof,max_MB_per_sec,min_runtime,max_runtime,avg_runtime
  void csv_header(const std::vector<std::string_view>& cells) {
    constexpr std::string_view kFirst = "max_", kLast = "_per_sec";
    if (cells.size() != 8 || !cells[4].starts_with(kFirst) || !cells[4].ends_with(kLast) ||
        cells[4].size() <= kFirst.size() + kLast.size())
      lines_.refuse("is not a known BabelStream header");
    std::string unit(
        cells[4].substr(kFirst.size(), cells[4].size() - kFirst.size() - kLast.size()));
    if (unit == "mbytes") unit = "MB";  // until version 5
    if (unit == "mibytes") unit = "MiB";
    const auto found = stated_unit(unit);
    if (!found || found->unit != Unit::byte) lines_.refuse("has no known unit");
    factor_ = found->factor;
    csv_ = true;
  }

  void csv_row(const std::vector<std::string_view>& cells) {
    std::int64_t elements = 0, size = 0;
    if (cells.size() != 8 || !read_whole_number(cells[2], elements) ||
        !read_whole_number(cells[3], size) || elements < 1 || (size != 4 && size != 8))
      lines_.refuse("is not a table row");
    Json params = {{"precision", size == 4 ? "float" : "double"},
                   {"array_bytes", static_cast<double>(elements) * static_cast<double>(size)}};
    measured(cells[0], params, cells[4], cells[5], cells[6], cells[7]);
  }

  void measured(std::string_view kernel, Json params, std::string_view best,
                std::string_view shortest, std::string_view longest, std::string_view mean) {
    if (std::ranges::find(kKernels, kernel) == kKernels.end())
      lines_.refuse("is not a known BabelStream kernel");
    params["kernel"] = std::string(kernel);
    add("best_bandwidth", Unit::byte_per_second, Better::higher, params, best, factor_);
    add("shortest_time", Unit::second, Better::lower, params, shortest, 1.0);
    add("longest_time", Unit::second, Better::lower, params, longest, 1.0);
    add("mean_time", Unit::second, Better::lower, params, mean, 1.0);
  }

  void add(const std::string& metric, Unit unit, Better better, const Json& params,
           std::string_view text, double factor) {
    double value = 0.0;
    if (!read_number(text, value) || value < 0.0) lines_.refuse("has non-numeric columns");
    if (value > 0.0) series_.add(job_, one_value(metric, unit, better, params, value * factor));
  }

  ImportedLines lines_;
  ImportSink& sink_;
  ImportedJob job_;
  Json params_ = Json::object(), program_ = Json::object();
  double factor_ = 0.0;
  bool csv_ = false;
  std::string failure_;
  CollectedSeries series_;
};

}  // namespace

void import_babelstream(const ImportedFile& file, ImportSink& sink) {
  BabelStream(file, sink).read();
}

}  // namespace bench
