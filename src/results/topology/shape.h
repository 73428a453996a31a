// What a host is made of, put so that hosts can be compared: flat paths with plain values, devices
// counted by what they are and not by where they lie. What differs between any two good hosts
// (names, serial numbers, addresses, UUIDs) is not in it.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

/// One value of a host: a text, a number, or counts ({"gen5 x16": 7, "gen5 x8": 1}) of devices that
/// share a path. {"unreadable": why}: nobody could tell.
struct Trait {
  Json value = nullptr;
  std::map<std::string, std::vector<std::string>> who = {};  // of counts: label -> devices
};

/// "gpu/10de:2330/count", "gpu/10de:2330/link", "setting/thp", "memory/total_bytes".
using Shape = std::map<std::string, Trait>;

/// Of the facts "topology", which may be old or damaged: what is missing there is missing here.
Shape shape_of(const Json& facts);

/// What a path is about; a difference is as grave as that.
enum class Aspect { part, link, place, version, setting };
Aspect aspect_of(const std::string& path);

/// The value at a path, null where there is none; unreadable where a part above it is.
const Json& value_at(const Shape& shape, const std::string& path);

bool is_unreadable_trait(const Json& value);
bool is_counts(const Json& value);
/// All devices of counts; 0 for any other value.
double total(const Json& value);

/// Equal; sizes (paths that end in _bytes) to 1 %: firmware keeps some of the memory.
bool same_value(const std::string& path, const Json& a, const Json& b);

/// For people: "7 x gen5 x16, 1 x gen5 x8", "1.97 TiB", "none".
std::string value_text(const std::string& path, const Json& value);

}  // namespace bench
