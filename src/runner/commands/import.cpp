// benchctl import (hostfile FILE | slurm): what others know of hosts, in our form; and the formats
// of results (import_results.cpp).
#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>

#include "core/descriptor.h"
#include "core/text.h"
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
  command
      .add_option("-o,--output", output.file,
                  "The hosts file to write, which must not exist yet (default: stdout)")
      ->type_name("FILE");
}

/// A file that is there is never replaced: what a site wrote by hand is not ours to lose.
void write_new(const std::string& file, const std::string& text) {
  const Descriptor fd(open(file.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666));
  if (!fd.valid() && errno == EEXIST)
    throw Error(ErrorKind::input, file + ": is there already",
                "name another file with -o, or remove it");
  if (!fd.valid()) throw_errno("create " + file);
  if (write_all(fd.get(), text)) return;
  const int reason = errno;
  unlink(file.c_str());
  errno = reason;
  throw_errno("write " + file);
}

void hand_over(const ImportedHosts& imported, const Output& output) {
  for (const std::string& note : imported.notes) fmt::print(stderr, "benchctl: {}\n", note);
  if (output.file.empty()) return print(imported.hosts);
  write_new(output.file, imported.hosts.dump(1) + "\n");
  fmt::print(stderr, "benchctl: wrote {}\n", output.file);
}

void add_hostfile(CLI::App& import) {
  CLI::App* command = import.add_subcommand("hostfile", "An OpenMPI hostfile");
  command->footer(
      "Example: benchctl import hostfile /etc/openmpi/openmpi-default-hostfile -o hosts.json");
  struct Options : Output {
    std::string hostfile;
    int slots = 1;
  };
  auto options = std::make_shared<Options>();
  command->add_option("hostfile", options->hostfile, "Lines like: node01 slots=4  # comment")
      ->required()
      ->type_name("FILE");
  command
      ->add_option("--slots", options->slots,
                   "Slots of a host for which none are stated (default: 1)")
      ->type_name("N")
      ->check(CLI::Range(1, 100'000));
  add_output(*command, *options);
  command->callback([options] {
    hand_over(import_hostfile(read_file(options->hostfile), options->hostfile, options->slots),
              *options);
  });
}

void add_slurm(CLI::App& import) {
  CLI::App* command = import.add_subcommand("slurm", "The nodes that Slurm knows");
  command->footer("Example: benchctl import slurm --partition gpu -o hosts.json");
  struct Options : Output {
    SlurmChoice choice;
    std::string from;
  };
  auto options = std::make_shared<Options>();
  command
      ->add_option("--partition", options->choice.partition, "Its nodes only (default: all nodes)")
      ->type_name("P");
  command->add_flag("--all", options->choice.all,
                    "Keep nodes on which Slurm starts nothing: down, drained (default: leave out)");
  command
      ->add_option("--from", options->from,
                   "A file of what scontrol printed (default: run scontrol show nodes --oneliner)")
      ->type_name("FILE");
  add_output(*command, *options);
  command->callback([options] {
    const bool ask = options->from.empty();
    hand_over(
        import_slurm(ask ? program_output(kShowNodes, kSlurmAnswers) : read_file(options->from),
                     ask ? join(kShowNodes, " ") : options->from, options->choice),
        *options);
  });
}

}  // namespace

void add_import(CLI::App& app, CommandResult& result) {
  CLI::App* command = app.add_subcommand(
      "import",
      "Makes a hosts file of a hostfile or of Slurm's nodes, a run of another program's results");
  command->footer(
      "Example: benchctl import slurm --partition gpu -o hosts.json\n"
      "Example: benchctl import nccl-tests all_reduce.log\n"
      "benchctl import FORMAT --help says more.");
  command->require_subcommand(1);
  add_hostfile(*command);
  add_slurm(*command);
  add_import_results(*command, result);
  add_import_mlperf(*command, result);
}

}  // namespace bench
