// What an accelerator does with a batch, or what stands for it.
#pragma once

#include <functional>

#include "core/units.h"

namespace bench::data {

/// Does one step's work; when it returns, the step is done.
using Step = std::function<void()>;

/// Sleeps until so long after it was called, by an absolute time: what the kernel sleeps too long
/// in one step is told, and does not add up. No step at all for 0.
Step sleeping_step(Seconds length);

}  // namespace bench::data
