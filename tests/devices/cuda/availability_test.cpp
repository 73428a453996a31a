#include "devices/cuda/availability.h"

#include <filesystem>
#include <fstream>

#include "devices/cuda/cuda_device.h"
#include "tests/support/catch.h"
#include "tests/support/temporary_directory.h"

namespace bench {
namespace {

TEST_CASE("a GPU and a driver as new as the program are no obstacle") {
  CHECK(cuda_obstacle({13000, 13000, 1, ""}, 0).empty());
  CHECK(cuda_obstacle({12040, 13000, 8, ""}, 7).empty());
  CHECK(cuda_obstacle({12080, 12040, 1, ""}, 0).empty());  // the same major version
}

TEST_CASE("an old driver is named with both versions") {
  const std::string reason = cuda_obstacle({13000, 12040, 0, "cudaErrorInsufficientDriver"}, 0);
  CHECK(reason.find("driver 12.4 < 13.0") == 0);
  CHECK(cuda_obstacle({12040, 11080, 0, "cudaErrorInsufficientDriver"}, 0)
            .find("driver 11.8 < 12.4") == 0);
}

TEST_CASE("each other way to have no GPU has its own reason") {
  CHECK(cuda_obstacle({13000, 0, 0, "cudaErrorInsufficientDriver"}, 0).find("no NVIDIA driver") !=
        std::string::npos);
  CHECK(cuda_obstacle({13000, 13000, 0, "cudaErrorNoDevice"}, 0).find("CUDA_VISIBLE_DEVICES") !=
        std::string::npos);
  CHECK(cuda_obstacle({13000, 13000, 0, "cudaErrorSystemNotReady"}, 0) ==
        "no device: cudaErrorSystemNotReady");
  CHECK(cuda_obstacle({13000, 13000, 2, ""}, 2) == "no device for rank 2: this host has 2");
}

TEST_CASE("GPUs that are there and cannot be used are a failure, not a host without any") {
  unsetenv("CUDA_VISIBLE_DEVICES");
  const TemporaryDirectory root;
  const SystemFiles files(root.path());
  const CudaAnswer none{13000, 13000, 0, "cudaErrorNoDevice"}, no_driver{13000, 0, 0, ""};
  CHECK(cuda_failure({13000, 13000, 0, "cudaErrorSystemNotReady"}, files) ==
        "CUDA cannot be initialised on this host: cudaErrorSystemNotReady");
  CHECK(cuda_failure({13000, 12040, 0, "cudaErrorInsufficientDriver"}, files).empty());
  CHECK(cuda_failure({13000, 13000, 8, ""}, files).empty());
  CHECK(cuda_failure(none, files).empty());
  const auto add = [&](const std::string& address, const char* device_class) {
    const auto folder = root.path() / "sys/bus/pci/devices" / address;
    std::filesystem::create_directories(folder);
    std::ofstream(folder / "vendor") << "0x10de\n";
    std::ofstream(folder / "class") << device_class << "\n";
  };
  add("0000:01:00.0", "0x030000");  // drives a display
  CHECK(cuda_failure(no_driver, files).empty());
  add("0000:3b:00.0", "0x030200");
  CHECK(cuda_failure(no_driver, files) ==
        "the GPU 0000:3b:00.0 is on the PCI bus, but no NVIDIA driver is loaded");
  std::filesystem::create_directories(root.path() / "sys/module/nvidia");
  CHECK(cuda_failure(none, files) ==
        "the GPU 0000:3b:00.0 is on the PCI bus, but the driver reports no GPU");
  CHECK(cuda_failure(no_driver, files).empty());  // in a container without its libraries
  setenv("SLURM_STEP_ID", "0", 1);
  CHECK(cuda_failure(none, files).empty());  // a step that asked for no GPU
  setenv("SLURM_STEP_GPUS", "0", 1);
  CHECK_FALSE(cuda_failure(none, files).empty());
  unsetenv("SLURM_STEP_ID");
  unsetenv("SLURM_STEP_GPUS");
  setenv("CUDA_VISIBLE_DEVICES", "", 1);
  CHECK(cuda_failure(none, files).empty());
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_CASE("a rank drives the GPU of its number, or the only one that it was given") {
  unsetenv("CUDA_VISIBLE_DEVICES");
  CHECK(gpu_of_rank({13000, 13000, 8, ""}, 3) == 3);
  CHECK(gpu_of_rank({13000, 13000, 1, ""}, 3) == 3);  // a host with one GPU: an obstacle
  setenv("CUDA_VISIBLE_DEVICES", "5", 1);
  CHECK(gpu_of_rank({13000, 13000, 1, ""}, 3) == 0);
  setenv("CUDA_VISIBLE_DEVICES", "4,5", 1);
  CHECK(gpu_of_rank({13000, 13000, 2, ""}, 1) == 1);
  CHECK(gpu_of_rank({13000, 13000, 1, ""}, 1) == 1);  // the other one is broken
  unsetenv("CUDA_VISIBLE_DEVICES");
}

TEST_CASE("a rank without a GPU gets a device with the reason") {
  const CudaAnswer answer = ask_cuda();
  const auto device = make_cuda_device();
  CHECK(device->kind() == "cuda");
  CHECK(device->absent() == cuda_obstacle(answer, local_rank()));
}

TEST_CASE("the rank's number on its host comes from the launcher") {
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "LOCAL_RANK"})
    unsetenv(name);
  CHECK(local_rank() == 0);
  setenv("LOCAL_RANK", "3", 1);
  CHECK(local_rank() == 3);
  setenv("SLURM_LOCALID", "x", 1);  // no number: asked elsewhere
  CHECK(local_rank() == 3);
  setenv("OMPI_COMM_WORLD_LOCAL_RANK", "1", 1);
  CHECK(local_rank() == 1);
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "SLURM_LOCALID", "LOCAL_RANK"})
    unsetenv(name);
}

}  // namespace
}  // namespace bench
