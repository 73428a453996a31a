// benchctl import: makes a hosts file from a hostfile or from Slurm, and imports results of other
// benchmarks (import_results.cpp).
#include <fmt/format.h>

#include "core/text.h"
#include "core/whole_file.h"
#include "runner/commands/command.h"
#include "runner/commands/import_results.h"
#include "runner/hosts/host_import.h"
#include "runner/hosts/slurm_nodes.h"
#include "runner/launch/program_output.h"

namespace bench {
namespace {

struct Output {
  std::string file;
};

void add_output(CLI::App& command, Output& output) {
  add_value(command, "-o,--output", output.file, "FILE",
            "Write the hosts file here; it must not exist (default: stdout)");
}

void write_hosts(const ImportedHosts& imported, const Output& output) {
  for (const std::string& note : imported.notes)
    fmt::print(stderr, "benchctl: {}\n", printable(note));
  if (output.file.empty()) return print(imported.hosts);
  create_file(output.file, imported.hosts.dump(1) + "\n");
  fmt::print(stderr, "benchctl: wrote {}\n", output.file);
}

void add_hostfile(CLI::App& import) {
  CLI::App* command =
      import.add_subcommand("hostfile", "Make a hosts file from an Open MPI hostfile");
  command->footer(
      "Example: benchctl import hostfile /etc/openmpi/openmpi-default-hostfile -o hosts.json");
  struct Options : Output {
    std::string hostfile;
    int slots = 1;
  };
  auto options = std::make_shared<Options>();
  add_value(*command, "hostfile", options->hostfile, "FILE",
            "Read this hostfile, with lines such as: node01 slots=4")
      ->required();
  add_value(*command, "--slots", options->slots, "N",
            "Assume this many slots for hosts that list none (default: 1)")
      ->check(CLI::Range(1, 100'000));
  add_output(*command, *options);
  command->callback([options] {
    write_hosts(import_hostfile(read_file(options->hostfile), options->hostfile, options->slots),
                *options);
  });
}

void add_slurm(CLI::App& import) {
  CLI::App* command = import.add_subcommand("slurm", "Make a hosts file from Slurm's nodes");
  command->footer("Example: benchctl import slurm --partition gpu -o hosts.json");
  struct Options : Output {
    SlurmChoice choice;
    std::string from;
  };
  auto options = std::make_shared<Options>();
  add_value(*command, "--partition", options->choice.partition, "P",
            "Include only nodes of this partition (default: all nodes)");
  command->add_flag("--all", options->choice.all,
                    "Include nodes that are down or drained (default: skip them)");
  add_value(*command, "--from", options->from, "FILE",
            "Read saved scontrol output (default: run scontrol show nodes --oneliner)");
  add_output(*command, *options);
  command->callback([options] {
    const bool ask = options->from.empty();
    write_hosts(
        import_slurm(ask ? program_output(kShowNodes, kSlurmAnswers) : read_file(options->from),
                     ask ? join(kShowNodes, " ") : options->from, options->choice),
        *options);
  });
}

}  // namespace

void add_import(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand(
      "import", "Import hosts from a hostfile or Slurm, or results from other benchmarks");
  command->footer(
      "Example: benchctl import slurm --partition gpu -o hosts.json\n"
      "Example: benchctl import nccl-tests all_reduce.log\n"
      "See benchctl import FORMAT --help.");
  command->require_subcommand(1);
  add_hostfile(*command);
  add_slurm(*command);
  add_import_results(*command, result);
  add_import_mlperf(*command, result);
  add_import_mlperf_storage(*command, result);
}

}  // namespace bench
