// benchctl golden RUN: makes golden values (hashes of exact results) from a run.
#include <fmt/format.h>

#include "core/json.h"
#include "core/text.h"
#include "results/run/result_hashes.h"
#include "runner/commands/command.h"
#include "runner/hardware/golden_values.h"
#include "runner/site/find_run.h"

namespace bench {
namespace {

struct GoldenOptions : ReadingOptions {
  std::string run = "latest";
  bool keep = false;
};

std::string golden_line(const Json& value) {
  std::string text = value["hash"].get<std::string>() + " ";
  for (const auto& [name, what] : value["key"].items())
    text += fmt::format(" {}={}", name, text_of(what));
  return printable(text) + "\n";
}

void golden(const GoldenOptions& options) {
  const RunRecords records = read_run(find_run(options.runs(), options.run));
  const Json document = golden_document(records);
  if (document["values"].empty())
    throw Error(ErrorKind::input, records.run + ": no result can serve as a golden value",
                "run a gemm job that succeeds on a device with a known chip name, where identical "
                "devices agree");
  std::string text;
  for (const Json& value : document["values"]) text += golden_line(value);
  if (options.keep) {
    const auto path = keep_golden(document, options.database());
    text += fmt::format("stored in {}; later runs are compared with {}\n", path.string(),
                        document["values"].size() == 1 ? "it" : "them");
  }
  options.json ? print(document) : print(text);
}

}  // namespace

void add_golden(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand("golden", "Make golden values from a run's exact results");
  command->footer(
      "Example: benchctl golden latest --keep\n"
      "Use a device known to be good. With --json: print a file for hosts/golden/.");
  auto options = std::make_shared<GoldenOptions>();
  add_value(*command, "run", options->run, "RUN",
            "Use this run: an ID, an ID prefix, or latest (default: latest)");
  command->add_flag("--keep", options->keep,
                    "Store the values in golden/ next to the database, and compare later runs with "
                    "them (default: only print)");
  add_reading_options(*command, *options);
  command->callback([options] { golden(*options); });
}

}  // namespace bench
