// benchctl golden RUN: the hashes of a run's exact results, for later runs to be compared with.
#include <fmt/format.h>

#include "core/json_text.h"
#include "core/text.h"
#include "results/result_hashes.h"
#include "runner/commands/command.h"
#include "runner/find_run.h"
#include "runner/hardware/golden_values.h"

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
    throw Error(ErrorKind::input, records.run + " has no result to make a golden value of",
                "it takes a gemm job that ended ok, on a chip that tells its name, whose equal "
                "devices agree");
  std::string text;
  for (const Json& value : document["values"]) text += golden_line(value);
  if (options.keep) {
    const auto path = keep_golden(document, options.database());
    text += fmt::format("kept in {}: later runs are compared with {}\n", path.string(),
                        document["values"].size() == 1 ? "it" : "them");
  }
  options.json ? print(document) : print(text);
}

}  // namespace

void add_golden(CLI::App& app, CommandResult&) {
  CLI::App* command =
      app.add_subcommand("golden", "A run's exact results, for later runs to be compared with");
  command->footer(
      "Example: benchctl golden latest --keep\n"
      "A golden value is as good as the device it came from. With --json: a file for "
      "hosts/golden/.");
  auto options = std::make_shared<GoldenOptions>();
  command->add_option("run", options->run, "A run's id, its beginning, or latest (default: latest)")
      ->type_name("RUN");
  command->add_flag("--keep", options->keep,
                    "Compare later runs with them: keep them in golden/ beside the database "
                    "(default: print them only)");
  add_reading_options(*command, *options);
  command->callback([options] { golden(*options); });
}

}  // namespace bench
