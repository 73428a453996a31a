// What a case's axes multiply to: one variant for each choice of values, the same on all hosts.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/error.h"
#include "runner/plan/suite.h"

namespace bench {

/// Jobs of one case at most: every pair of 512 hosts, seven times.
inline constexpr std::size_t kMostJobs = 1'000'000;

/// Error(input) naming the case that makes more.
Error too_many_jobs(const std::string& case_name);

/// A choice of axis values with the probe's parameters that follow from it, the same on all hosts.
struct Variant {
  std::map<std::string, Json> choice;  // axis -> value
  Json params;                         // complete: defaults are filled in
  std::map<std::string, std::string> env;
};

/// Throws Error(input) for a case that makes too many.
std::vector<Variant> variants(const Suite& suite, const Case& suite_case, const ProbeEntry& probe);

/// The value chosen for an axis, else `otherwise`.
Json chosen(const Variant& variant, const std::string& axis, const Json& otherwise);

}  // namespace bench
