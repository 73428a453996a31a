#include "runner/dispatch/environment.h"

#include <algorithm>
#include <array>
#include <sstream>
#include <string_view>

namespace bench {
namespace {

constexpr std::array<std::string_view, 11> kPrefixes = {"OMP_", "GOMP_",     "OMPI_MCA_", "NCCL_",
                                                        "UCX_", "OPENBLAS_", "DNNL_",     "ONEDNN_",
                                                        "MKL_", "KMP_",      "PMIX_MCA_"};
constexpr std::array<std::string_view, 9> kNames = {"CUDA_VISIBLE_DEVICES",
                                                    "SLURM_JOB_ID",
                                                    "SLURM_JOB_NODELIST",
                                                    "LD_PRELOAD",
                                                    "LD_BIND_NOW",
                                                    "MALLOC_ARENA_MAX",
                                                    "TZ",
                                                    "LANG",
                                                    "LC_ALL"};

bool is_kept(std::string_view name) {
  return std::ranges::find(kNames, name) != kNames.end() ||
         std::ranges::any_of(kPrefixes, [&](auto prefix) { return name.starts_with(prefix); });
}

}  // namespace

Json kept_environment(const char* const* variables) {
  Json kept = Json::object();
  for (; *variables != nullptr; ++variables) {
    const std::string_view entry = *variables;
    const auto equals = entry.find('=');
    if (equals != std::string_view::npos && is_kept(entry.substr(0, equals)))
      kept[std::string(entry.substr(0, equals))] = entry.substr(equals + 1);
  }
  return kept;
}

Json kept_command() {
  Json command = Json::array();
  std::istringstream words(read_file("/proc/self/cmdline"));
  for (std::string word; std::getline(words, word, '\0');) command.push_back(word);
  return command;
}

}  // namespace bench
