#include "probes/facts/own_processes.h"

#include <unistd.h>

#include <string>

#include "probes/facts/system_files.h"

namespace bench {
namespace {

/// Alike for ranks on one machine, different between machines, whatever their names.
std::string machine() {
  return SystemFiles().text("proc/sys/kernel/random/boot_id", 64).value_or("");
}

}  // namespace

std::set<int> processes_here(Group& group) {
  const std::string here = machine() + " ";
  std::set<int> own;
  for (const std::string& one : group.gather(here + std::to_string(getpid())))
    if (one.starts_with(here))
      if (const auto pid = parse_number(one.substr(here.size())))
        own.insert(static_cast<int>(*pid));
  return own;
}

}  // namespace bench
