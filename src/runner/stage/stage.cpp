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

constexpr Seconds kPatience{120.0};  // unpacking to a slow disk prints nothing

std::vector<HostSession> make_sessions(const std::vector<Place>& places, const Reach& reach,
                                const std::vector<std::string>& arguments) {
  std::vector<HostSession> hosts;
  for (const Place& place : places) {
    HostSession host;
    host.host = place.host;
    host.argv = reach.words(place);
    const bool shell = reach.shell && !host.argv.empty();
    for (std::string& word : stage_command(arguments, shell)) host.argv.push_back(std::move(word));
    hosts.push_back(std::move(host));
  }
  return hosts;
}

bool has_program(const HostSession& host, const std::string& version) {
  const auto words = host.lines_after("program");
  return !words.empty() && words.front().ends_with(" " + version);
}

/// The folders a host reports, if safe on a command line.
std::vector<std::string> folders_of(const HostSession& host) {
  auto folders = host.lines_after("usable");
  std::erase_if(folders, [](const std::string& folder) { return !is_plain_path(folder); });
  return folders;
}

std::string obstacles_of(const HostSession& host) {
  std::vector<std::string> reasons;
  for (const std::string& one : host.lines_after("unusable"))
    if (std::ranges::find(reasons, printable(one)) == reasons.end()) reasons.push_back(printable(one));
  return join(reasons, "; ");
}

/// Moves failed hosts to `out`.
void exclude_failed(std::vector<HostSession>& hosts, Staged& staged) {
  std::erase_if(hosts, [&](const HostSession& host) {
    if (!host.trouble.empty())
      staged.out[host.host] = "cannot receive the bundle: " + host.trouble;
    return !host.trouble.empty();
  });
}

void fail_without_folder(std::vector<HostSession>& hosts) {
  for (HostSession& host : hosts)
    if (folders_of(host).empty()) host.trouble = "no usable folder: " + obstacles_of(host);
}

/// The first folder of the first host that all hosts have.
std::string common_folder(const std::vector<HostSession>& hosts) {
  for (const std::string& folder : folders_of(hosts.front()))
    if (std::ranges::all_of(hosts, [&](const HostSession& host) {
          const auto theirs = folders_of(host);
          return std::ranges::find(theirs, folder) != theirs.end();
        }))
      return folder;
  std::vector<std::string> offers;
  for (const HostSession& host : hosts)
    offers.push_back(host.host + " has " + join(folders_of(host), " and "));
  throw Error(ErrorKind::environment,
              "no folder for the bundle is usable on all hosts: " + join(offers, "; "),
              "all hosts need the same user and the same path, /tmp or $HOME/.cache, without noexec");
}

std::vector<Place> places_of(const std::vector<HostSession>& hosts,
                             const std::vector<Place>& places) {
  std::vector<Place> left;
  for (const Place& place : places)
    if (std::ranges::any_of(hosts, [&](const auto& host) { return host.host == place.host; }))
      left.push_back(place);
  return left;
}

/// Disk space needed on a host, bundle included: xz and gzip compress programs to about a fifth.
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
    throw Error(ErrorKind::input, bundle.string() + " is empty", "make a bundle with scripts/bundle");
  return bytes;
}

}  // namespace

Staged stage(const std::filesystem::path& bundle, const std::vector<Place>& places,
             const Reach& reach, const std::string& program, const std::string& version,
             const Interrupts& interrupts) {
  Staged staged;
  const std::string bytes = bundle_bytes(bundle);
  const std::string hash = sha256(bytes);
  auto hosts = make_sessions(places, reach, ask_arguments(program));
  run_sessions(hosts, "", kPatience, interrupts);
  exclude_failed(hosts, staged);
  const auto has = [&](const HostSession& host) { return has_program(host, version); };
  if (std::ranges::all_of(hosts, has)) return staged;
  hosts = make_sessions(places_of(hosts, places), reach, probe_arguments(need_kib(bytes)));
  run_sessions(hosts, "", kPatience, interrupts);
  exclude_failed(hosts, staged);
  fail_without_folder(hosts);
  exclude_failed(hosts, staged);
  if (hosts.empty()) return staged;

  const std::string folder = common_folder(hosts);
  hosts = make_sessions(places_of(hosts, places), reach, stage_arguments(folder, hash));
  run_sessions(hosts, bytes, kPatience, interrupts);
  for (const HostSession& host : hosts) {
    if (host.has("damaged"))
      say(Level::warning,
          host.host + ": the bundle in " + folder + " was damaged; copying it again");
    if (host.trouble.empty() && host.has("need")) staged.copied.push_back(host.host);
  }
  exclude_failed(hosts, staged);
  staged.folder = folder + "/" + hash + "/benchctl/bin";
  return staged;
}

std::map<std::string, std::string> unstage(const std::vector<Place>& places, const Reach& reach,
                                           const Interrupts& interrupts) {
  auto hosts = make_sessions(places, reach, remove_arguments());
  run_sessions(hosts, "", kPatience, interrupts);
  std::map<std::string, std::string> answers;
  for (const HostSession& host : hosts)
    answers[host.host] = host.trouble.empty() ? printable(join(host.lines_after("removed"), ", "))
                                              : "trouble: " + host.trouble;
  return answers;
}

}  // namespace bench
