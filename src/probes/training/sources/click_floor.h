// What figures on a click source mean: the best attainable, and what models that lack something
// reach.
#pragma once

#include <cstdint>

#include "probes/training/sources/click_source.h"

namespace bench::training {

struct ClickFloor {
  double click_rate = 0;        // mean of the true probabilities
  double log_loss = 0;          // of the labels, by the true probabilities (nats): the floor
  double blind_log_loss = 0;    // the same, by the labels' mean: no features
  double auc = 0;               // expected, by the true probabilities: the ceiling
  double main_effects_auc = 0;  // expected, by every feature alone
};

/// Of evaluation samples 0 to `samples` - 1 of a source that has an oracle.
ClickFloor floor_of(const ClickSource& source, std::uint64_t samples);

}  // namespace bench::training
