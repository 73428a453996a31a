// What a host should be: rules for paths of its shape (schemas/profile.json). Written by hand, or
// learned from a host that is known to be good.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "results/topology/difference.h"
#include "results/topology/shape.h"

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
  /// Is a path that no rule names a difference? Else it is left to the majority.
  bool complete = false;

  /// The rule for a path: its own, else that of a beginning of it. Null where there is none.
  const Rule* rule_for(const std::string& path) const;
};

/// `json` must have passed schemas/profile.json. Throws Error(input) for a rule that is none or
/// several at once, and for a "*" that is not at the end of an ignored path.
Profile profile_from_json(const Json& json, const std::string& origin);
Json to_json(const Profile& profile);

/// Everything as it is on this host: sizes of memory at least so large to 1 %, what could not be
/// read there ignored, with the reason.
Profile learn_profile(const std::string& name, const Shape& shape, const Json& learned);

/// Where a host is not as the profile says, tidied. What it asks for and nobody could read is
/// Severity::unreadable.
std::vector<Difference> compare(const Profile& profile, const Shape& shape);

}  // namespace bench
