#include "runner/stage/stage_script.h"

#include <algorithm>

#include "core/error.h"
#include "runner/launch/reach.h"

namespace bench {
namespace {

// POSIX sh with GNU or busybox tools. Once its lines are joined it has no single quote, backslash,
// newline or "!", so every login shell passes it to sh unchanged.
// A folder is usable if it is a real folder owned by us, private, not renamable by others, with enough
// space and executable: the kernel refuses a script without "#!" with ENOEXEC where execution is
// allowed, and with EACCES on a file system mounted noexec.
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

/// Replaces newlines: a newline inside quotes would end a csh command.
std::string one_line(std::string text) {
  std::ranges::replace(text, '\n', ' ');
  return text;
}

bool is_plain(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') ||
         std::string_view("_./+-").find(c) != std::string_view::npos;
}

}  // namespace

std::vector<std::string> stage_command(const std::vector<std::string>& arguments, bool shell) {
  std::vector<std::string> words = {"sh", "-c", one_line(kScript), "benchctl-stage"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  if (shell)
    for (std::string& word : words) word = shell_quoted(word);
  return words;
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

}  // namespace bench
