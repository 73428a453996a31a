#include "runner/mlperf/mlperf_command.h"

namespace bench {

void add_mlperf(CLI::App& app, CommandResult& result) {
  CLI::App* mlperf =
      app.add_subcommand("mlperf", "Read, check, score, compare and package MLPerf Training logs");
  mlperf->require_subcommand(1);
  add_mlperf_check(*mlperf, result);
  add_mlperf_score(*mlperf, result);
  add_mlperf_scaling(*mlperf, result);
  add_mlperf_compare(*mlperf, result);
  add_mlperf_package(*mlperf, result);
}

}  // namespace bench
