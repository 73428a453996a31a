// Hostile click logs: the reader with short cuts reads what the exact one reads, or both refuse.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <optional>
#include <string>

#include "core/error.h"
#include "probes/data/formats/criteo_rows.h"
#include "tests/fuzz/demand.h"
#include "training/sources/criteo.h"

using bench::fuzz::demand;

namespace {

std::int32_t clamped(std::int64_t value) {
  using Limits = std::numeric_limits<std::int32_t>;
  return static_cast<std::int32_t>(std::clamp<std::int64_t>(value, Limits::min(), Limits::max()));
}

/// What is wrong; "" where a line was read or none was left.
template <class Read>
std::string trouble(Read read) try {
  read();
  return "";
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, "an error of another kind");
  return error.what();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  const std::string path = "fuzz";
  bench::data::CriteoRowReader quick(text, path, 1);
  bench::training::CriteoReader exact(text, path);
  while (true) {
    bench::data::CriteoRow row;
    std::optional<bench::training::CriteoLine> line;
    std::size_t read = 0;
    const std::string wrong = trouble([&] { line = exact.next(); });
    demand(trouble([&] { read = quick.read({&row, 1}); }) == wrong, "another error: " + wrong);
    if (!wrong.empty()) return 0;
    demand(line.has_value() == (read == 1), "another number of lines");
    if (!line) return 0;
    demand(row.label == (line->click ? 1 : 0), "another label");
    for (std::size_t i = 0; i < 13; ++i)
      demand(row.integers[i] == clamped(line->integers[i].value_or(0)), "another integer");
    for (std::size_t i = 0; i < 26; ++i)
      demand(row.words[i] == line->words[i].value_or(0), "another word");
  }
}
