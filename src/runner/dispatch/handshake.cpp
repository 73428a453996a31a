#include "runner/dispatch/handshake.h"

#include <fmt/format.h>

#include <cmath>

#include "core/text.h"

namespace bench {
namespace {

std::string text_or_unknown(const Json& json) {
  return json.is_string() ? json.get<std::string>() : "unknown";
}

/// The place of a host, which may report a shorter or longer name; "" for none.
std::string place_of(const std::string& host, const std::vector<Place>& places) {
  if (places.size() == 1) return places.front().host;
  const auto name = [](const std::string& full) { return full.substr(0, full.find('.')); };
  for (const Place& place : places)
    if (name(place.host) == name(host)) return place.host;
  return "";
}

}  // namespace

Handshake read_handshake(const Record& program, std::int64_t now_ns) {
  Handshake handshake;
  const auto* body = std::get_if<Facts>(&program.body);
  if (body == nullptr || !body->facts.is_object()) return handshake;
  handshake.version = text_or_unknown(body->facts.value("version", Json()));
  const Seconds ahead{1e-9 * (static_cast<double>(program.time_ns) - static_cast<double>(now_ns))};
  handshake.clocks[program.host] = ahead;
  if (const Json hosts = body->facts.value("hosts", Json()); hosts.is_object())
    for (const auto& [host, version] : hosts.items())
      handshake.versions[host] = text_or_unknown(version);
  if (const Json clocks = body->facts.value("clock_offsets_s", Json()); clocks.is_object())
    for (const auto& [host, offset] : clocks.items())
      if (offset.is_number()) handshake.clocks[host] = ahead + Seconds{offset.get<double>()};
  return handshake;
}

VersionMismatch find_mismatch(const Handshake& handshake, const std::vector<Place>& places,
                              const std::string& program, const std::string& ours) {
  VersionMismatch mismatch;
  for (const auto& [host, version] : handshake.versions) {
    if (version == ours) continue;
    mismatch.reason += fmt::format("{}{}: {} is version {}, but benchctl is version {}",
                                   mismatch.reason.empty() ? "" : "; ", printable(host), program,
                                   printable(version), ours);
    if (const std::string place = place_of(host, places); !place.empty())
      mismatch.hosts.push_back(place);
  }
  if (!mismatch.reason.empty())
    mismatch.reason +=
        " (--stage BUNDLE copies this version to the hosts; scripts/bundle makes one)";
  else if (handshake.versions.size() != places.size())
    mismatch.reason = fmt::format("the launcher placed the ranks on {} hosts instead of {}",
                                  handshake.versions.size(), places.size());
  return mismatch;
}

Json clock_facts(Seconds ahead) {
  if (!(std::abs(ahead.value) > kWrongClock.value)) return nullptr;
  const std::string warning = fmt::format(
      "clock is {:.0f} s {} the clock of the benchctl host, and so are the timestamps of its "
      "records, logs and events; set it with chronyc makestep",
      std::abs(ahead.value), ahead.value > 0.0 ? "ahead of" : "behind");
  return {{"clock_offset_s", ahead.value}, {"warnings", {warning}}};
}

}  // namespace bench
