#include "runner/launch/sbatch.h"

#include "core/error.h"
#include "core/hostlist.h"
#include "core/text.h"
#include "runner/hosts/allocation.h"
#include "runner/launch/process.h"
#include "runner/launch/program_output.h"

namespace bench {

std::vector<std::string> allocation_options(const std::vector<std::string>& hosts,
                                            const SlurmSettings& settings,
                                            const std::string& name) {
  std::vector<std::string> words = {"--job-name=" + name, "--nodes=" + std::to_string(hosts.size()),
                                    "--nodelist=" + compact_hostlist(hosts),
                                    // A node failure must not end jobs on other nodes.
                                    "--no-kill",
                                    // Wait for nodes that boot or run a long prolog.
                                    "--wait-all-nodes=1"};
  // --exclusive alone does not allocate all memory.
  if (settings.exclusive) append(words, {"--exclusive", "--mem=0"});
  const auto add = [&](const char* option, const std::string& value) {
    if (!value.empty()) words.push_back(option + value);
  };
  add("--partition=", settings.partition);
  add("--account=", settings.account);
  add("--reservation=", settings.reservation);
  add("--time=", settings.time_limit);
  add("--gres=", settings.gres);
  words.insert(words.end(), settings.allocation_args.begin(), settings.allocation_args.end());
  return words;
}

std::vector<std::string> sbatch_command(const std::vector<std::string>& hosts,
                                        const SlurmSettings& settings, const std::string& name,
                                        const std::string& log, const std::string& script) {
  std::vector<std::string> argv = {"sbatch", "--parsable"};
  for (std::string& word : allocation_options(hosts, settings, name))
    argv.push_back(std::move(word));
  std::string file;
  for (const char c : log) file += c == '%' ? "%%" : std::string(1, c);
  // A requeued job would start a second run over the first; benchctl resume is used instead.
  append(argv, {"--no-requeue", "--output=" + file, "--error=" + file, script});
  return argv;
}

std::string batch_script(const std::vector<std::string>& command) {
  std::string line = "exec";
  for (const std::string& word : command) line += " " + shell_quoted(word);
  return "#!/bin/sh\n" + line + "\n";
}

std::string submitted_job(std::string_view text) {
  const std::string_view job = text.substr(0, text.find_first_of(";\n"));
  if (!is_job_number(job))
    throw Error(ErrorKind::environment,
                "sbatch printed '" + printable(text.substr(0, 80)) + "' instead of a job ID",
                "check squeue: the job may have been submitted");
  return std::string(job);
}

}  // namespace bench
