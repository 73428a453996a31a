// Expected shape of a host: rules for its paths (schemas/profile.json), written by hand or learned
// from a known good host.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/verdicts/topology/difference.h"
#include "results/verdicts/topology/shape.h"

namespace bench {

struct Rule {
  enum class Kind { is, at_least, one_of, ignore };
  std::string path;
  Kind kind = Kind::is;
  Json value = nullptr;  // of at_least a number, of one_of an array
  std::string note = {};
};

struct Profile {
  std::string name;
  std::string note = {};
  Json learned = nullptr;                       // {"host", "run", "time"}
  std::map<std::string, Rule> rules = {};       // by path
  std::map<std::string, Rule> beginnings = {};  // by the beginning of paths: those are ignored
  /// Whether a path without a rule is a difference; else the majority decides.
  bool complete = false;

  /// The rule for a path: its own, else that of a prefix. Null for none.
  const Rule* rule_for(const std::string& path) const;
};

/// `json` must have passed schemas/profile.json. Throws Error(input) unless each path has exactly
/// one rule, and for a "*" elsewhere than at the end of an ignored path.
Profile profile_from_json(const Json& json, const std::string& origin);
Json to_json(const Profile& profile);

/// Expects everything as on this host: memory sizes to 1 %; unreadable values are ignored, with the
/// reason.
Profile learn_profile(const std::string& name, const Shape& shape, const Json& learned);

/// Deviations of a host from its profile, tidied. A required value that could not be read is
/// Severity::unreadable.
std::vector<Difference> compare(const Profile& profile, const Shape& shape);

}  // namespace bench
