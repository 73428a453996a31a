#include "training/parallel/exchange_method.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "core/error.h"

namespace bench::training {
namespace {

constexpr std::string_view kExchangeKinds[] = {"full", "topk", "powersgd", "local"};

}  // namespace

std::string_view to_string(ExchangeKind kind) {
  return kExchangeKinds[static_cast<std::size_t>(kind)];
}

ExchangeKind exchange_kind_from(std::string_view name) {
  const auto found = std::ranges::find(kExchangeKinds, name);
  if (found == std::end(kExchangeKinds))
    throw Error(ErrorKind::input, fmt::format("unknown exchange '{}'", name),
                "use full, topk, powersgd or local");
  return static_cast<ExchangeKind>(found - std::begin(kExchangeKinds));
}

std::string text_of(const ExchangeMethod& method) {
  const ExchangeMethod usual;
  switch (method.kind) {
    case ExchangeKind::full:
      return "";
    case ExchangeKind::topk:
      return fmt::format("topk={}", method.share);
    case ExchangeKind::powersgd:
      return fmt::format("powersgd={}", method.rank);
    case ExchangeKind::local:
      break;
  }
  std::string text = fmt::format("local={}", method.local_steps);
  if (method.outer_rate != usual.outer_rate) text += fmt::format(",rate={}", method.outer_rate);
  if (method.outer_momentum != usual.outer_momentum)
    text += fmt::format(",momentum={}", method.outer_momentum);
  return text;
}

std::vector<RowTensor> row_tensors(const Plan& plan) {
  const auto size = static_cast<std::int64_t>(size_of(plan.graph->compute()));
  std::vector<RowTensor> tensors;
  for (const auto& [tensor, action] : plan.gradient_order) {
    const Slot& slot = plan.gradients[static_cast<std::size_t>(tensor)];
    const Buffer& buffer = plan.buffers[static_cast<std::size_t>(slot.buffer)];
    tensors.push_back({buffer.offset / size, slot.rows, slot.columns, tensor});
  }
  std::ranges::sort(tensors, {}, &RowTensor::first);
  return tensors;
}

std::int64_t sent_elements(const ExchangeMethod& method, std::int64_t elements) {
  const auto share = static_cast<std::int64_t>(
      std::ceil(method.share * static_cast<double>(elements) * (1.0 - 1e-12)));
  return std::clamp<std::int64_t>(share, 1, elements);
}

std::int64_t factor_rank(const ExchangeMethod& method, const RowTensor& tensor) {
  const std::int64_t rank = std::min({std::int64_t{method.rank}, tensor.rows, tensor.columns});
  return rank * (tensor.rows + tensor.columns) < tensor.elements() ? rank : 0;
}

double exchanged_bytes(const ExchangeMethod& method, const Plan& plan) {
  const auto size = static_cast<double>(size_of(plan.graph->compute()));
  double bytes = 0.0;
  for (const RowTensor& tensor : row_tensors(plan)) {
    const auto elements = static_cast<double>(tensor.elements());
    if (method.kind == ExchangeKind::topk) {
      const std::int64_t sent = sent_elements(method, tensor.elements());
      bytes += static_cast<double>(sent) * (size + sizeof(std::int32_t));
    } else if (method.kind == ExchangeKind::powersgd && factor_rank(method, tensor) > 0) {
      const std::int64_t rank = factor_rank(method, tensor);
      bytes += static_cast<double>(rank * (tensor.rows + tensor.columns)) * size;
    } else {
      bytes += elements * size;
    }
  }
  return method.is_local() ? bytes / static_cast<double>(method.local_steps) : bytes;
}

std::int64_t kept_bytes(const ExchangeMethod& method, std::int64_t elements, Dtype dtype) {
  const std::int64_t row = elements * static_cast<std::int64_t>(size_of(dtype));
  return method.compresses() ? row : method.is_local() ? 2 * row : 0;
}

std::string_view kept_label(const ExchangeMethod& method) {
  return method.compresses() ? "residual" : method.is_local() ? "outer_state" : "";
}

}  // namespace bench::training
