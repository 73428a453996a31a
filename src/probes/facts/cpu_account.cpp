#include "probes/facts/cpu_account.h"

#include <unistd.h>

#include <array>
#include <numeric>
#include <sstream>

namespace bench {

double tick_seconds() { return 1.0 / static_cast<double>(sysconf(_SC_CLK_TCK)); }

std::optional<CpuAccount> read_cpu_account(const SystemFiles& files) {
  constexpr std::size_t kFirstLine = 4096;
  const auto line = field(files.text("proc/stat", kFirstLine).value_or(""), "cpu");
  std::istringstream in(line.value_or(""));
  std::array<double, 8> seconds{};  // user nice system idle iowait irq softirq steal
  for (double& one : seconds) {
    if (!(in >> one)) return {};
    one *= tick_seconds();
  }
  return CpuAccount{seconds[0] + seconds[1] + seconds[2], seconds[4], seconds[7],
                    std::accumulate(seconds.begin(), seconds.end(), 0.0)};
}

}  // namespace bench
