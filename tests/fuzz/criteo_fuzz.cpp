// Hostile click logs: each line is refused with an Error or gives a sample whose ids lie in their
// tables; lines by number are those in order.
#include <cmath>
#include <cstdint>
#include <vector>

#include "core/error.h"
#include "tests/fuzz/demand.h"
#include "training/sources/criteo.h"

using bench::fuzz::demand;
using namespace bench::training;

namespace {

void check_sample(const CriteoLine& line) {
  static const std::vector<std::int64_t> kRows(kCriteoWords, 1000);
  std::vector<float> dense(kCriteoIntegers);
  std::vector<std::int32_t> ids(kCriteoWords);
  ClickSample sample{.dense = dense, .ids = ids};
  fill(sample, line, kRows);
  for (const float value : dense) demand(std::isfinite(value) && value >= 0, "an odd feature");
  for (const std::int32_t id : ids) demand(id >= 0 && id < 1000, "an id outside of its table");
}

/// False at the end of the text.
bool read_one(CriteoReader& reader) try {
  const auto line = reader.next();
  if (line) check_sample(*line);
  return line.has_value();
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
  return true;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  CriteoReader reader(text, "fuzz");
  std::uint64_t lines = 0;
  while (read_one(reader)) ++lines;
  demand(lines <= size, "more lines than bytes");
  CriteoReader skipping(text, "fuzz");
  skipping.skip(lines);
  demand(!read_one(skipping), "a line that skipping missed");
  return 0;
}
