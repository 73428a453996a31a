#include "probes/training/workloads/data_choice.h"

namespace bench::training {
namespace {

Json names_of(const std::vector<std::filesystem::path>& files) {
  Json names = Json::array();
  for (const auto& file : files) names.push_back(file.string());
  return names;
}

Json or_null(std::optional<std::uint64_t> count) { return count ? Json(*count) : Json(nullptr); }

}  // namespace

Json chosen_data_facts(const DataChoice& choice, std::optional<std::uint64_t> samples,
                       std::optional<std::uint64_t> evaluation_samples) {
  if (!choice.ends()) return nullptr;
  return {{"kind", choice.from_files() ? "files" : "generated"},
          {"files", names_of(choice.train)},
          {"evaluation_files", names_of(choice.evaluation)},
          {"samples", or_null(samples)},
          {"evaluation_samples", or_null(evaluation_samples)}};
}

}  // namespace bench::training
