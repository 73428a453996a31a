# ssh between hosts: with the lab's own key and known host keys. The machine's ssh setup is not used or changed.

make_key() { [ -e "$1" ] || ssh-keygen -q -t ed25519 -N '' -C "$2" -f "$1"; }  # FILE COMMENT

write_ssh_config() {
  local host
  mkdir -p "$lab_dir/ssh" "$lab_dir/home"
  make_key "$lab_dir/ssh/id_ed25519" "benchctl lab"
  for host in $(host_names); do
    make_key "$lab_dir/hosts/$host/ssh_host_key" "$host"
    write_sshd_config "$host" >"$lab_dir/hosts/$host/sshd_config"
    echo "$host,$(host_address "$host") $(cut -d' ' -f1,2 "$lab_dir/hosts/$host/ssh_host_key.pub")"
  done >"$lab_dir/ssh/known_hosts"
  # Bind-mounted over /etc/ssh/ssh_config in every host, so that ssh and mpirun need no options.
  cat >"$lab_dir/ssh/config" <<END
Host head node* 10.77.0.*
  User root
  IdentityFile $lab_dir/ssh/id_ed25519
  IdentitiesOnly yes
  UserKnownHostsFile $lab_dir/ssh/known_hosts
  GlobalKnownHostsFile /dev/null
  StrictHostKeyChecking yes
  BatchMode yes
  ConnectTimeout 5
  ServerAliveInterval 3
  ServerAliveCountMax 3
  LogLevel ERROR
END
}

# HOME is not root's: its .bashrc would run at every login, and may be slow or print text.
write_sshd_config() {
  cat <<END
ListenAddress $(host_address "$1")
HostKey $lab_dir/hosts/$1/ssh_host_key
PidFile /run/sshd.pid
AuthorizedKeysFile $lab_dir/ssh/id_ed25519.pub
StrictModes no
UsePAM no
PermitRootLogin prohibit-password
PasswordAuthentication no
KbdInteractiveAuthentication no
UseDNS no
PrintMotd no
PrintLastLog no
MaxStartups 200:30:400
MaxSessions 200
ClientAliveInterval 5
ClientAliveCountMax 3
SetEnv HOME=$lab_dir/home TMPDIR=/tmp PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin
END
}

# R: running, T: stopped (hanging), empty: no sshd.
sshd_state() {
  in_host "$1" sh -c 'read -r pid </run/sshd.pid && ps -o stat= -p "$pid" | cut -c1' 2>/dev/null | tr 'SD' 'R' || true
}

sshd_listens() { [ "$(sshd_state "$1")" = R ]; }

start_sshd() {
  case "$(sshd_state "$1")" in
    R) return 0 ;;
    T) in_host "$1" sh -c 'kill -CONT $(cat /run/sshd.pid)'; return 0 ;;
  esac
  # sshd writes its PID once it listens.
  local dir=$lab_dir/hosts/$1
  in_host "$1" rm -f /run/sshd.pid
  in_host "$1" "$(command -v sshd)" -f "$dir/sshd_config" -E "$dir/sshd.log" </dev/null || true
  wait_for 10 sshd_listens "$1" || fail "$1: sshd did not start: $(tail -n 2 "$dir/sshd.log")"
}

# Open sessions continue.
set_sshd() {  # HOST stop|start|hang
  case "$2" in
    start) start_sshd "$1" ;;
    stop) [ -z "$(sshd_state "$1")" ] || in_host "$1" sh -c 'kill -KILL $(cat /run/sshd.pid)' ;;
    hang) start_sshd "$1"; in_host "$1" sh -c 'kill -STOP $(cat /run/sshd.pid)' ;;
    *) bad_usage "'sshd' takes stop, start or hang, not '$2'" ;;
  esac
}
