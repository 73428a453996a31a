// Hostile golden values: refused with an Error, or they fit jobs of their probes; the same ones are
// accepted twice.
#include <cstdint>

#include "core/json.h"
#include "runner/hardware/golden_values.h"
#include "tests/fuzz/demand.h"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace bench;
  const std::string_view text(reinterpret_cast<const char*>(data), size);
  fuzz::may_refuse([&] {
    const Json document = parse_json(text, "fuzz");
    GoldenValues values;
    values.add(document, "fuzz.json");
    const std::size_t count = values.size();
    fuzz::must_accept("a repeated document", [&] { values.add(document, "again.json"); });
    fuzz::demand(values.size() == count, "a value counts twice");
    Job job;
    job.probe = "gemm";
    const auto fitting = values.for_job(job, {{"onednn", "2.6.3"}});
    fuzz::demand(fitting.size() <= count, "values from nowhere");
    for (const KnownResult& result : fitting)
      fuzz::demand(result.hash.size() == 16 && result.key.is_object(), "a hash that is none");
  });
  return 0;
}
