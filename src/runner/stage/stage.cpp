#include "runner/stage/stage.h"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.h"
#include "core/json.h"
#include "core/log.h"
#include "core/sha256.h"
#include "core/text.h"
#include "runner/launch/program_output.h"
#include "runner/plan/suite.h"
#include "runner/stage/host_sessions.h"

namespace bench {
namespace {

// POSIX sh with GNU or busybox tools. Once its lines are joined it has no single quote, backslash,
// newline or "!", so every login shell passes it to sh unchanged.
// A folder is usable if it is a real folder owned by us, private, not renamable by others, with
// enough space and executable: the kernel refuses a script without "#!" with ENOEXEC where
// execution is allowed, and with EACCES on a file system mounted noexec.
constexpr const char* kScript = R"sh(
umask 077;
fail() { echo "trouble $*"; exit 1; };
bases() { echo "${TMPDIR:-/tmp}"; echo /tmp; echo /var/tmp; echo "${HOME:-/tmp}/.cache"; };
folder_of() { echo "$1/benchctl-stage-$(id -u)";
};
plain() {
  case "$1" in /*) ;; *) return 1;; esac;
  [ -z "$(echo "$1" | tr -d A-Za-z0-9_./+-)" ];
};
ours() {
  [ -L "$1" ] && { why="it is a symbolic link"; return 1; };
  [ -d "$1" ] || { why="cannot create it"; return 1; };
  [ -O "$1" ] || { why="it belongs to another user"; return 1; };
  case "$(ls -ld "$1")" in drwx------*) ;; *) why="it is accessible to other users"; return 1;; esac;
};
executes() {
  try="$1/try.$$";
  { echo exit 0 > "$try" && chmod 700 "$try"; } 2>/dev/null || { rm -f "$try"; why="not writable"; return 1; };
  "$try" 2>/dev/null; ran=$?; rm -f "$try";
  [ $ran = 0 ] || { why="mounted noexec"; return 1; };
};
roomy() {
  free=$(df -Pk "$1" | tail -n 1 | tr -s " " | cut -d " " -f 4);
  [ "$free" -ge "$2" ] 2>/dev/null || { why="$free KiB free, $2 KiB needed"; return 1; };
};
usable() {
  base="$1"; folder=$(folder_of "$base");
  plain "$base" || { why="its name contains shell metacharacters"; return 1; };
  [ -d "$base" ] || { why="$base does not exist"; return 1; };
  case "$(ls -ldL "$base")" in ????????w[tT]*) ;; ????????w*) why="$base is world-writable without the sticky bit"; return 1;; esac;
  [ -e "$folder" ] || mkdir -m 700 "$folder" 2>/dev/null;
  ours "$folder" && executes "$folder" && roomy "$folder" "$2";
};
whole() { ( cd "$1" && sha256sum -c sums ) >/dev/null 2>&1; };
ask() { echo "program $("$1" --version 2>/dev/null | head -n 1)"; };
probe() {
  for tool in sha256sum tar df id; do command -v $tool >/dev/null || fail "$tool is missing"; done;
  bases | while read -r base; do
    if usable "$base" "$1"; then echo "usable $folder"; else echo "unusable $folder: $why"; fi;
  done;
};
first_line() { echo "$1" | head -n 1 | cut -c 1-300; };
stage() {
  folder="$1"; sum="$2";
  [ -e "$folder" ] || mkdir -m 700 "$folder" 2>/dev/null;
  ours "$folder" || fail "$folder: $why";
  if [ -e "$folder/$sum" ]; then
    whole "$folder/$sum" && { echo ready; exit 0; };
    echo damaged;
    rm -rf "$folder/$sum" || fail "cannot remove the damaged $folder/$sum";
  fi;
  new="$folder/new.$$";
  trap "rm -rf $new" EXIT; trap "exit 1" HUP INT TERM PIPE;
  mkdir -p "$new/files" || fail "cannot create $new";
  echo need;
  words=$(cat 2>&1 > "$new/bundle") || fail "cannot write $new/bundle: $(first_line "$words")";
  got=$(sha256sum < "$new/bundle");
  [ "${got%% *}" = "$sum" ] || fail "the bundle arrived damaged: its SHA-256 is ${got%% *}";
  words=$(cd "$new/files" && tar -xf ../bundle 2>&1) || fail "cannot unpack the bundle: $(first_line "$words")";
  [ -x "$new/files/benchctl/bin/bench-rank" ] || fail "the bundle has no benchctl/bin/bench-rank";
  words=$(cd "$new/files" && { find . -type f -exec sha256sum {} + > ../sums && mv ../sums sums; } 2>&1) || fail "cannot checksum it: $(first_line "$words")";
  mv -T "$new/files" "$folder/$sum" 2>/dev/null || whole "$folder/$sum" || fail "cannot rename it to $folder/$sum";
  echo ready;
};
remove() {
  bases | while read -r base; do
    folder=$(folder_of "$base");
    if plain "$base" && ours "$folder"; then rm -rf "$folder" && echo "removed $folder"; fi;
  done;
};
mode="$1"; shift;
"$mode" "$@")sh";

bool is_plain(char c) {
  return is_letter(c) || is_digit(c) || std::string_view("_./+-").find(c) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> stage_command(const std::vector<std::string>& arguments, bool shell) {
  return script_command(kScript, "benchctl-stage", arguments, shell);
}

std::vector<std::string> ask_arguments(const std::string& program) { return {"ask", program}; }

std::vector<std::string> probe_arguments(std::size_t need_kib) {
  return {"probe", std::to_string(need_kib)};
}

std::vector<std::string> stage_arguments(const std::string& folder, const std::string& sha256) {
  return {"stage", folder, sha256};
}

std::vector<std::string> remove_arguments() { return {"remove"}; }

bool is_plain_path(const std::string& path) {
  return path.starts_with('/') && path.size() <= 1000 && std::ranges::all_of(path, is_plain);
}

bool has_program(const HostSession& host, const std::string& version) {
  const auto words = host.lines_after("program");
  return !words.empty() && words.front().ends_with(" " + version);
}

std::vector<std::string> usable_folders(const HostSession& host) {
  auto folders = host.lines_after("usable");
  std::erase_if(folders, [](const std::string& folder) { return !is_plain_path(folder); });
  return folders;
}

std::string obstacles_of(const HostSession& host) {
  std::vector<std::string> reasons;
  for (const std::string& one : host.lines_after("unusable"))
    if (std::ranges::find(reasons, printable(one)) == reasons.end())
      reasons.push_back(printable(one));
  return join(reasons, "; ");
}

std::string common_folder(const std::vector<HostSession>& hosts) {
  for (const std::string& folder : usable_folders(hosts.front()))
    if (std::ranges::all_of(hosts, [&](const HostSession& host) {
          const auto theirs = usable_folders(host);
          return std::ranges::find(theirs, folder) != theirs.end();
        }))
      return folder;
  std::vector<std::string> offers;
  for (const HostSession& host : hosts)
    offers.push_back(host.host + " has " + join(usable_folders(host), " and "));
  throw Error(
      ErrorKind::environment,
      "no folder for the bundle is usable on all hosts: " + join(offers, "; "),
      "all hosts need the same user and the same path, /tmp or $HOME/.cache, without noexec");
}

namespace {

constexpr Seconds kPatience{120.0};  // unpacking to a slow disk prints nothing

std::vector<HostSession> make_sessions(const std::vector<Place>& places, const Reach& reach,
                                       const std::vector<std::string>& arguments) {
  const auto command = [&](bool shell) { return stage_command(arguments, shell); };
  std::vector<HostSession> hosts;
  for (const Place& place : places) hosts.push_back(session_on(place, reach, command));
  return hosts;
}

/// Moves failed hosts to `out`.
void exclude_failed(std::vector<HostSession>& hosts, Staged& staged) {
  std::erase_if(hosts, [&](const HostSession& host) {
    if (!host.trouble.empty()) staged.out[host.host] = "cannot receive the bundle: " + host.trouble;
    return !host.trouble.empty();
  });
}

void fail_without_folder(std::vector<HostSession>& hosts) {
  for (HostSession& host : hosts)
    if (usable_folders(host).empty()) host.trouble = "no usable folder: " + obstacles_of(host);
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
    throw Error(ErrorKind::input, bundle.string() + " is empty",
                "make a bundle with scripts/bundle");
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
