// The hardware and software of a host in comparable form: flat paths with plain values, devices
// counted by kind rather than by location. Names, serial numbers, addresses and UUIDs, which differ
// between good hosts, are left out.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "core/json.h"

namespace bench {

/// One value of a host: a text, a number, or counts ({"gen5 x16": 7, "gen5 x8": 1}) of devices that
/// share a path. {"unreadable": why} if it could not be read.
struct Trait {
  Json value = nullptr;
  std::map<std::string, std::vector<std::string>> who = {};  // of counts: label -> devices
};

/// "gpu/10de:2330/count", "gpu/10de:2330/link", "setting/thp", "memory/total_bytes".
using Shape = std::map<std::string, Trait>;

/// From the facts "topology", which may be old or damaged; missing facts stay missing.
Shape shape_of(const Json& facts);

/// The subject of a path, which sets the severity of a difference.
enum class Aspect { part, link, place, version, setting };
Aspect aspect_of(const std::string& path);

/// The value at a path: null for none, unreadable if a part above it is.
const Json& value_at(const Shape& shape, const std::string& path);

bool is_unreadable_trait(const Json& value);
bool is_counts(const Json& value);
/// Sum of the counts; 0 for any other value.
double total(const Json& value);

/// Equal; sizes (paths that end in _bytes) within 1 %, as firmware reserves some memory.
bool same_value(const std::string& path, const Json& a, const Json& b);

/// As text: "7 x gen5 x16, 1 x gen5 x8", "1.97 TiB", "none".
std::string value_text(const std::string& path, const Json& value);

}  // namespace bench
