#include "core/parallel.h"

#include <sched.h>

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace bench {

int allowed_processors() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  if (sched_getaffinity(0, sizeof mask, &mask) != 0) return 1;
  return std::max(1, CPU_COUNT(&mask));
}

void in_parts(std::size_t count, std::size_t least,
              const std::function<void(std::size_t, std::size_t)>& work, int threads) {
  const std::size_t most = count / std::max<std::size_t>(1, least);
  const std::size_t parts =
      std::clamp<std::size_t>(most, 1, static_cast<std::size_t>(std::max(1, threads)));
  std::vector<std::exception_ptr> errors(parts);
  const auto run = [&](std::size_t part) {
    try {
      work(count * part / parts, count * (part + 1) / parts);
    } catch (...) {
      errors[part] = std::current_exception();
    }
  };
  std::vector<std::thread> others;
  others.reserve(parts - 1);
  std::size_t started = 1;
  try {
    for (; started < parts; ++started) others.emplace_back(run, started);
  } catch (...) {
    // No more threads can be started here, or there is no memory for one: the caller does the rest.
  }
  run(0);
  for (std::size_t part = started; part < parts; ++part) run(part);
  for (std::thread& other : others) other.join();
  for (const std::exception_ptr& error : errors)
    if (error) std::rethrow_exception(error);
}

}  // namespace bench
