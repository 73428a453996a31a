# The Open MPI environment of a lab, and the hostfile.

# NAME=VALUE lines. Every host sees all cores of the machine, so ranks are not bound and yield when idle: otherwise a small
# allreduce on 4 hosts of 2 cores is a hundred times slower.
mpi_environment() {
  cat <<END
OMPI_ALLOW_RUN_AS_ROOT=1
OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
OMPI_MCA_orte_default_hostfile=$lab_dir/hostfile
OMPI_MCA_oob_tcp_if_include=10.77.0.0/16
OMPI_MCA_btl=tcp,self
OMPI_MCA_btl_tcp_if_include=10.77.0.0/16
OMPI_MCA_pml=ob1
OMPI_MCA_osc=^ucx
OMPI_MCA_hwloc_base_binding_policy=none
OMPI_MCA_rmaps_base_oversubscribe=1
OMPI_MCA_mpi_yield_when_idle=1
END
}

print_mpi_environment() {
  local name value
  while IFS='=' read -r name value; do printf 'export %s=%q\n' "$name" "$value"; done < <(mpi_environment)
}

write_hosts_file() {  # SLOTS per host
  [[ $1 =~ ^[1-9][0-9]*$ ]] || bad_usage "'$1' is not a number of slots"
  local host
  for host in $(node_names); do echo "$host slots=$1"; done >"$lab_dir/hostfile"
  echo "$lab_dir/hostfile"
}
