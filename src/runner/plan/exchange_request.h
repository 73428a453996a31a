// The option --exchange of `benchctl train`: what data-parallel ranks exchange. Pure.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "core/json.h"

namespace bench {

/// By the probe's parameters (schemas/probes/training.json), which have the values that are unset.
struct ExchangeRequest {
  std::string kind = "full";
  std::optional<double> topk_share = {};
  std::optional<std::int64_t> powersgd_rank = {}, local_steps = {};
  std::optional<double> outer_rate = {}, outer_momentum = {};  // of local

  bool is_full() const { return kind == "full"; }
};

/// Parses "full", "topk=0.01", "powersgd=4" or "local=32,rate=0.7,momentum=0.9"; what follows the
/// kind may be missing. Throws Error(usage).
ExchangeRequest exchange_from(const std::string& text);

/// Adds its parameters of the probe.
void add_exchange(const ExchangeRequest& exchange, Json& params);

/// Throws Error(usage) if so few ranks have nothing to exchange.
void check_ranks_of_exchange(const ExchangeRequest& exchange, int ranks);

}  // namespace bench
