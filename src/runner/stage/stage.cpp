#include "runner/stage/stage.h"

#include <fmt/format.h>

#include <algorithm>
#include <set>

#include "core/error.h"
#include "core/json.h"
#include "core/log.h"
#include "core/text.h"
#include "runner/plan/suite.h"
#include "runner/stage/conversations.h"
#include "runner/stage/stage_script.h"

namespace bench {
namespace {

constexpr Seconds kPatience{120.0};  // a slow disk unpacks without a word

std::vector<Conversation> talks(const std::vector<Place>& places, const Reach& reach,
                                const std::vector<std::string>& arguments) {
  std::vector<Conversation> hosts;
  for (const Place& place : places) {
    Conversation host;
    host.host = place.host;
    host.argv = reach.words(place);
    const bool shell = reach.shell && !host.argv.empty();
    for (std::string& word : stage_words(arguments, shell)) host.argv.push_back(std::move(word));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

bool has_program(const Conversation& host, const std::string& version) {
  const auto words = host.said("program");
  return !words.empty() && words.front().ends_with(" " + version);
}

/// Of a host's own account, and only what may stand on a command line.
std::vector<std::string> folders_of(const Conversation& host) {
  auto folders = host.said("usable");
  std::erase_if(folders, [](const std::string& folder) { return !is_plain_path(folder); });
  return folders;
}

std::string all_obstacles(const Conversation& host) {
  std::vector<std::string> said;
  for (const std::string& one : host.said("unusable"))
    if (std::ranges::find(said, printable(one)) == said.end()) said.push_back(printable(one));
  return join(said, "; ");
}

/// Moves hosts with trouble over to `out`.
void leave_out(std::vector<Conversation>& hosts, Staged& staged) {
  std::erase_if(hosts, [&](const Conversation& host) {
    if (!host.trouble.empty())
      staged.out[host.host] = "cannot be given the bundle: " + host.trouble;
    return !host.trouble.empty();
  });
}

void leave_out_without_folder(std::vector<Conversation>& hosts) {
  for (Conversation& host : hosts)
    if (folders_of(host).empty()) host.trouble = "no folder there will do: " + all_obstacles(host);
}

/// In the order of the first host, the first that every host has.
std::string common_folder(const std::vector<Conversation>& hosts) {
  for (const std::string& folder : folders_of(hosts.front()))
    if (std::ranges::all_of(hosts, [&](const Conversation& host) {
          const auto theirs = folders_of(host);
          return std::ranges::find(theirs, folder) != theirs.end();
        }))
      return folder;
  std::vector<std::string> offers;
  for (const Conversation& host : hosts)
    offers.push_back(host.host + " has " + join(folders_of(host), " and "));
  throw Error(ErrorKind::environment,
              "no folder serves all hosts for the bundle: " + join(offers, "; "),
              "the same path must do on all of them: the same user, and /tmp or $HOME/.cache that "
              "executes");
}

std::vector<Place> places_of(const std::vector<Conversation>& hosts,
                             const std::vector<Place>& places) {
  std::vector<Place> left;
  for (const Place& place : places)
    if (std::ranges::any_of(hosts, [&](const auto& host) { return host.host == place.host; }))
      left.push_back(place);
  return left;
}

/// What it takes on a host, itself included: xz and gzip pack programs to a fifth or so.
std::size_t need_kib(const std::string& bytes) {
  const bool packed = bytes.starts_with(
                          "\xFD"
                          "7zXZ") ||
                      bytes.starts_with("\x1F\x8B");
  return bytes.size() / 1024 * (packed ? 8 : 2) + 1024;
}

std::string bundle_bytes(const std::filesystem::path& bundle) {
  std::string bytes = read_file(bundle);
  if (bytes.empty())
    throw Error(ErrorKind::input, bundle.string() + " is empty", "scripts/bundle makes a bundle");
  return bytes;
}

}  // namespace

Staged stage(const std::filesystem::path& bundle, const std::vector<Place>& places,
             const Reach& reach, const std::string& program, const std::string& version,
             const Interrupts& interrupts) {
  Staged staged;
  const std::string bytes = bundle_bytes(bundle);
  const std::string hash = sha256(bytes);
  auto hosts = talks(places, reach, ask_arguments(program));
  converse(hosts, "", kPatience, interrupts);
  leave_out(hosts, staged);
  const auto has = [&](const Conversation& host) { return has_program(host, version); };
  if (std::ranges::all_of(hosts, has)) return staged;
  hosts = talks(places_of(hosts, places), reach, probe_arguments(need_kib(bytes)));
  converse(hosts, "", kPatience, interrupts);
  leave_out(hosts, staged);
  leave_out_without_folder(hosts);
  leave_out(hosts, staged);
  if (hosts.empty()) return staged;

  const std::string folder = common_folder(hosts);
  hosts = talks(places_of(hosts, places), reach, stage_arguments(folder, hash));
  converse(hosts, bytes, kPatience, interrupts);
  for (const Conversation& host : hosts) {
    if (host.has("damaged"))
      say(Level::warning,
          host.host + ": the bundle in " + folder + " was damaged; it is copied anew");
    if (host.trouble.empty() && host.has("need")) staged.copied.push_back(host.host);
  }
  leave_out(hosts, staged);
  staged.folder = folder + "/" + hash + "/benchctl/bin";
  return staged;
}

std::map<std::string, std::string> unstage(const std::vector<Place>& places, const Reach& reach,
                                           const Interrupts& interrupts) {
  auto hosts = talks(places, reach, remove_arguments());
  converse(hosts, "", kPatience, interrupts);
  std::map<std::string, std::string> answers;
  for (const Conversation& host : hosts)
    answers[host.host] = host.trouble.empty() ? printable(join(host.said("removed"), ", "))
                                              : "trouble: " + host.trouble;
  return answers;
}

}  // namespace bench
