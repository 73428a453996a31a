// How often to save, given what a checkpoint costs and how often something fails. Young (CACM 17,
// 1974): sqrt(2 C M) of work between two. Daly (FGCS 22, 2006) adds terms for costs that are not
// small against M:
//   sqrt(2 C M) (1 + sqrt(C / 2M) / 3 + (C / 2M) / 9) - C   where C < 2 M, else M.
#pragma once

#include "core/units.h"

namespace bench::storage {

struct CheckpointInterval {
  Seconds young;  // of work between two checkpoints
  Seconds daly;
  double lost =
      0.0;  // share of the time lost at Daly's: to saving, to work done again, to restarts
};

/// `cost`: what training stands still for one; `mtbf`: mean time between failures of the whole job;
/// `restart`: until a failed job goes on, reading the checkpoint back included. The lost share is
/// to first order: C / (T + C) + (T / 2 + restart) / M, at most 1.
CheckpointInterval best_interval(Seconds cost, Seconds mtbf, Seconds restart);

}  // namespace bench::storage
