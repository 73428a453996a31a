#include "runner/manual/completion.h"

#include "tests/support/catch.h"

using namespace bench;

namespace {

/// tool run SUITE [--hosts FILE] [--kind a|b] [--json]; tool import (slurm|csv FILE...).
struct Tool {
  CLI::App app{"A tool", "tool"};
  std::string suite, hosts, kind;
  std::vector<std::string> files;
  bool json = false;

  Tool() {
    CLI::App* run = app.add_subcommand("run", "Run a suite. It takes minutes");
    run->add_option("suite", suite, "Run this")->type_name("SUITE");
    run->add_option("--hosts", hosts, "Use these hosts")->type_name("FILE");
    run->add_option("-k,--kind", kind, "Choose a kind")->type_name("a|b");
    run->add_flag("--json", json, "Print JSON");
    CLI::App* import = app.add_subcommand("import", "Import results");
    import->add_subcommand("slurm", "Import Slurm's nodes");
    import->add_subcommand("csv", "Import CSV")
        ->add_option("files", files, "Files")
        ->type_name("FILE");
  }

  std::string lines(const std::vector<std::string>& words) const {
    return completion_lines(complete(app, words, [](const std::string& value) {
      return value == "SUITE" ? std::vector<std::string>{"smoke", "storage", "gemm"}
                              : std::vector<std::string>{};
    }));
  }
};

}  // namespace

TEST_CASE("completion offers commands with the first sentence of their description") {
  const Tool tool;
  CHECK(tool.lines({""}) == "run\tRun a suite\nimport\tImport results\n");
  CHECK(tool.lines({}) == tool.lines({""}));
  CHECK(tool.lines({"r"}) == "run\tRun a suite\n");
  CHECK(tool.lines({"import", ""}) == "slurm\tImport Slurm's nodes\ncsv\tImport CSV\n");
  CHECK(tool.lines({"nothing"}) == "");
}

TEST_CASE("completion offers the names that a positional argument can have, and files") {
  const Tool tool;
  CHECK(tool.lines({"run", "s"}) == "smoke\nstorage\n:files\n");
  CHECK(tool.lines({"run", "--json", "g"}) == "gemm\n:files\n");
  // One suite is all that run takes; csv takes any number of files.
  CHECK(tool.lines({"run", "smoke", ""}) == "");
  CHECK(tool.lines({"import", "csv", "a.csv", ""}) == ":files\n");
}

TEST_CASE("completion offers options, and the values of the one before the cursor") {
  const Tool tool;
  CHECK(tool.lines({"run", "--h"}) ==
        "--help\tPrint this help message and exit\n--hosts\tUse these hosts\n");
  CHECK(tool.lines({"run", "--kind", ""}) == "a\nb\n");
  CHECK(tool.lines({"run", "-k", "b"}) == "b\n");
  CHECK(tool.lines({"run", "--hosts", ""}) == ":files\n");
  // What an option takes is not a positional argument.
  CHECK(tool.lines({"run", "--hosts", "smoke", "st"}) == "storage\n:files\n");
  CHECK(tool.lines({"run", "--unknown", "st"}) == "storage\n:files\n");
}

TEST_CASE("names from outside cannot break the lines of a completion") {
  const Completion completion{{{"run\t1\n:files", ""}}, false};
  const std::string lines = completion_lines(completion);
  CHECK(std::ranges::count(lines, '\n') == 1);
  CHECK(std::ranges::count(lines, '\t') == 0);
}
