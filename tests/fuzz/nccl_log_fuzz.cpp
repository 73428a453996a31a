// A log that NCCL, or whatever writes into it, could have written: read without harm, and what
// comes out are short words and small numbers.
#include <cstdint>
#include <string_view>

#include "devices/nccl/nccl_environment.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

void try_line(std::string_view line) {
  if (const auto choice = bench::tuning_choice(line)) {
    demand(!choice->algorithm.empty(), "an algorithm without a name");
    demand(choice->algorithm.size() <= line.size() + 20, "a name longer than the line");
    demand(!choice->channels || *choice->channels >= 0, "a negative number of channels");
  }
  bench::UsedPaths paths;
  bench::note_paths(line, paths);
  demand(paths.transports.size() <= 2, "one line tells of one transport, and NVLS");
  for (const std::string& name : paths.network_cards)
    demand(!name.empty() && name.find('\n') == std::string::npos, "a card with an odd name");
  const bench::UsedPaths back = bench::used_paths_from_json(bench::to_json(paths));
  demand(back.transports == paths.transports && back.network_cards == paths.network_cards,
         "paths change in JSON");
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  try_line({reinterpret_cast<const char*>(data), size});
  return 0;
}
