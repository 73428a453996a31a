# Faults of a whole host, and how to undo them.

kill_host() { end_process "$lab_dir/hosts/$1/process"; }

# Cut the link first, so that peers do not see the processes end.
crash_host() {
  cut_host "$1"
  kill_host "$1"
}

# The kernel still accepts connections, but nothing else happens. Process 1 cannot be stopped.
freeze_host() { in_host "$1" sh -c 'kill -STOP -1'; }
thaw_host() { in_host "$1" sh -c 'kill -CONT -1'; }

# Process 1 always has a sleeping child, which only a freeze stops.
run_state() {
  if in_host "$1" ps --ppid 1 -o stat=,comm= | grep -q '^T.* sleep$'; then echo frozen; else echo up; fi
}

set_disk() {  # HOST MIB|off
  [ "$2" = off ] || need_number "$2" "a size in MiB"
  local size=50%  # default of tmpfs
  [ "$2" = off ] || size=$(awk -v mib="$2" 'BEGIN { printf "%dk", mib * 1024 }')
  in_host "$1" mount -o "remount,size=$size" /tmp 2>/dev/null ||
    fail "$1: cannot shrink /tmp to $2 MiB: it holds $(in_host "$1" df --output=used -m /tmp | tail -n 1 | tr -d ' ') MiB"
}

disk_of() { in_host "$1" df -h --output=size,used /tmp | awk 'NR == 2 { print $2 " of " $1 }'; }

sshd_word() {
  case "$(sshd_state "$1")" in
    R) echo listens ;;
    T) echo hangs ;;
    *) echo stopped ;;
  esac
}

heal_host() {
  if host_pid "$1" >/dev/null; then
    set_cpu "$1" off
    thaw_host "$1"
    mend_link "$1"
    no_rate "$1"
    set_disk "$1" off
    start_sshd "$1"
  else
    start_host "$1"
  fi
  forget_neighbours
}
