// Hostile traces for `benchctl profile import`: a report of Nsight Systems where the input begins
// as SQLite's files do, otherwise one of PyTorch's profiler. Refused with an error, or divided into
// parts that add up, without a control byte on a terminal.
#include <cmath>
#include <cstdint>
#include <string>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/import/kineto_trace.h"
#include "results/import/nsight_report.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/trace_output.h"
#include "results/verdicts/profile/trace_breakdown.h"
#include "tests/fuzz/demand.h"
#include "tests/fuzz/input_folder.h"

namespace {

using namespace bench;
using fuzz::demand;

void check(const DeviceTrace& trace) {
  static const Schema schema = Schema::load(schema_path("report_profile_import"));
  const std::vector<TraceBreakdown> all = breakdowns_of(trace);
  for (const TraceBreakdown& one : all) {
    const double parts = one.compute + one.exposed_communication + one.exposed_copies + one.idle();
    demand(one.span >= 0.0 && std::abs(parts - one.span) <= 1e-6 * (one.span + 1.0),
           "parts do not add up to the span");
  }
  for (const char c : to_terminal(to_document(all), {false, true, 80}))
    demand(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "a control byte in the text");
  try {
    schema.check(Json::parse(dump(to_json(all))), "answer");
  } catch (const Error& error) {
    demand(false, error.what());
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  static const fuzz::InputFolder folder;
  const std::string text(reinterpret_cast<const char*>(data), size);
  if (text.starts_with("SQLite format 3"))
    for (const DeviceTrace& trace : read_nsight_report(folder.write("report.sqlite", text)))
      check(trace);
  else
    check(kineto_trace_from(text, "fuzz"));
  return 0;
} catch (const Error&) {
  return 0;
}
