// Hostile answers of a model's server: read_answer() never throws, its problem is safe to print and
// short, its times are those of arrivals, in order.
#include <cstdint>
#include <string>

#include "core/text.h"
#include "probes/serving/answer.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;
using namespace bench;
using namespace bench::serving;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  // The first byte cuts the rest into parts, and is the hundreds of the status where that is even.
  const std::size_t part = data[0] / 2 + 1;
  RawAnswer raw{.status = data[0] % 2 == 0 ? 200 : 500};
  raw.body.assign(reinterpret_cast<const char*>(data) + 1, size - 1);
  for (std::size_t end = part; end - part < raw.body.size(); end += part)
    raw.arrivals.push_back({{static_cast<double>(end)}, std::min(end, raw.body.size())});
  const Answer answer = read_answer(raw);
  demand(printable(answer.problem) == answer.problem, "a problem that is not safe to print");
  demand(answer.problem.size() < 1024, "a long problem");
  demand(answer.times.size() <= size, "more tokens than bytes");
  demand(answer.problem.empty() == (!answer.times.empty() && raw.status == 200) ||
             !answer.problem.empty(),
         "an answer without text that counts");
  for (std::size_t i = 0; i < answer.times.size(); ++i)
    demand(answer.times[i].value >= (i == 0 ? 1.0 : answer.times[i - 1].value),
           "times that are out of order");
  return 0;
}
