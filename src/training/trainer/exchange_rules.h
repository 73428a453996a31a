// What exchanges of data-parallel ranks can be combined with.
#pragma once

#include <string>

#include "training/trainer/trainer.h"

namespace bench::training {

/// Why so many ranks cannot exchange by options.parallel.method; "" if they can. `on_host`: whether
/// the host trains.
std::string why_not_exchanged(const TrainerOptions& options, Workload& workload, int ranks,
                              bool on_host);

/// Throws Error(input) with that reason, or for an interval of evaluations or checkpoints that is
/// not a multiple of the period of local steps.
void check_exchange(const TrainerOptions& options, Workload& workload, int ranks);

/// With local steps, evaluations and checkpoints need a common model: their intervals become the
/// next multiples of the period.
void round_to_periods(TrainerOptions& options);

/// `steps` rounded up to a multiple of the period, if steps are local.
std::int64_t rounded_to_period(std::int64_t steps, const ExchangeMethod& method);

}  // namespace bench::training
