// benchctl import and list hosts, as a user or a script sees them.
#include "tests/process/program.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

/// With a program `scontrol` of our own first in PATH.
Answer run_beside(const BenchctlFolder& bench, const std::string& scontrol,
                  std::vector<std::string> arguments) {
  const auto program = bench.folder.path() / "scontrol";
  std::ofstream(program) << "#!/bin/sh\n" << scontrol << "\n";
  std::filesystem::permissions(program, std::filesystem::perms::owner_all);
  arguments.insert(arguments.begin(), (program_folder() / "benchctl").string());
  return Program({arguments, {{"PATH", bench.folder.path().string() + ":/usr/bin:/bin"}}}).wait();
}

}  // namespace

TEST_CASE("an imported hostfile is written, listed, and never written over") {
  const BenchctlFolder bench;
  const std::string file = (bench.folder.path() / "hosts.json").string();
  const std::vector<std::string> import = {"import", "hostfile", "docs/examples/hostfile", "-o",
                                           file};
  const Answer first = bench.run(import);
  INFO(first.err);
  CHECK(first.exit.clean());
  CHECK(first.out.empty());
  CHECK_THAT(first.err, Contains("assuming 1: login") && Contains("wrote " + file));

  const Json hosts =
      parse_json(bench.run({"list", "hosts", "--hosts", file, "--json"}).out, "list");
  REQUIRE(hosts.size() == 4);
  CHECK(hosts[2]["address"] == "bench@node03");
  CHECK_THAT(bench.run({"list", "hosts", "--hosts", file}).out, Contains("bench@node03"));

  std::ofstream(file) << "mine";
  const Answer second = bench.run(import);
  CHECK(second.exit.text() == "exit code 2");
  CHECK_THAT(second.err, Contains("file already exists"));
  CHECK(read_file(file) == "mine");
}

TEST_CASE("nodes are read from scontrol; its failure is reported with its output") {
  const BenchctlFolder bench;
  const std::vector<std::string> import = {"import", "slurm"};
  const Answer good =
      run_beside(bench,
                 "[ \"$*\" = \"show nodes --oneliner\" ] || exit 9\n"
                 "echo NodeName=n1 CPUTot=8 State=IDLE; echo NodeName=n2 CPUTot=8 State='DOWN*'",
                 import);
  CHECK(good.exit.clean());
  CHECK(parse_json(good.out, "import") ==
        Json::parse(R"({"hosts": [{"name": "n1", "slots": 8}]})"));
  CHECK_THAT(good.err, Contains("'DOWN*': n2"));
  const Answer bad = run_beside(bench, "echo no controller >&2; exit 1", import);
  CHECK(bad.exit.text() == "exit code 4");
  CHECK_THAT(bad.err, Contains("exit code 1: no controller"));
}

TEST_CASE("a misspelt import argument is refused with a suggestion and the help to read") {
  const BenchctlFolder bench;
  const Answer source = bench.run({"import", "slum"});
  CHECK(source.exit.text() == "exit code 2");
  CHECK_THAT(source.err, Contains("'slurm'") && Contains("benchctl import --help"));
  const Answer option = bench.run({"import", "slurm", "--partitions", "x"});
  CHECK_THAT(option.err, Contains("'--partition'") && Contains("benchctl import slurm --help"));
  CHECK_THAT(bench.run({"import", "slurm", "--help"}).out, Contains("--partition"));
}
