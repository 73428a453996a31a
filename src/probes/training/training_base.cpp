#include "probes/training/training_base.h"

#include <filesystem>
#include <string>

#include "core/child_process.h"
#include "training/engine/content_hash.h"

namespace bench {
namespace {

/// $XDG_CACHE_HOME/benchctl or ~/.cache/benchctl; empty if there is no home folder.
std::filesystem::path user_cache() {
  const auto absolute = [](const char* name) -> std::filesystem::path {
    const std::filesystem::path path = environment_variable(name);
    return path.is_absolute() ? path : std::filesystem::path();
  };
  if (const auto cache = absolute("XDG_CACHE_HOME"); !cache.empty()) return cache / "benchctl";
  const auto home = absolute("HOME");
  return home.empty() ? home : home / ".cache" / "benchctl";
}

}  // namespace

std::filesystem::path base_cache(const State& state) {
  if (!state.has("base_cache")) return {};
  const std::string folder = state.text("base_cache");
  return folder.empty() ? user_cache() : std::filesystem::path(folder);
}

Json base_facts(const training::Pretrained* base) {
  if (base == nullptr) return nullptr;
  return {{"hash", training::hash_text(base->hash)},
          {"gap", base->gap},
          {"unadapted_gap", base->unadapted},
          {"seconds", base->seconds},
          {"read", base->read},
          {"file", base->file.empty() ? Json(nullptr) : Json(base->file.string())},
          {"problem", base->problem.empty() ? Json(nullptr) : Json(base->problem)}};
}

}  // namespace bench
