// Hostile files of records: refused with an Error, or every record lies in the file, in order.
#include <cstdint>
#include <cstring>

#include "core/error.h"
#include "probes/data/formats/record_file.h"
#include "tests/fuzz/demand.h"

using bench::fuzz::demand;

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  const auto read = [&](std::uint64_t at, std::span<std::byte> into) {
    demand(at <= size && into.size() <= size - at, "a read past the end");
    if (!into.empty()) std::memcpy(into.data(), data + at, into.size());
  };
  const auto starts = bench::data::record_index(read, size, "fuzz");
  for (std::size_t i = 0; i + 1 < starts.size(); ++i)
    demand(starts[i] + bench::data::kRecordLabelBytes <= starts[i + 1], "a record without a label");
  demand(starts.back() <= size, "a record past the end");
  return 0;
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input && !error.hint().empty(), error.what());
  return 0;
}
