// The way of batches to the device, inside the loop.
#pragma once

#include <memory>
#include <string>

#include "probes/device/copies.h"
#include "probes/procedures/data_loader_setup.h"
#include "probes/procedures/data_loader_step.h"
#include "probes/state.h"

namespace bench {

struct Transfer {
  std::unique_ptr<Uploads> uploads = {};  // null: batches stay in the host's memory
  std::string reason = {};                // why they do; "" where nobody asked for more
  bool overlapped = true;                 // a batch travels while the step before its own runs
  bool locked = false;                    // the device reads by itself; else this thread copies too
  Seconds time = {};                      // of a batch, with nothing alongside it

  /// What a step of this length does not hide of it.
  Seconds exposed_by(Seconds step) const;
  /// The step with batches on their way alongside it.
  LoopStep with(LoopStep step) const;
};

/// By the job's parameter `transfer`; writes how long a batch travels.
Transfer make_transfer(State& state, const DataLoaderSetup& setup,
                       const data::LoaderOptions& options);

}  // namespace bench
