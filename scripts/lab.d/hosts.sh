# Starts and stops hosts, and runs commands on them.

need_programs() {
  local program missing=()
  for program in "$@"; do command -v "$program" >/dev/null || missing+=("$program"); done
  [ ${#missing[@]} = 0 ] || fail "missing: ${missing[*]}; install them with: scripts/install --lab" 4
}

check_machine() {  # [--slurm]
  [ $# -eq 0 ] || [ "$*" = --slurm ] || bad_usage "'check' takes --slurm or nothing"
  need_root
  need_programs sshd ssh-keygen ip tc nsenter unshare setpriv setsid flock hostname ps awk cksum
  [ $# -eq 0 ] || need_programs slurmctld slurmd srun munged
  local words
  words=$(unshare --net --uts --mount --ipc --pid --fork -- sh -ec 'mount -t tmpfs tmpfs /tmp; mount -t proc proc /proc
    hostname lab; ip link add dev br0 type bridge; ip link add dev port0 type veth peer name port1
    tc qdisc add dev port0 root tbf rate 1mbit burst 64kb latency 200ms' 2>&1) ||
    fail "cannot create namespaces and a network for a host ($words); in a container, run it privileged" 4
}

up() {  # N [--slurm]
  local count=${1-} slurm=no host
  [[ $count =~ ^[1-9][0-9]{0,2}$ && $count -le 250 ]] || bad_usage "'up' takes a number of hosts from 1 to 250"
  [ $# -eq 1 ] || { [ $# -eq 2 ] && [ "$2" = --slurm ] && slurm=yes; } || bad_usage "'up' takes only --slurm after the number"
  check_machine ${2+"$2"}
  claim_folder
  mkdir -p "$lab_dir/hosts"
  slurm_may_have "$count"
  for host in head $(seq -f 'node%02.0f' "$count"); do mkdir -p "$lab_dir/hosts/$host"; done
  make_cgroup
  write_shared_folders
  write_etc_hosts
  write_ssh_config
  write_hosts_file 1 >/dev/null
  start_switch
  for host in $(host_names); do start_host "$host"; done
  forget_neighbours
  [ $slurm = no ] || start_slurm
  echo "head and $(node_names | wc -l) nodes are up in $lab_dir"
}

# Shared folders inside the hosts' private folders.
write_shared_folders() {
  local folder
  tr : '\n' <<<"$lab_dir:${parts%/scripts/*}:$PWD:${LAB_SHARE-}" | while read -r folder; do
    folder=$(readlink -m "${folder:-/}")
    case "$folder" in
      /tmp/* | /run/* | /dev/shm/*) [ ! -d "$folder" ] || echo "$folder" ;;
    esac
  done | sort -u >"$lab_dir/shared"
}

# In place: running hosts have this file bind-mounted as /etc/hosts.
write_etc_hosts() {
  local host
  { echo "127.0.0.1 localhost"
    for host in $(host_names); do echo "$(host_address "$host") $host"; done; } >"$lab_dir/etc_hosts"
}

host_is_ready() { [ -e "$lab_dir/hosts/$1/ready" ]; }
started_or_failed() { host_is_ready "$1" || ! kill -0 "$2" 2>/dev/null; }  # HOST PID

start_host() {
  local dir=$lab_dir/hosts/$1
  ! host_pid "$1" >/dev/null || return 0
  rm -f "$dir/process" "$dir/ready"
  make_host_cgroup "$1"
  set_cpu "$1" off
  setsid unshare --net --uts --mount --ipc --pid --fork --kill-child --propagation private -- \
    "$parts/init" "$lab_dir" "$1" "$(host_number "$1")" "$(recall_process "$lab_dir/switch")" \
    </dev/null >"$dir/log" 2>&1 9>&- &
  wait_for 10 started_or_failed "$1" $! || true
  host_is_ready "$1" || fail "$1 did not start: $(tail -n 3 "$dir/log")"
  start_sshd "$1"
  [ ! -e "$lab_dir/slurm/running" ] || start_slurm_on "$1"
}

# Runs a command in the host's namespaces and cgroup; also used for sshd and logins.
in_host() ( enter_host "$@" )

# The same with exec, so that signals reach the command.
enter_host() {
  local host=$1 pid
  shift
  pid=$(host_pid "$host") || fail "$host is dead; start it with: scripts/lab heal $host"
  enter_cgroup "$host"
  # The command is a process of the host, its parent is not; a nsenter that forks would stop itself when the host is frozen.
  # Its folder is not one of the host: a shell that begins there warns.
  # shellcheck disable=SC2016
  exec nsenter -t "$pid" --mount --root --uts --ipc --net --pid --no-fork -- env --chdir=/ sh -c '
    cd "$0" 2>/dev/null || cd /
    setpriv --pdeathsig TERM -- "$@"
    exit $?' "$PWD" env -u XDG_RUNTIME_DIR HOME="$lab_dir/home" TMPDIR=/tmp "$@" 9>&-
}

exec_on() {
  local host=$1 lines
  shift
  mapfile -t lines < <(mpi_environment)
  enter_host "$host" "${lines[@]}" "$@"
}

status() {
  in_switch true
  local host format='%-8s %-12s %-7s %-5s %-10s %-6s %-9s %s\n'
  # shellcheck disable=SC2059
  {
    printf "$format" host address state link rate cpu sshd /tmp
    for host in $(host_names); do
      if ! host_pid "$host" >/dev/null; then
        printf "$format" "$host" "$(host_address "$host")" dead - - - - -
      else
        printf "$format" "$host" "$(host_address "$host")" "$(run_state "$host")" "$(port_state "$host")" "$(rate_of "$host")" \
          "$(cpu_of "$host")" "$(sshd_word "$host")" "$(disk_of "$host")"
      fi
    done
  }
}

down() {
  [ -e "$marker" ] || { echo "no lab in $lab_dir"; return 0; }
  lock
  local host
  mkdir -p "$lab_dir/hosts"
  for host in $(host_names); do signal_end "$lab_dir/hosts/$host/process"; done  # all at once, then wait for each
  for host in $(host_names); do end_process "$lab_dir/hosts/$host/process"; done
  end_process "$lab_dir/switch"
  remove_cgroups
  rm -rf "$lab_dir"/{hosts,ssh,home,slurm}
  rm -f "$lab_dir"/{cgroup,shared,etc_hosts,hostfile,switch.log} "$marker"
  rmdir "$lab_dir" 2>/dev/null || echo "not removed (not ours): $(ls -A "$lab_dir")"
}
