# The network: a bridge in its own namespace, with one port per host. The machine's network is not changed.

in_switch() {
  local pid
  pid=$(recall_process "$lab_dir/switch") || fail "the lab's network is down; start it with: scripts/lab up N"
  nsenter --net="/proc/$pid/ns/net" -- "$@"
}

switch_is_up() { in_switch ip link show dev br0 >/dev/null 2>&1; }

start_switch() {
  ! recall_process "$lab_dir/switch" >/dev/null || return 0
  local host
  for host in $(host_names); do end_process "$lab_dir/hosts/$host/process"; done  # their links are gone, too
  setsid unshare --net -- sh -ec 'ip link add dev br0 type bridge forward_delay 0; ip link set dev br0 up; exec sleep infinity' \
    </dev/null >"$lab_dir/switch.log" 2>&1 9>&- &
  remember_process "$lab_dir/switch" $!
  wait_for 5 switch_is_up || fail "the network did not start: $(cat "$lab_dir/switch.log")"
}

# A port is named after its host.
port_state() { if in_switch ip -brief link show dev "$1" | grep -q ' UP '; then echo up; else echo cut; fi; }

cut_host() { in_switch ip link set dev "$1" down; }
mend_link() { in_switch ip link set dev "$1" up; }

# After a failed lookup, a host keeps failing for some seconds after its peer is back.
forget_neighbours() {
  local host
  for host in $(host_names); do
    ! host_pid "$host" >/dev/null || in_host "$host" ip neighbour flush dev eth0
  done
}

no_rate() {
  in_switch tc qdisc del dev "$1" root 2>/dev/null || true
  in_host "$1" tc qdisc del dev eth0 root 2>/dev/null || true
}

set_rate() {  # HOST MBIT|off
  local shape=(root tbf rate "$2mbit" burst 64kb latency 200ms)
  [ "$2" = off ] || need_number "$2" "a rate in Mbit/s"
  no_rate "$1"
  [ "$2" != off ] || return 0
  in_switch tc qdisc add dev "$1" "${shape[@]}"
  in_host "$1" tc qdisc add dev eth0 "${shape[@]}"
}

rate_of() { in_switch tc qdisc show dev "$1" | sed -n 's/.* tbf .*rate \([^ ]*\).*/\1/p' | grep . || echo full; }

need_number() {  # VALUE WHAT
  [[ $1 =~ ^[0-9]+(\.[0-9]+)?$ && ! $1 =~ ^[0.]+$ ]] || bad_usage "'$1' is neither $2 nor off"
}
