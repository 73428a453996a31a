// Manual pages (man(7)) of the commands, made from the same texts as --help.
#pragma once

#include <CLI/CLI.hpp>
#include <map>
#include <string>

namespace bench {

/// File name -> text: "benchctl.1", "benchctl-import-slurm.1", for a command and all below it.
std::map<std::string, std::string> manual_pages(const CLI::App& command);

}  // namespace bench
