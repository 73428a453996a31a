// The folder for the output of a job's commands, and the address at which their processes meet.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::external {

/// The job's folder on this host, created if needed: in `asked` if given; else in the run's folder
/// if this host has it and no other user can have made it; else in private_temporary_folder(), by
/// the run's name. Throws Error(environment) if it cannot be created.
std::filesystem::path make_job_folder(const std::string& asked, const std::string& job);

/// "rank-0003.log".
std::string log_name(int rank);

/// `asked`, or what the ranks of `hosts` can reach: 127.0.0.1 on one host; else the address by
/// which the launcher knows the first, else its name.
std::string master_address(const std::string& asked, const std::vector<std::string>& hosts);

/// A port that was free a moment ago. Throws Error(environment).
int free_port();

}  // namespace bench::external
