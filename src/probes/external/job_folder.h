// Where a job of the probe `external` keeps what its commands print, and where their processes
// meet.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace bench::external {

/// The job's folder on this host, made if need be: in `asked` where it is given; else in the run's
/// own folder where this host has it; else in $TMPDIR or /tmp, by the run's name. Throws
/// Error(environment) when it cannot be made.
std::filesystem::path make_job_folder(const std::string& asked, const std::string& job);

/// This host's name.
std::string own_host();

/// "rank-0003.log".
std::string log_name(int rank);

/// `asked`, or what the ranks of `hosts` can reach: 127.0.0.1 on one host; else the address by
/// which the launcher knows the first, else its name.
std::string master_address(const std::string& asked, const std::vector<std::string>& hosts);

/// A port that nobody listened on a moment ago. Throws Error(environment).
int free_port();

}  // namespace bench::external
