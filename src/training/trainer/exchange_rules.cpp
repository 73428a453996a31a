#include "training/trainer/exchange_rules.h"

#include <fmt/format.h>

#include <utility>

#include "core/error.h"

namespace bench::training {

std::string why_not_exchanged(const TrainerOptions& options, Workload& workload, int ranks,
                              bool on_host) {
  const ExchangeMethod& method = options.parallel.method;
  if (method.kind == ExchangeKind::full) return "";
  const std::string what = fmt::format("exchange {}", text_of(method));
  if (ranks < 2) return what + " needs several ranks: start at least 2";
  if (!on_host) return what + " works on CPUs only: use exchange full";
  if (options.split.divides_model())
    return what +
           " needs whole models: remove tp, cp, pp, ep and zero above 1, or use exchange full";
  if (options.parallel.shard_optimizer)
    return what + " and a sharded optimizer exclude each other: remove zero=1 and shard_optimizer";
  if (is_narrow(options.dtype))
    return fmt::format("{} works in f32 and f64 only: not in {}", what, to_string(options.dtype));
  if (method.is_local() && workload.tables() != nullptr)
    return fmt::format(
        "{}: the embedding tables of {} are divided over ranks, which need each "
        "other in every step: use full, topk or powersgd",
        what, workload.name());
  return "";
}

void check_exchange(const TrainerOptions& options, Workload& workload, int ranks) {
  const bool on_host = options.parallel.stream == nullptr;
  if (const std::string why = why_not_exchanged(options, workload, ranks, on_host); !why.empty())
    throw Error(ErrorKind::input, why);
  const ExchangeMethod& method = options.parallel.method;
  const std::int64_t checkpoints = options.checkpoint.empty() ? 0 : options.checkpoint_every;
  for (const auto& [name, every] : {std::pair{"evaluation_every", options.recipe.evaluation_every},
                                    std::pair{"checkpoint_every", checkpoints}})
    if (rounded_to_period(every, method) != every)
      throw Error(ErrorKind::input,
                  fmt::format("{} {} is not a multiple of {} local steps, after which ranks have a "
                              "common model",
                              name, every, method.local_steps),
                  fmt::format("use {}", rounded_to_period(every, method)));
}

std::int64_t rounded_to_period(std::int64_t steps, const ExchangeMethod& method) {
  if (!method.is_local()) return steps;
  return (steps + method.local_steps - 1) / method.local_steps * method.local_steps;
}

void round_to_periods(TrainerOptions& options) {
  for (std::int64_t* every : {&options.recipe.evaluation_every, &options.checkpoint_every})
    *every = rounded_to_period(*every, options.parallel.method);
}

}  // namespace bench::training
