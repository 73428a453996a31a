// benchctl report roofline [SIDE...]: GEMMs and operators against the memory and compute roof.
#include "results/output/verdicts/roofline_output.h"
#include "results/verdicts/compare/roofline.h"
#include "runner/commands/command.h"
#include "runner/commands/report_pages.h"
#include "runner/commands/selection_options.h"

namespace bench {
namespace {

struct RooflineOptions : ReadingOptions {
  std::vector<std::string> sides;
  PageOptions pages;
};

std::vector<Roofline> rooflines_of(const RooflineOptions& options) {
  std::vector<Roofline> rooflines;
  for (const Side& side : read_sides(options, options.sides, roofline_metrics()))
    for (const std::string& device : roofline_devices(side))
      rooflines.push_back(roofline_of(side, device));
  return rooflines;
}

ExitCode print_roofline(RooflineOptions options) {
  if (options.sides.empty()) options.sides.push_back("latest");
  const auto rooflines = rooflines_of(options);
  show([&] { return to_document(rooflines); }, [&] { return to_json(rooflines); }, options.json,
       options.pages);
  for (const Roofline& roofline : rooflines)
    if (roofline.lacking.empty()) return ExitCode::ok;
  if (rooflines.empty() && !options.json)
    print(std::string("no GEMM was measured: run the gemm probe\n"));
  return ExitCode::not_measured;
}

}  // namespace

void add_roofline_report(CLI::App& report, CommandResult& result) {
  CLI::App* command = report.add_subcommand(
      "roofline", "Draw a roofline: GEMMs and operators against memory bandwidth and compute peak");
  command->footer(
      std::string("Example: benchctl report roofline hardware:h100 hardware:h200\n") + kSidesHelp +
      "Exit codes: 0 a roof could be drawn; 3 GEMMs or memory bandwidth were not measured.");
  auto options = std::make_shared<RooflineOptions>();
  add_value(*command, "sides", options->sides, "SIDE",
            "Draw one roofline for each side (default: latest)");
  add_page_options(*command, options->pages);
  add_reading_options(*command, *options);
  command->callback([options, &result] { result.code = print_roofline(*options); });
}

}  // namespace bench
