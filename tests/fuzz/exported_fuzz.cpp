// Hostile files and words for `benchctl compare`: read as far as they make sense, refused with an
// error else, and never a crash, a control byte on a terminal, or an answer outside its schema.
#include <cstdint>
#include <string>
#include <vector>

#include "core/error.h"
#include "core/locations.h"
#include "core/schema.h"
#include "results/output/document/terminal.h"
#include "results/output/verdicts/compare_output.h"
#include "results/output/verdicts/roofline_output.h"
#include "results/verdicts/compare/roofline.h"
#include "results/verdicts/compare/selector.h"
#include "results/verdicts/compare/side.h"
#include "tests/fuzz/demand.h"

namespace {

using bench::Json;
using bench::fuzz::demand;

void check_text(const std::string& text) {
  for (const char c : text)
    demand(c == '\n' || static_cast<unsigned char>(c) >= 0x20, "a control byte in the text");
}

void check_json(const Json& json, const bench::Schema& schema) {
  try {
    schema.check(Json::parse(bench::dump(json)), "answer");
  } catch (const bench::Error& error) {
    demand(false, error.what());
  }
}

void check_selector(const std::string& text) try {
  const auto selector = bench::parse_selector(text, {"20261101T000000Z-a-1", "run-2"});
  demand(selector.text == text, "a selector must keep what was written");
} catch (const bench::Error&) {
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) try {
  static const bench::Schema comparison_schema = bench::Schema::load(bench::schema_path("compare"));
  static const bench::Schema roofline_schema =
      bench::Schema::load(bench::schema_path("report_roofline"));
  const std::string text(reinterpret_cast<const char*>(data), size);
  check_selector(text.substr(0, text.find('\n')));
  const auto rows = bench::exported_rows_of(text, "fuzz");
  const bench::Side side = bench::side_of_rows(rows, "fuzz", {});
  const bench::Comparison comparison = bench::compare(side, side);
  for (const bench::ComparedMetric& metric : comparison.metrics)
    demand(metric.verdict != bench::ChangeVerdict::improved &&
               metric.verdict != bench::ChangeVerdict::regressed,
           "a side differs from itself");
  check_text(to_terminal(to_document(comparison, true), {false, true, 80}));
  check_json(to_json(comparison), comparison_schema);
  std::vector<bench::Roofline> rooflines;
  for (const std::string& device : bench::roofline_devices(side))
    rooflines.push_back(bench::roofline_of(side, device));
  check_text(to_terminal(to_document(rooflines), {false, true, 80}));
  check_json(to_json(rooflines), roofline_schema);
  return 0;
} catch (const bench::Error&) {
  return 0;
}
