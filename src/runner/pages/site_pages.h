// Pages over a results database, for a web server or a shared folder: an index, and pages of runs,
// nights, hosts with their history, acceptances with certificates, and comparisons, linked with
// each other. They need no server and no network.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

namespace bench {

struct SiteRequest {
  std::filesystem::path database, folder;
  std::size_t most_runs = 100;  // newest ones, with pages of their own
  std::function<void(std::size_t done, std::size_t all)> progress = {};
};

struct SitePages {
  std::vector<std::string> files;     // relative to the folder
  std::vector<std::string> warnings;  // what could not be shown, and why
};

/// Writes index.html, fleet.html, regressions.html, runs/, nights/, hosts/, acceptances/ and
/// comparisons/. Overwrites files of these names, leaves all others. Throws Error(input) for a
/// missing database, Error(environment) for a folder that cannot be written.
SitePages write_site(const SiteRequest& request);

}  // namespace bench
