// Expands a case's axes: one variant per combination of values, the same on all hosts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "runner/plan/suite.h"

namespace bench {

/// Maximum jobs per case: all pairs of 512 hosts, seven times.
inline constexpr std::size_t kMostJobs = 1'000'000;

/// The Error(input) for a case with more.
Error too_many_jobs(const std::string& case_name);

/// A combination of axis values and the resulting probe parameters.
struct Variant {
  std::map<std::string, Json> choice;  // axis -> value
  Json params;                         // complete, with defaults
  std::map<std::string, std::string> env;
};

/// Throws Error(input) for too many jobs.
std::vector<Variant> variants(const Suite& suite, const Case& suite_case, const ProbeEntry& probe);

/// The value chosen for an axis, else `otherwise`.
Json chosen(const Variant& variant, const std::string& axis, const Json& otherwise);

}  // namespace bench
