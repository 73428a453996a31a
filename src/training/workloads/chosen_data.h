// The opened data of a DataChoice: a source, and the order of its training samples if they are
// finite. A workload holds one for everything that depends on the choice.
#pragma once

#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/error.h"
#include "training/workloads/workload.h"

namespace bench::training {

/// For a workload that trains on generated `samples` ("scenes") only: throws Error(input) if files,
/// or options that only files have, were chosen; `instead` ends the advice.
inline void require_generated(const DataChoice& choice, const std::string& workload,
                              const std::string& samples, const std::string& instead = "") {
  if (choice.from_files() || choice.vocabulary > 0 || choice.table_rows > 0)
    throw Error(ErrorKind::input,
                "workload " + workload + " trains on generated " + samples + " only",
                "remove data, vocabulary and table_rows" + instead);
}

/// Workload::data(); `evaluated`: none if endless.
inline Json data_facts(const DataChoice& choice, std::uint64_t samples,
                       std::optional<std::uint64_t> evaluated) {
  const auto names_of = [](const std::vector<std::filesystem::path>& files) {
    Json names = Json::array();
    for (const auto& file : files) names.push_back(file.string());
    return names;
  };
  return {{"kind", choice.from_files() ? "files" : "generated"},
          {"files", names_of(choice.train)},
          {"evaluation_files", names_of(choice.evaluation)},
          {"samples", samples},
          {"evaluation_samples", evaluated ? Json(*evaluated) : Json(nullptr)}};
}

template <class Source>
class ChosenData {
 public:
  /// Takes `all`. `InEpochs` is the finite form of the source (sources/finite.h). Throws
  /// Error(usage) if more samples are requested than available.
  template <class InEpochs>
  static ChosenData in_order(std::unique_ptr<Source> all, const DataChoice& choice,
                             std::uint64_t seed) {
    ChosenData data;
    data.choice_ = choice;
    data.all_ = std::move(all);
    if (choice.is_finite()) {
      const std::uint64_t size =
          choice.samples > 0 ? choice.samples : data.all_->size(Split::train).value();
      data.in_epochs_ = std::make_unique<InEpochs>(*data.all_, size, seed);
    }
    return data;
  }

  const Source& source() const { return in_epochs_ ? *in_epochs_ : *all_; }
  bool from_files() const { return choice_.from_files(); }
  bool repeats() const { return choice_.is_finite(); }
  bool knows_floor() const { return source().has_oracle(); }
  /// Workload::data().
  Json facts() const {
    if (!repeats()) return nullptr;
    return data_facts(choice_, source().size(Split::train).value(),
                      source().size(Split::evaluation));
  }
  /// Adapts a preset's recipe to this data: evaluation samples are limited to those available, and
  /// a target found on other data is provisional, or removed if the floor is unknown.
  Recipe fit(Recipe recipe) const {
    if (const auto there = source().size(Split::evaluation))
      recipe.evaluation_samples =
          std::min(recipe.evaluation_samples, static_cast<std::int64_t>(*there));
    if (repeats()) recipe.target_source.clear();
    if (!knows_floor()) recipe.target.reset();
    return recipe;
  }

 private:
  DataChoice choice_ = {};
  std::unique_ptr<Source> all_ = {}, in_epochs_ = {};
};

}  // namespace bench::training
