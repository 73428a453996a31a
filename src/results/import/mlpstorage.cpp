// MLPerf Storage: summary.json of a run, which DLIO writes. As DLIO's branch mlperf_storage_v2.0
// writes it (dlio_benchmark/utils/statscounter.py there).
#include <fmt/format.h>

#include <array>
#include <sstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "core/fields.h"
#include "core/text.h"
#include "core/time.h"
#include "results/import/collected_series.h"
#include "results/import/imported_lines.h"
#include "results/import/importers.h"

namespace bench {
namespace {

// It divides by powers of 1024 throughout, and calls the results MB and GB.
constexpr double kStorageMebibytes = 1048576.0;
constexpr double kStorageGibibytes = 1073741824.0;

struct StorageValue {
  const char* key;
  const char* metric;  // empty: derived from another
  Unit unit = Unit::hertz;
  Better better = Better::higher;
  double factor = 1.0;
};

/// Of "train_" and "eval_"; lists have a value an epoch.
constexpr std::array<StorageValue, 8> kEpochValues{{
    {"au_percentage", "accelerator_utilization", Unit::ratio, Better::higher, 0.01},
    {"au_mean_percentage", ""},
    {"au_stdev_percentage", ""},
    {"throughput_samples_per_second", "throughput"},
    {"throughput_mean_samples_per_second", ""},
    {"throughput_stdev_samples_per_second", ""},
    {"io_mean_MB_per_second", "bandwidth", Unit::byte_per_second, Better::higher,
     kStorageMebibytes},
    {"io_stdev_MB_per_second", ""},
}};

/// Of "save_checkpoint_" and "load_checkpoint_".
constexpr std::array<StorageValue, 4> kCheckpointValues{{
    {"io_mean_GB_per_second", "bandwidth", Unit::byte_per_second, Better::higher,
     kStorageGibibytes},
    {"io_stdev_GB_per_second", ""},
    {"duration_mean_seconds", "time", Unit::second, Better::lower},
    {"duration_stdev_seconds", ""},
}};

/// Python writes NaN, which is no JSON: the mean of no checkpoints.
std::string without_nan(const std::string& text) {
  std::string whole;
  bool quoted = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (quoted && text[i] == '\\' && i + 1 < text.size()) {
      whole += text[i++];
    } else if (text[i] == '"') {
      quoted = !quoted;
    } else if (!quoted && text.compare(i, 3, "NaN") == 0) {
      whole += "null";
      i += 2;
      continue;
    }
    whole += text[i];
  }
  return whole;
}

class StorageSummary {
 public:
  StorageSummary(const ImportedFile& file, ImportSink& sink) : file_(file), sink_(sink) {
    job_.tool = "mlpstorage";
    job_.name = "dlio";
  }

  void read(const Json& document) {
    Fields top(document, file_.name);
    constexpr std::int64_t kMostAccelerators = 10'000'000;
    job_.ranks = static_cast<int>(top.integer("num_accelerators", 1, kMostAccelerators));
    const std::int64_t hosts = top.integer("num_hosts", 1, kMostAccelerators);
    const std::string host = top.text_or("hostname", "");  // of the first rank
    if (hosts == 1 && is_host_name(host) && host != "localhost") job_.hosts = {host};
    job_.time_ns = start(top.text("start"));
    top.text("end");
    params_["hosts"] = hosts;
    for (const char* key : {"num_files_train", "num_samples_per_file"})
      if (top.find(key) != nullptr) params_[key] = top.integer(key, 0, INT64_MAX);
    metrics(top);
    sink_.facts(job_, Facts{"program", {{"program", "DLIO"}}});
    series_.emit(sink_, file_.name, "MLPerf Storage");
    caching(top);
  }

 private:
  /// Local time without a zone, taken as UTC; nearer than the time of a copied file.
  static std::int64_t start(const std::string& text) {
    try {
      return parse_time(text.substr(0, 19) + "Z");
    } catch (const Error&) {
      return 0;
    }
  }

  void metrics(Fields& top) {
    const Json& all = top.object("metric");
    std::size_t known = 0;
    for (const char* phase : {"train_", "eval_"}) {
      const std::string meets = std::string(phase) + "au_meet_expectation";
      const auto verdict = all.find(meets);
      const std::string wrong =
          verdict == all.end() || *verdict == "success"
              ? ""
              : fmt::format("MLPerf Storage: {} is '{}': the accelerators waited for data too long",
                            meets, printable(text_of(*verdict)));
      known += verdict == all.end() ? 0 : 1;
      for (const StorageValue& one : kEpochValues) known += value(all, phase, one, wrong);
      if (!wrong.empty()) sink_.ended(job_, Status::invalid, wrong);
    }
    for (const char* phase : {"save_checkpoint_", "load_checkpoint_"})
      for (const StorageValue& one : kCheckpointValues) known += value(all, phase, one, "");
    known += all.contains("checkpoint_size_GB") ? 1 : 0;
    if (known != all.size())
      throw Error(ErrorKind::input,
                  fmt::format("{}: /metric has {} unknown keys, such as '{}'", file_.name,
                              all.size() - known, printable(unknown(all))),
                  "import the summary.json of DLIO as MLPerf Storage 2.0 runs it");
  }

  static std::string unknown(const Json& all) {
    for (const auto& [key, value] : all.items()) {
      bool known = key == "checkpoint_size_GB";
      for (const std::string phase : {"train_", "eval_"}) {
        known |= key == phase + "au_meet_expectation";
        for (const StorageValue& one : kEpochValues) known |= key == phase + one.key;
      }
      for (const std::string phase : {"save_checkpoint_", "load_checkpoint_"})
        for (const StorageValue& one : kCheckpointValues) known |= key == phase + one.key;
      if (!known) return key;
    }
    return {};
  }

  /// How many keys it took: 0 or 1.
  std::size_t value(const Json& all, const std::string& phase, const StorageValue& one,
                    const std::string& wrong) {
    const std::string key = phase + one.key;
    const auto found = all.find(key);
    if (found == all.end()) return 0;
    if (one.metric[0] == '\0' || found->is_null()) return 1;
    Samples samples = one_value(phase + one.metric, one.unit, one.better, params_, 0.0);
    samples.values.clear();
    for (const Json& number : found->is_array() ? *found : Json::array({*found})) {
      if (!number.is_number() || number.get<double>() < 0.0)
        throw Error(ErrorKind::input,
                    fmt::format("{}: /metric/{}: expected numbers >= 0, but got {}", file_.name,
                                key, excerpt(number)));
      samples.values.push_back(
          one_value(key, one.unit, one.better, params_, number.get<double>() * one.factor)
              .values.front());
    }
    samples.flags.assign(samples.values.size(), kClean);
    mark_invalid(samples, wrong);
    if (!samples.values.empty()) series_.add(job_, std::move(samples));
    return 1;
  }

  void caching(Fields& top) {
    const Json* hosts = top.find("potential_caching");
    if (hosts == nullptr || !hosts->is_array()) return;
    for (const Json& one : *hosts)
      if (one == 1)
        return sink_.note(file_.name +
                          ": the data set fits into the memory of a host: reads may "
                          "come from its cache");
  }

  const ImportedFile& file_;
  ImportSink& sink_;
  ImportedJob job_;
  Json params_ = Json::object();
  CollectedSeries series_;
};

}  // namespace

void import_mlpstorage(const ImportedFile& file, ImportSink& sink) {
  std::ostringstream text;
  text << file.text.rdbuf();
  StorageSummary(file, sink).read(parse_json(without_nan(text.str()), file.name));
}

}  // namespace bench
