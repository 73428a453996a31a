# The folder of a lab, and which of the processes it names are alive.

find_folder() {
  local given=${LAB_DIR:-${XDG_RUNTIME_DIR:-/tmp}/benchctl-lab}
  [[ $given == /* ]] || bad_usage "LAB_DIR is '$given'; give an absolute path"
  lab_dir=$(readlink -m "$given")
  # ssh's configuration and OpenMPI's parameters hold the path unquoted.
  [[ $lab_dir =~ ^(/[A-Za-z0-9._+@-]+)+$ ]] || bad_usage "LAB_DIR is '$given'; give a path without blanks or quotes, and not /"
  marker=$lab_dir/.benchctl-lab
}

need_root() {
  [ "$(id -u)" = 0 ] || fail "namespaces need root, and this is $(id -un): use sudo, or a container that runs privileged" 4
}

need_lab() {
  [ -e "$marker" ] || fail "there is no lab in $lab_dir; start one with: scripts/lab up 2"
  need_root
}

need_host() {
  need_lab
  [ -d "$lab_dir/hosts/$1" ] || fail "there is no host '$1'; there are: $(host_names | tr '\n' ' ')" 2
}

need_alive() { host_pid "$1" >/dev/null || fail "$1 is dead; start it with: scripts/lab heal $1"; }

# Only an empty folder becomes a lab, and only a lab is ever cleaned up.
claim_folder() {
  if [ ! -e "$marker" ]; then
    [ -z "$(ls -A "$lab_dir" 2>/dev/null)" ] || fail "$lab_dir is not empty and is no lab; set LAB_DIR to another folder"
    mkdir -p "$lab_dir"
    chmod 700 "$lab_dir"
  fi
  # Under /tmp anybody could have made it.
  [ -O "$lab_dir" ] || fail "$lab_dir belongs to $(stat -c %U "$lab_dir"); set LAB_DIR to another folder"
  : >>"$marker"
  lock
}

# One command changes a lab at a time. Daemons must not inherit the lock: start them with 9>&-.
lock() {
  exec 9>>"$marker"
  flock -w 120 9 || fail "another scripts/lab has held $marker for two minutes"
}

# head has 254, nodeNN has NN: the last byte of its address.
host_number() { [ "$1" = head ] && echo 254 || echo $((10#${1#node})); }
host_address() { echo "10.77.0.$(host_number "$1")"; }
host_names() { ls "$lab_dir/hosts"; }
node_names() { host_names | grep '^node' || true; }

# When a process was started, in clock ticks since boot: with its pid that names it for ever. Fails when it is gone.
start_time() {
  local fields
  { read -r fields <"/proc/$1/stat"; } 2>/dev/null || return 1
  read -ra fields <<<"${fields##*) }"  # the command's name may hold blanks
  [ "${fields[0]}" != Z ] && echo "${fields[19]}"
}

remember_process() { echo "$2 $(start_time "$2")" >"$1"; }  # FILE PID

# The pid kept in FILE, if it still is that process.
recall_process() {
  local pid started
  { read -r pid started <"$1"; } 2>/dev/null || return 1
  [ -n "$started" ] && [ "$(start_time "$pid")" = "$started" ] && echo "$pid"
}

host_pid() { recall_process "$lab_dir/hosts/$1/process"; }

wait_for() {  # wait_for SECONDS CMD...: until the command succeeds
  local end=$((SECONDS + $1))
  shift
  until "$@"; do
    [ $SECONDS -lt $end ] || return 1
    sleep 0.02
  done
}

gone() { ! recall_process "$1" >/dev/null; }

dying() { gone "$1" || ! readlink "/proc/$(recall_process "$1")/ns/net" >/dev/null 2>&1; }

signal_end() {  # FILE
  local pid
  pid=$(recall_process "$1") || return 0
  kill -KILL "$pid" 2>/dev/null || true  # it may have ended by itself just now
}

end_process() {  # FILE: what it names is dead when this returns
  signal_end "$1"
  # A host's process 1 stays, an empty shell, until every dead process of the host was collected. One whose parent was killed
  # outside waits for the machine's process 1, and in a container that may never look.
  wait_for 2 gone "$1" || wait_for 8 dying "$1" || fail "process $(recall_process "$1") does not end"
  rm -f "$1"
}
