// Waiting of threads that work together: they spin for a moment, then sleep.
#pragma once

#include <atomic>

namespace bench::training {

/// Until the value is another one than `old`. Whoever changes it must notify.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  // Spinning this long costs less than sleeping and waking; longer spinning would block the core.
  constexpr int kSpins = 2000;
  for (int i = 0; i < kSpins; ++i) {
    if (value.load(std::memory_order_acquire) != old) return;
#if defined(__x86_64__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    asm volatile("yield");
#endif
  }
  value.wait(old, std::memory_order_acquire);
}

}  // namespace bench::training
