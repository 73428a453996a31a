// What Slurm, or whatever stands in its place, may say: read without harm; what comes out are
// counts and numbers that can be words of a command line.
#include <algorithm>
#include <cstdint>
#include <string_view>

#include "core/error.h"
#include "runner/hosts/allocation.h"
#include "runner/launch/slurm_allocation.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

constexpr std::size_t kNodes = 1000;

void try_cpus(std::string_view text) try {
  const auto counts = bench::expand_cpus_per_node(text, kNodes);
  demand(!counts.empty() && counts.size() <= kNodes, "a list of no or too many nodes");
  demand(std::ranges::all_of(counts, [](int count) { return count >= 1; }), "a node without CPUs");
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, "another kind of error");
}

void try_salloc(std::string_view text) {
  const bench::SallocOutput output = bench::parse_salloc(text);
  for (const std::string& job : {output.granted, output.pending})
    demand(job.empty() || bench::is_job_number(job), "a job without a number");
  demand(std::ranges::none_of(output.error, [](char c) { return c >= 0 && c < ' '; }),
         "a control character in an error");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text{reinterpret_cast<const char*>(data), size};
  try_cpus(text);
  try_salloc(text);
  return 0;
}
