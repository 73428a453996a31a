// Chooses the health of the make-believe GPU behind tests/support/fake_nvml.cpp for one test.
#pragma once

#include <cstdlib>

namespace bench {

class FakeNvml {
 public:
  explicit FakeNvml(const char* scenario) { setenv("FAKE_NVML", scenario, 1); }
  ~FakeNvml() { unsetenv("FAKE_NVML"); }
  FakeNvml(const FakeNvml&) = delete;
  FakeNvml& operator=(const FakeNvml&) = delete;

  const char* library() const { return BENCH_FAKE_NVML; }
};

}  // namespace bench
