// The environment variables that tell a rank which part of its host is meant. They are our own, and
// the rank turns them into what its libraries read: CUDA_VISIBLE_DEVICES is Slurm's to set in a
// step with gres, and cards may have other names on other hosts.
#pragma once

namespace bench {

/// "cuda:3", "numa:1"; several GPUs, one for each rank of a host, with commas: "cuda:3,cuda:5".
inline constexpr const char* kDeviceVariable = "BENCH_DEVICE";
/// "mlx5_2" for all hosts, or "n1=mlx5_2,n2=mlx5_3".
inline constexpr const char* kCardsVariable = "BENCH_NETWORK_CARDS";

}  // namespace bench
