#include "probes/shared/instruction_rate.h"

#include <array>
#include <cmath>

namespace bench {

double nearest_rate(double instructions_per_cycle) {
  constexpr std::array kRates{1.0 / 16, 1.0 / 8, 1.0 / 4, 1.0 / 2, 1.0, 2.0, 3.0, 4.0};
  double nearest = kRates.front();
  for (const double rate : kRates)
    if (std::abs(instructions_per_cycle / rate - 1) <
        std::abs(instructions_per_cycle / nearest - 1))
      nearest = rate;
  return nearest;
}

Check rate_check(double instructions_per_cycle) {
  constexpr double kTolerance = 0.025;
  return {"whole number of instructions per cycle",
          std::abs(instructions_per_cycle / nearest_rate(instructions_per_cycle) - 1), kTolerance};
}

}  // namespace bench
