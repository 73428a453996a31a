#include "devices/cuda/cuda_device.h"

#include <cublasLt.h>
#include <cuda_runtime_api.h>

#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string_view>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "devices/cuda/availability.h"
#include "devices/cuda/cublas_gemm.h"
#include "devices/cuda/cuda_copies.h"
#include "devices/cuda/cuda_error.h"
#include "devices/cuda/cuda_memory.h"
#include "devices/cuda/injected_fault.h"
#include "devices/cuda/library_environment.h"
#include "devices/cuda/nccl_collectives.h"
#include "devices/cuda/stream_graph.h"
#include "devices/cuda/stream_kernels.h"
#include "devices/cuda/stream_timer.h"
#include "devices/facts/nearness.h"
#include "devices/facts/pci_link.h"
#include "devices/gemm.h"
#include "devices/host/topology_hwloc.h"
#include "devices/host_clock.h"
#include "devices/launches.h"
#include "devices/memory.h"
#include "devices/nvml/gpu_monitor.h"

namespace bench {
namespace {

class CudaLaunchRun final : public LaunchRun {
 public:
  CudaLaunchRun(LaunchKind kind, bool wait_each, cudaStream_t stream)
      : kind_(kind), wait_each_(wait_each), stream_(stream), counter_(sizeof(std::uint64_t)) {
    set_now(counter_.as<>(), 0, counter_.bytes(), "clear the counter");
    launch_add_one(counter_.as<std::uint64_t>(), stream_);  // loads the kernel
    wait();
    expected_ = 1;
    if (kind == LaunchKind::graph)
      graph_ = std::make_unique<StreamGraph>(stream_, [this] {
        for (int i = 0; i < kLaunchesInGraph; ++i)
          launch_add_one(counter_.as<std::uint64_t>(), stream_);
      });
  }

  void run(std::int64_t calls) override {
    for (std::int64_t call = 0; call < calls; ++call) {
      launch();
      if (wait_each_) wait();
    }
    if (!wait_each_) wait();
  }

  Check verify() override {
    std::uint64_t count = 0;
    inject_fault_on_gpu(counter_.as<>());
    copy_now(&count, counter_.as<>(), sizeof count, "read the counter");
    return {"kernels that ran",
            std::abs(static_cast<double>(count) - static_cast<double>(expected_)), 0.0};
  }

 private:
  void launch() {
    if (kind_ == LaunchKind::kernel) {
      launch_add_one(counter_.as<std::uint64_t>(), stream_);
      ++expected_;
    } else if (kind_ == LaunchKind::graph) {
      graph_->launch();
      expected_ += kLaunchesInGraph;
    }
  }

  void wait() { check(cudaStreamSynchronize(stream_), "wait for the stream"); }

  const LaunchKind kind_;
  const bool wait_each_;
  const cudaStream_t stream_;
  DeviceMemory counter_;
  std::unique_ptr<StreamGraph> graph_;
  std::uint64_t expected_ = 0;
};

class CudaLaunches final : public Launches {
 public:
  explicit CudaLaunches(cudaStream_t stream) : stream_(stream) {}
  std::unique_ptr<LaunchRun> prepare(LaunchKind kind, bool wait_each) override {
    return std::make_unique<CudaLaunchRun>(kind, wait_each, stream_);
  }

 private:
  cudaStream_t stream_;
};

}  // namespace

std::string cublas_version() {
  const std::size_t version = cublasLtGetVersion();
  return std::to_string(version / 10000) + "." + std::to_string(version / 100 % 100) + "." +
         std::to_string(version % 100);
}

Json cuda_library_versions() {
  const CudaAnswer answer = ask_cuda();
  Json versions = {{"cuda_runtime", cuda_version_text(answer.runtime_version)},
                   {"cuda_driver", nullptr},
                   {"cublaslt", cublas_version()}};
  const std::string nccl = nccl_version();
  versions["nccl"] = nccl.empty() ? Json(nullptr) : Json(nccl);
  if (answer.driver_version > 0) versions["cuda_driver"] = cuda_version_text(answer.driver_version);
  return versions;
}

namespace {

/// GPU samples are timed on a stream, so time lost by host threads is not included.
class CudaWatch final : public ThreadWatch {
 public:
  void start() override {}
  Seconds lost() override { return {0.0}; }
  Seconds cpu_time() override { return cpu_time_of(CLOCK_PROCESS_CPUTIME_ID); }
  std::optional<MachineTime> machine_time() override { return {}; }
};

class AbsentDevice final : public Device {
 public:
  AbsentDevice(std::string reason, std::string failure)
      : reason_(std::move(reason)), failure_(std::move(failure)) {}
  std::string kind() const override { return "cuda"; }
  std::string id() const override { return "none"; }
  std::string absent() const override { return failure_.empty() ? reason_ : ""; }
  std::string broken() const override { return failure_; }
  Seconds now() override { return steady_now(); }
  std::optional<Hertz> clock() override { return {}; }
  ThreadWatch& watch() override { return watch_; }
  int cores() const override { return 1; }

 private:
  std::string reason_, failure_;
  CudaWatch watch_;
};

/// "GPU-8c2b0c3e-..." as nvidia-smi prints it.
std::string uuid_text(const cudaUUID_t& uuid) {
  std::string text = "GPU-";
  for (int i = 0; i < 16; ++i) {
    std::array<char, 3> hex{};
    std::snprintf(hex.data(), hex.size(), "%02x", static_cast<unsigned char>(uuid.bytes[i]));
    if (i == 4 || i == 6 || i == 8 || i == 10) text += '-';
    text += hex.data();
  }
  return text;
}

class CudaDevice final : public Device {
 public:
  CudaDevice(int number, std::shared_ptr<const nvml::Library> nvml,
             MakeTrainingKernels training_kernels)
      : number_(select(number)),
        timer_(stream_.get()),
        make_training_kernels_(std::move(training_kernels)) {
    check(cudaGetDeviceProperties(&properties_, number_), "query the GPU's properties");
    monitor_ = nvml::GpuMonitor::find(std::move(nvml), id());
  }

  std::string kind() const override { return "cuda"; }
  std::string id() const override { return uuid_text(properties_.uuid); }
  Seconds now() override { return steady_now(); }
  Seconds timed(const std::function<void()>& piece, std::int64_t calls,
                const std::function<void()>& meet) override {
    return timer_.time(piece, calls, meet);
  }
  std::int64_t most_calls() const override { return StreamTimer::kMostHeldBack; }
  void untimed(const std::function<void()>& piece) override {
    piece();
    check(cudaStreamSynchronize(stream_.get()), "the first CUDA call");
  }
  std::optional<Hertz> clock() override { return timer_.clock(); }
  bool steady_clock() const override { return false; }
  unsigned slowdown() override { return monitor_ ? monitor_->slowdown() : 0; }
  /// Such an error is returned by every call.
  bool lost() override {
    const bool broken = cudaDeviceSynchronize() != cudaSuccess;
    cudaGetLastError();
    return broken && cudaDeviceSynchronize() != cudaSuccess;
  }
  std::vector<DeviceFault> faults() override {
    return monitor_ ? monitor_->faults() : std::vector<DeviceFault>();
  }
  ThreadWatch& watch() override { return watch_; }
  Json facts() override {
    constexpr double kKilohertz = 1e3;
    Json facts = {{"id", id()},
                  {"name", properties_.name},
                  {"compute_capability",
                   std::to_string(properties_.major) + "." + std::to_string(properties_.minor)},
                  {"multiprocessors", properties_.multiProcessorCount},
                  {"memory_bytes", properties_.totalGlobalMem},
                  {"l2_bytes", properties_.l2CacheSize},
                  {"clock_hz", kKilohertz * attribute(cudaDevAttrClockRate)},
                  {"memory_clock_hz", kKilohertz * attribute(cudaDevAttrMemoryClockRate)},
                  {"memory_bus_bits", properties_.memoryBusWidth}};
    facts.update(read_pci_link(SystemFiles(), pci_address()));
    if (monitor_) facts.update(monitor_->links());
    const Json environment = library_environment();
    if (!environment.empty()) facts["library_environment"] = environment;
    return facts;
  }
  int cores() const override { return 1; }

  MemorySystem* memory() override {
    if (!memory_) memory_ = make_cuda_memory(number_, stream_.get(), timer_);
    return memory_.get();
  }
  Gemm* gemm() override {
    if (!gemm_) gemm_ = make_cublas_gemm(number_, stream_.get(), timer_);
    return gemm_.get();
  }
  Copies* copies() override {
    if (!copies_) copies_ = make_cuda_copies(number_, stream_.get());
    return copies_.get();
  }
  Collectives* collectives(Group& group) override {
    if (!collectives_) collectives_ = make_nccl_collectives(group, stream_.get());
    return collectives_.get();
  }
  TrainingKernels* training_kernels() override {
    if (!training_kernels_ && make_training_kernels_) training_kernels_ = make_training_kernels_();
    return training_kernels_.get();
  }
  Launches* launches() override {
    if (!launches_) launches_ = std::make_unique<CudaLaunches>(stream_.get());
    return launches_.get();
  }

 private:
  /// Before the stream is created, which belongs to the current GPU.
  static int select(int number) {
    check(cudaSetDevice(number), "select GPU " + std::to_string(number));
    return number;
  }

  std::string pci_address() const {
    std::array<char, 32> text{};
    check(cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), number_),
          "query the GPU's PCI address");
    return text.data();
  }

  double attribute(cudaDeviceAttr what) const {
    int value = 0;
    check(cudaDeviceGetAttribute(&value, what, number_), "query a GPU attribute");
    return value;
  }

  int number_;
  CudaStream stream_;
  StreamTimer timer_;
  MakeTrainingKernels make_training_kernels_;
  CudaWatch watch_;
  cudaDeviceProp properties_{};
  std::unique_ptr<nvml::GpuMonitor> monitor_;
  std::unique_ptr<MemorySystem> memory_;
  std::unique_ptr<Gemm> gemm_;
  std::unique_ptr<Copies> copies_;
  std::unique_ptr<Launches> launches_;
  std::shared_ptr<TrainingKernels> training_kernels_;
  std::unique_ptr<Collectives> collectives_;
};

}  // namespace

int local_rank() {
  // LOCAL_RANK first: torchrun in a Slurm step gives all its ranks the same SLURM_LOCALID.
  for (const char* name : {"OMPI_COMM_WORLD_LOCAL_RANK", "LOCAL_RANK", "SLURM_LOCALID"}) {
    const char* text = std::getenv(name);
    if (text == nullptr) continue;
    if (const auto rank = parse_as<int>(text); rank && *rank >= 0) return *rank;
  }
  return 0;
}

std::unique_ptr<Device> make_cuda_device(std::shared_ptr<const nvml::Library> nvml,
                                         MakeTrainingKernels training_kernels) {
  const CudaAnswer answer = ask_cuda();
  const int gpu = gpu_of_rank(answer, local_rank());
  const std::string obstacle = cuda_obstacle(answer, gpu);
  if (!obstacle.empty())
    return std::make_unique<AbsentDevice>(obstacle, cuda_failure(answer, SystemFiles()));
  return std::make_unique<CudaDevice>(gpu, std::move(nvml), std::move(training_kernels));
}

namespace {

/// "0000:3b:00.0"; "" if unknown.
std::string address_of_gpu(int gpu) {
  std::array<char, 32> text{};
  if (cudaDeviceGetPCIBusId(text.data(), static_cast<int>(text.size()), gpu) != cudaSuccess)
    return "";
  return to_lower(text.data());
}

RankPlace place_of(const std::string& address) {
  if (address.empty()) return {address, {}, {}, "CUDA does not report the GPU's PCI address"};
  try {
    return place_rank(read_hwloc(), address);
  } catch (const Error& error) {
    return {address, {}, {}, error.what()};
  }
}

}  // namespace

Json place_near_gpu() {
  const CudaAnswer answer = ask_cuda();
  const int gpu = gpu_of_rank(answer, local_rank());
  if (!cuda_obstacle(answer, gpu).empty()) return nullptr;
  const RankPlace place = place_of(address_of_gpu(gpu));
  const NodeBinding binding =
      place.node ? bind_to_node(*place.node) : NodeBinding{{}, false, place.unknown};
  Json json = to_json(place);
  json["cpus"] = binding.cpus.empty() ? Json(nullptr) : Json(binding.cpus);
  json["memory_bound"] = binding.memory;
  json["reason"] = binding.obstacle.empty() ? Json(nullptr) : Json(binding.obstacle);
  return json;
}

}  // namespace bench
