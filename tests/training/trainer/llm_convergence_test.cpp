// What llm tiny learns, on data whose lowest loss is known.
#include <chrono>
#include <cstdlib>
#include <iostream>

#include "tests/support/catch.h"
#include "tests/training/llm_trainer.h"

namespace bench::training {

// By hand: training_tests "llm tiny reaches its target", with SEED, LANES, MICRO, STEPS as asked.
TEST_CASE("llm tiny reaches its target", "[.evidence]") {
  const auto number = [](const char* name, int otherwise) {
    const char* text = std::getenv(name);
    return text ? std::atoi(text) : otherwise;
  };
  LlmTrainerOptions options;
  options.steps = number("STEPS", 1953);  // 4 million tokens
  options.seed = static_cast<std::uint64_t>(number("SEED", 1));
  options.lanes = number("LANES", 2);
  options.micro_batches = number("MICRO", 4);
  LlmTrainer trainer(options);
  double seconds = 0.0;
  const std::clock_t cpu = std::clock();  // says what a machine that others use too hides
  for (int step = 0; step < options.steps; ++step) {
    const auto begin = std::chrono::steady_clock::now();
    const Replica::Step done = trainer.step();
    seconds += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    if ((step + 1) % 200 == 0)
      std::cout << "step " << step + 1 << " loss " << done.loss << " gap " << trainer.gap() << "\n";
  }
  const double gap = trainer.gap();
  std::cout << "gap " << gap << " after " << seconds << " s, "
            << static_cast<double>(options.steps) * 2048 / seconds << " tokens/s; "
            << static_cast<double>(std::clock() - cpu) / CLOCKS_PER_SEC
            << " CPU seconds, evaluations included\n";
  CHECK(gap <= 0.12);
}

}  // namespace bench::training
