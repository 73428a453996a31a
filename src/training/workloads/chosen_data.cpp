#include "training/workloads/chosen_data.h"

namespace bench::training {
namespace {

Json names_of(const std::vector<std::filesystem::path>& files) {
  Json names = Json::array();
  for (const auto& file : files) names.push_back(file.string());
  return names;
}

}  // namespace

Json data_facts(const DataChoice& choice, std::uint64_t samples,
                std::optional<std::uint64_t> evaluation_samples) {
  return {{"kind", choice.from_files() ? "files" : "generated"},
          {"files", names_of(choice.train)},
          {"evaluation_files", names_of(choice.evaluation)},
          {"samples", samples},
          {"evaluation_samples", evaluation_samples ? Json(*evaluation_samples) : Json(nullptr)}};
}

}  // namespace bench::training
