# Slurm in a lab: munged on all hosts, slurmctld on head, slurmd on each node, with default paths inside each host.

# The controller of Slurm 22.05 dies if the number of nodes changes.
slurm_may_have() {  # COUNT
  [ ! -e "$lab_dir/slurm/running" ] || [ "$1" -le "$(node_names | wc -l)" ] ||
    fail "cannot add hosts to a lab with Slurm; run scripts/lab down first"
}

write_slurm_config() {
  local dir=$lab_dir/slurm nodes
  nodes=$(node_names | paste -sd,)
  mkdir -p "$dir"/{etc,state,spool,log}
  [ -e "$dir/munge.key" ] || (umask 077; head -c 128 /dev/urandom >"$dir/munge.key")
  cat >"$dir/etc/slurm.conf" <<END
ClusterName=lab
SlurmctldHost=head
SlurmUser=root
SlurmdUser=root
AuthType=auth/munge
StateSaveLocation=$dir/state
SlurmdSpoolDir=$dir/spool/%n
SlurmctldLogFile=$dir/log/slurmctld.log
SlurmdLogFile=$dir/log/slurmd-%n.log
SlurmctldPidFile=/run/slurmctld.pid
SlurmdPidFile=/run/slurmd.pid
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SwitchType=switch/none
MpiDefault=none
SelectType=select/cons_tres
SelectTypeParameters=CR_CPU
SchedulerParameters=batch_sched_delay=1,sched_interval=5,bf_interval=5
AccountingStorageType=accounting_storage/none
JobAcctGatherType=jobacct_gather/none
# A node that does not respond is marked down after this time, until it registers again.
SlurmdTimeout=15
ReturnToService=2
SlurmctldTimeout=10
MessageTimeout=10
KillWait=5
SlurmdParameters=config_overrides
NodeName=$nodes CPUs=$(nproc) RealMemory=1000 State=UNKNOWN
PartitionName=lab Nodes=$nodes Default=YES MaxTime=INFINITE State=UP
END
  echo "CgroupAutomount=no" >"$dir/etc/cgroup.conf"
}

runs() { in_host "$1" sh -c "kill -0 \$(cat $2)" 2>/dev/null; }  # HOST PIDFILE

start_munged() {
  local log=$lab_dir/slurm/log/munged-$1.log
  in_host "$1" munged --force --num-threads=2 --key-file="$lab_dir/slurm/munge.key" --socket=/run/munge/munge.socket.2 \
    --pid-file=/run/munge/munged.pid --seed-file=/run/munge/munged.seed --log-file="$log" </dev/null ||
    fail "$1: munged did not start: $(tail -n 2 "$log")"
}

start_slurm_on() {
  local dir=$lab_dir/slurm daemon=slurmd
  [ "$1" != head ] || daemon=slurmctld
  in_host "$1" test /etc/slurm/slurm.conf -ef "$dir/etc/slurm.conf" ||
    in_host "$1" mount --bind "$dir/etc" /etc/slurm
  runs "$1" /run/munge/munged.pid || start_munged "$1"
  mkdir -p "$dir/spool/$1"
  runs "$1" "/run/$daemon.pid" || in_host "$1" "$daemon" </dev/null || fail "$1: $daemon did not start; see $dir/log"
}

nodes_are_idle() {
  local states
  states=$(in_host head timeout 10 sinfo -h -N -o %t 2>/dev/null) && [ "$(sort -u <<<"$states")" = idle ]
}

start_slurm() {
  [ -e "$lab_dir/slurm/running" ] || write_slurm_config
  : >"$lab_dir/slurm/running"
  local host
  for host in $(host_names); do start_slurm_on "$host"; done
  wait_for 60 nodes_are_idle ||
    fail "Slurm nodes did not become idle: $(in_host head sinfo -h -N -o '%N %t' | paste -sd,); see $lab_dir/slurm/log"
}
