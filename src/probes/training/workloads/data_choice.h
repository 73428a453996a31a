// Which samples a workload is trained on and judged by, where a job names them: files instead of
// generated ones, and how many there are.
#pragma once

#include <algorithm>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <vector>

#include "core/json.h"
#include "probes/training/sources/random.h"

namespace bench::training {

struct DataChoice {
  std::vector<std::filesystem::path> train = {};  // none: samples are generated
  std::vector<std::filesystem::path> evaluation = {};
  int vocabulary = 0;           // of tokens; 0: what their files say
  std::int64_t table_rows = 0;  // of every table of click logs; 0: what files or preset say
  std::uint64_t samples = 0;    // so many different ones to train on; 0: all that there are

  bool from_files() const { return !train.empty(); }
  /// Whether training samples come again, epoch by epoch.
  bool ends() const { return from_files() || samples > 0; }
};

/// What was opened for a choice: a source, and the order of its training samples where they end.
template <class Source>
class ChosenData {
 public:
  /// Takes `all`. `InEpochs` is the finite form of the source (sources/finite.h). Throws
  /// Error(usage) where fewer samples are there than are asked for.
  template <class InEpochs>
  static ChosenData in_order(std::unique_ptr<Source> all, const DataChoice& choice,
                             std::uint64_t seed) {
    ChosenData data;
    data.all_ = std::move(all);
    if (choice.ends()) {
      const std::uint64_t size =
          choice.samples > 0 ? choice.samples : data.all_->size(Split::train).value();
      data.in_epochs_ = std::make_unique<InEpochs>(*data.all_, size, seed);
    }
    return data;
  }

  const Source& source() const { return in_epochs_ ? *in_epochs_ : *all_; }
  /// How many samples of so many that an evaluation wants there are.
  std::int64_t evaluated(std::int64_t wanted) const {
    const auto there = source().size(Split::evaluation);
    return there ? std::min(wanted, static_cast<std::int64_t>(*there)) : wanted;
  }
  /// {"kind": "files" or "generated", "files", "evaluation_files", "samples",
  /// "evaluation_samples"}; null for generated samples that never end.
  Json facts(const DataChoice& choice) const;

 private:
  std::unique_ptr<Source> all_ = {}, in_epochs_ = {};
};

Json chosen_data_facts(const DataChoice& choice, std::optional<std::uint64_t> samples,
                       std::optional<std::uint64_t> evaluation_samples);

template <class Source>
Json ChosenData<Source>::facts(const DataChoice& choice) const {
  return chosen_data_facts(choice, source().size(Split::train), source().size(Split::evaluation));
}

}  // namespace bench::training
