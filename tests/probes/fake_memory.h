// Memory that takes no time but what it says, for tests of the memory probes' own decisions.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "devices/memory.h"
#include "tests/support/fake_device.h"

namespace bench {

class FakeMemory final : public MemorySystem {
 public:
  explicit FakeMemory(FakeDevice& device) : device_(device) {}

  std::vector<CacheLevel> caches() const override { return fake_caches; }
  std::vector<MemoryNode> nodes() const override { return fake_nodes; }
  double available_bytes() const override { return available; }
  std::string no_huge_pages() const override { return huge_reason; }
  std::string no_nontemporal() const override { return nontemporal_reason; }
  std::string instructions() const override { return "fake"; }
  std::unique_ptr<MemoryArrays> arrays(const ArraysRequest& request) override {
    array_requests.push_back(request);
    return std::make_unique<Arrays>(*this);
  }
  std::unique_ptr<MemoryChain> chain(const ChainRequest& request) override {
    chain_requests.push_back(request);
    return std::make_unique<Chain>(*this);
  }

  std::vector<CacheLevel> fake_caches = {{1, 32768, 1}, {2, 1048576, 1}, {3, 33554432, 4}};
  std::vector<MemoryNode> fake_nodes = {{0, {0, 1, 2, 3}, true}};
  double available = 64e9;
  double share = 1.0;
  double bytes_per_second = 1e9;
  double seconds_per_load = 1e-7;
  double error = 0.0;
  std::optional<double> core = {};  // of a core, that each thread gets
  std::string huge_reason, nontemporal_reason;
  std::vector<ArraysRequest> array_requests;
  std::vector<ChainRequest> chain_requests;
  std::vector<StreamRequest> prepared;

 private:
  struct Arrays final : MemoryArrays {
    explicit Arrays(FakeMemory& owner) : memory(owner) {}
    double huge_share() const override { return memory.share; }
    StreamAmount prepare(const StreamRequest& request) override {
      memory.prepared.push_back(request);
      return {3e6, request.stores == Stores::plain ? 4e6 : 3e6};
    }
    void run(std::int64_t calls) override {
      memory.device_.time += Seconds{3e6 / memory.bytes_per_second * static_cast<double>(calls)};
    }
    Check verify() override { return {"fake", memory.error, 0.0}; }
    std::optional<double> core_share() override { return memory.core; }
    FakeMemory& memory;
  };
  struct Chain final : MemoryChain {
    explicit Chain(FakeMemory& owner) : memory(owner) {}
    double huge_share() const override { return memory.share; }
    void prepare(double) override {}
    void run(std::int64_t loads) override {
      memory.device_.time += Seconds{memory.seconds_per_load * static_cast<double>(loads)};
    }
    Check verify() override { return {"fake", memory.error, 0.0}; }
    FakeMemory& memory;
  };

  FakeDevice& device_;
};

}  // namespace bench
