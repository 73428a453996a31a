// The pretrained base of a job of the probe `training` whose workload adapts one: where it is kept,
// and its facts.
#pragma once

#include <filesystem>

#include "probes/state.h"
#include "training/trainer/pretraining.h"

namespace bench {

/// The folder that keeps bases, by the parameter base_cache: the user's cache folder for "", none
/// (empty) if it is null or there is no home folder.
std::filesystem::path base_cache(const State& state);

/// {"hash", "gap", "unadapted_gap", "seconds", "read", "file", "problem"}; null without a base.
Json base_facts(const training::Pretrained* base);

}  // namespace bench
