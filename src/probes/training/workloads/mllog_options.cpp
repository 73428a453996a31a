#include "probes/training/workloads/mllog_options.h"

namespace bench::training {

Json mllog_options(const AdamwOptions& options) {
  return {{"opt_name", "adamw"},
          {"opt_adamw_beta_1", options.beta1},
          {"opt_adamw_beta_2", options.beta2},
          {"opt_adamw_epsilon", options.epsilon},
          {"opt_adamw_weight_decay", options.decay}};
}

}  // namespace bench::training
