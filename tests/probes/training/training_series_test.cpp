#include "probes/training/training_series.h"

#include <cstdint>
#include <utility>

#include "tests/support/catch.h"

namespace bench {

TEST_CASE("rates are of whole periods of local steps, each with its exchange") {
  using training::ExchangeKind;
  const auto of = [](std::int64_t steps, std::int64_t every, std::int64_t period) {
    training::ExchangeMethod method;
    if (period > 0) method = {.kind = ExchangeKind::local, .local_steps = period};
    const RateWindows windows = rate_windows(steps, every, method);
    return std::pair(windows.first, windows.length);
  };
  CHECK(of(128, 0, 0) == std::pair<std::int64_t, std::int64_t>(10, 10));
  CHECK(of(128, 0, 32) == std::pair<std::int64_t, std::int64_t>(32, 32));
  CHECK(of(128, 0, 4) == std::pair<std::int64_t, std::int64_t>(12, 12));
  CHECK(of(128, 48, 16) == std::pair<std::int64_t, std::int64_t>(16, 48));
  CHECK(of(8, 0, 32) == std::pair<std::int64_t, std::int64_t>(0, 8));
  CHECK(of(0, 0, 0).second == 1);
}

}  // namespace bench
