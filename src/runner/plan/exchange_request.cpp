#include "runner/plan/exchange_request.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <type_traits>

#include "core/error.h"
#include "core/text.h"

namespace bench {
namespace {

constexpr const char* kExchanges =
    "use full, topk=SHARE, powersgd=RANK or local=STEPS[,rate=R,momentum=M]";

[[noreturn]] void refuse_exchange(const std::string& item, const std::string& hint) {
  throw Error(ErrorKind::usage, "--exchange: '" + item + "'", hint);
}

template <class Number>
std::optional<Number> whole_text_as(const std::string& text) {
  if constexpr (std::is_integral_v<Number>) return parse_as<Number>(text);
  Number value{};
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, value);
  return error == std::errc() && stop == end ? std::optional(value) : std::nullopt;
}

/// The number after "key="; nothing if only the key is there.
template <class Number>
std::optional<Number> value_of(const std::string& item, Number low, Number high, const char* what) {
  const std::size_t equal = item.find('=');
  if (equal == std::string::npos) return {};
  const auto number = whole_text_as<Number>(item.substr(equal + 1));
  if (!number || !(*number >= low) || !(*number <= high))
    refuse_exchange(item,
                    fmt::format("{} is {} from {} to {}", item.substr(0, equal), what, low, high));
  return number;
}

}  // namespace

ExchangeRequest exchange_from(const std::string& text) {
  ExchangeRequest exchange;
  bool first = true;
  for (std::size_t at = 0; at <= text.size(); first = false) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    at = comma + 1;
    const std::string key = item.substr(0, item.find('='));
    if (first && key == "full" && item == key) {
    } else if (first && key == "topk") {
      exchange.topk_share = value_of(item, 1e-6, 1.0, "the share of elements to send,");
    } else if (first && key == "powersgd") {
      exchange.powersgd_rank = value_of<std::int64_t>(item, 1, 1024, "a whole number");
    } else if (first && key == "local") {
      exchange.local_steps = value_of<std::int64_t>(item, 1, 1'000'000, "a whole number");
    } else if (!first && exchange.kind == "local" && key == "rate" && !exchange.outer_rate) {
      exchange.outer_rate = value_of(item, 1e-6, 10.0, "a number");
      if (!exchange.outer_rate) refuse_exchange(item, kExchanges);
    } else if (!first && exchange.kind == "local" && key == "momentum" &&
               !exchange.outer_momentum) {
      exchange.outer_momentum = value_of(item, 0.0, 0.9999, "a number");
      if (!exchange.outer_momentum) refuse_exchange(item, kExchanges);
    } else {
      refuse_exchange(item, kExchanges);
    }
    if (first) exchange.kind = key;
  }
  return exchange;
}

void add_exchange(const ExchangeRequest& exchange, Json& params) {
  if (exchange.is_full()) return;
  params["exchange"] = exchange.kind;
  const auto put = [&](const char* name, const auto& value) {
    if (value) params[name] = *value;
  };
  put("topk_share", exchange.topk_share);
  put("powersgd_rank", exchange.powersgd_rank);
  put("local_steps", exchange.local_steps);
  put("outer_rate", exchange.outer_rate);
  put("outer_momentum", exchange.outer_momentum);
}

void check_ranks_of_exchange(const ExchangeRequest& exchange, int ranks) {
  if (exchange.is_full() || ranks > 1) return;
  throw Error(ErrorKind::usage,
              "--exchange " + exchange.kind + ": one rank has nothing to exchange",
              "add --ranks 2, or use more hosts");
}

}  // namespace bench
