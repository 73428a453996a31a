# The state folder of a lab, and its processes.

find_folder() {
  local given=${LAB_DIR:-${XDG_RUNTIME_DIR:-/tmp}/benchctl-lab}
  [[ $given == /* ]] || bad_usage "LAB_DIR is '$given'; give an absolute path"
  lab_dir=$(readlink -m "$given")
  # The path is unquoted in the ssh configuration and in Open MPI parameters.
  [[ $lab_dir =~ ^(/[A-Za-z0-9._+@-]+)+$ ]] || bad_usage "LAB_DIR is '$given'; give a path without blanks or quotes, and not /"
  marker=$lab_dir/.benchctl-lab
}

need_root() {
  [ "$(id -u)" = 0 ] || fail "must run as root, not as $(id -un): use sudo or a privileged container" 4
}

need_lab() {
  [ -e "$marker" ] || fail "no lab in $lab_dir; start one with: scripts/lab up 2"
  need_root
}

need_host() {
  need_lab
  [ -d "$lab_dir/hosts/$1" ] || fail "unknown host '$1'; hosts: $(host_names | tr '\n' ' ')" 2
}

need_alive() { host_pid "$1" >/dev/null || fail "$1 is dead; start it with: scripts/lab heal $1"; }

# A lab is made only in an empty folder, and only a lab is ever removed.
claim_folder() {
  if [ ! -e "$marker" ]; then
    [ -z "$(ls -A "$lab_dir" 2>/dev/null)" ] || fail "$lab_dir is not empty and not a lab; set LAB_DIR to another folder"
    mkdir -p "$lab_dir"
    chmod 700 "$lab_dir"
  fi
  # Under /tmp another user may own it.
  [ -O "$lab_dir" ] || fail "$lab_dir belongs to $(stat -c %U "$lab_dir"); set LAB_DIR to another folder"
  : >>"$marker"
  lock
}

# Only one command may change a lab at a time. Start daemons with 9>&-, so that they do not inherit the lock.
lock() {
  exec 9>>"$marker"
  flock -w 120 9 || fail "another scripts/lab process has locked $marker for two minutes"
}

# head has 254, nodeNN has NN: the last byte of its address.
host_number() { [ "$1" = head ] && echo 254 || echo $((10#${1#node})); }
host_address() { echo "10.77.0.$(host_number "$1")"; }
host_names() { ls "$lab_dir/hosts"; }
node_names() { host_names | grep '^node' || true; }

# Start time of a process in clock ticks since boot: unique together with the PID. Fails if the process is gone.
start_time() {
  local fields
  { read -r fields <"/proc/$1/stat"; } 2>/dev/null || return 1
  read -ra fields <<<"${fields##*) }"  # the command name may contain spaces
  [ "${fields[0]}" != Z ] && echo "${fields[19]}"
}

remember_process() { echo "$2 $(start_time "$2")" >"$1"; }  # FILE PID

# The PID in FILE, if it is still the same process.
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
  kill -KILL "$pid" 2>/dev/null || true  # it may have just ended
}

end_process() {  # FILE: its process is dead on return
  signal_end "$1"
  # A host's process 1 remains as a zombie until all dead processes of the host are reaped. A process whose outer parent was
  # killed waits for the machine's process 1, which may never reap in a container.
  wait_for 2 gone "$1" || wait_for 8 dying "$1" || fail "process $(recall_process "$1") does not end"
  rm -f "$1"
}
