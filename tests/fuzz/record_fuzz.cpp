// Hostile records: whatever a rank prints, it is refused with an Error or becomes a record that
// schemas/record.json allows and that survives the wire.
#include <cstdint>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "core/wire.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::fuzz::demand;

void check_accepted(const bench::Record& record) {
  static const bench::Schema schema = bench::Schema::load(bench::schema_path("record"));
  const bench::Json json = bench::to_json(record);
  try {
    schema.check(json, "record");
    const auto back = bench::unframe(bench::frame(record));
    demand(back && bench::to_json(*back) == json,
           "a record changes on the wire: " + bench::dump(json));
  } catch (const bench::Error& error) {
    demand(false, std::string("an accepted record is refused: ") + error.what());
  }
}

void try_line(std::string_view line) try {
  if (const auto record = bench::unframe(line)) check_accepted(*record);
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

// Past the checksum, which damage hardly ever survives.
void try_json(std::string_view text) try {
  check_accepted(bench::record_from_json(bench::parse_json(text, "fuzz")));
} catch (const bench::Error& error) {
  demand(error.kind() == bench::ErrorKind::input, error.what());
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view input(reinterpret_cast<const char*>(data), size);
  try_line(input);
  try_json(input);
  return 0;
}
