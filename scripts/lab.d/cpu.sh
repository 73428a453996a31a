# One cgroup per host, to limit its CPU. Uses cgroup v2 if it has the cpu controller, else v1.

cgroup_name() { echo "benchctl-lab-$(cksum <<<"$lab_dir" | cut -d' ' -f1)"; }

# Writes "v1 FOLDER", "v2 FOLDER" or "none" to the lab's folder.
make_cgroup() {
  local top found=none name
  name=$(cgroup_name)
  for top in /sys/fs/cgroup /sys/fs/cgroup/unified; do
    grep -qsw cpu "$top/cgroup.controllers" || continue
    # Fails in a container whose own processes are in this cgroup.
    { echo +cpu >"$top/cgroup.subtree_control" && mkdir -p "$top/$name" &&
      echo +cpu >"$top/$name/cgroup.subtree_control"; } 2>/dev/null && { found="v2 $top/$name"; break; }
    rmdir "$top/$name" 2>/dev/null || true
  done
  for top in /sys/fs/cgroup/cpu /sys/fs/cgroup/cpu,cpuacct; do
    [ "$found" = none ] && [ -e "$top/cgroup.procs" ] && mkdir -p "$top/$name" 2>/dev/null && found="v1 $top/$name"
  done
  echo "$found" >"$lab_dir/cgroup"
}

cgroup_version() { cut -d' ' -f1 "$lab_dir/cgroup"; }
host_cgroup() { echo "$(cut -d' ' -f2 "$lab_dir/cgroup")/$1"; }

# Moves this shell and its children into the host's cgroup.
enter_cgroup() {
  [ "$(cgroup_version)" = none ] || echo $BASHPID >"$(host_cgroup "$1")/cgroup.procs"
}

make_host_cgroup() { [ "$(cgroup_version)" = none ] || mkdir -p "$(host_cgroup "$1")"; }

set_cpu() {  # HOST PERCENT|off, of one core
  local folder quota
  case "$2" in
    off) quota=off ;;
    *) need_number "$2" "a percentage of one core"
       quota=$(awk -v percent="$2" 'BEGIN { printf "%d", percent * 1000 }')  # microseconds in each 100 ms
       [ "$quota" -ge 1000 ] || bad_usage "'$2' is below 1 percent, the smallest limit of the kernel" ;;
  esac
  folder=$(host_cgroup "$1")
  case "$(cgroup_version) $quota" in
    "v1 off") echo -1 >"$folder/cpu.cfs_quota_us" ;;
    v1*) echo 100000 >"$folder/cpu.cfs_period_us"; echo "$quota" >"$folder/cpu.cfs_quota_us" ;;
    "v2 off") echo "max 100000" >"$folder/cpu.max" ;;
    v2*) echo "$quota 100000" >"$folder/cpu.max" ;;
    "none off") ;;
    *) fail "cannot limit CPUs: no cgroup with the cpu controller is available" 4 ;;
  esac
}

cpu_of() {
  local quota=max
  case "$(cgroup_version)" in
    v1) quota=$(cat "$(host_cgroup "$1")/cpu.cfs_quota_us") ;;
    v2) quota=$(cut -d' ' -f1 "$(host_cgroup "$1")/cpu.max") ;;
  esac
  case "$quota" in
    max | -1) echo full ;;
    *) awk -v quota="$quota" 'BEGIN { print quota / 1000 "%" }' ;;
  esac
}

removed() { rmdir "$1" 2>/dev/null || [ ! -d "$1" ]; }

remove_cgroups() {
  [ -e "$lab_dir/cgroup" ] && [ "$(cgroup_version)" != none ] || return 0
  local host
  # A process that was just killed stays in its cgroup for a moment.
  for host in $(host_names) .; do
    wait_for 5 removed "$(readlink -m "$(host_cgroup "$host")")" || fail "$(host_cgroup "$host") still has processes"
  done
}
