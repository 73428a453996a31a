// The records of a profile: facts of topic "profile", and tables as chunks "profile_...".
#pragma once

#include "probes/state.h"
#include "training/trainer/step_profile.h"

namespace bench {

void write_profile(State& state, const training::StepProfile& profile);

}  // namespace bench
