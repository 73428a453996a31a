// What checkpoints cost a training that fails now and then.
#pragma once

#include "results/predictions/prediction.h"

namespace bench {

struct CheckpointQuestion {
  std::string model = {};
  double bytes = 0.0;             // of one checkpoint
  double bytes_per_second = 0.0;  // of all writers together
  std::string rate_source = {};
  double stall_s = 0.0;  // that the training waits; 0: as long as writing takes
  double device_mtbf_s = 0.0;
  int devices = 1;
  double restart_s = 0.0;   // from a failure to the first new step, without lost work
  double interval_s = 0.0;  // 0: the best one
};

/// The best interval (Daly's), the time of one checkpoint, and the share of time in which the
/// training advances (goodput).
Prediction predict_checkpoint(const CheckpointQuestion& question);

/// Young 1974: sqrt(2 C M). Seconds.
double young_interval(double checkpoint_s, double mtbf_s);
/// Daly 2006, eq. 37; M for C of 2 M or more.
double daly_interval(double checkpoint_s, double mtbf_s);
/// Useful share of the time: Daly 2006, eq. 20, for failures at random times.
double goodput(double interval_s, double checkpoint_s, double restart_s, double mtbf_s);

}  // namespace bench
