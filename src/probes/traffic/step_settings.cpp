#include "probes/traffic/step_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

#include "core/error.h"

namespace bench {
namespace {

/// Of a tensor or of a rank's parameters: far from the limits of 64 bits, and of any memory.
constexpr double kMostElements = 0x1p50;
/// Parts of passes that building a schedule looks at: some seconds.
constexpr double kMostParts = 0x1p28;

[[noreturn]] void refuse(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::input, what, hint);
}

/// In double, because the products do not fit into 64 bits.
void check_sizes(const StepSettings& s) {
  const TrafficModel& m = s.model;
  const auto real = [](std::int64_t value) { return static_cast<double>(value); };
  const double experts = real(m.experts), width = real(m.width), layers = real(m.layers);
  const double up = m.gated ? 2.0 : 1.0;
  const double columns = real(m.query_columns()) + 2.0 * real(m.kv_columns());
  const double tokens = real(s.micro_batch) * real(m.sequence);
  const double widest = std::max({columns, width * std::max(1.0, real(m.active_experts)),
                                  (1.0 + up) * real(m.hidden), real(m.vocabulary), experts,
                                  (1.0 + up) * real(m.expert_hidden) * real(m.active_experts)});
  const double parameters =
      layers * width *
          (2.0 * columns + (1.0 + up) * (real(m.hidden) + experts * real(m.expert_hidden)) +
           experts + 8.0) +
      2.0 * width * (real(m.vocabulary) + real(m.positions));
  const double largest =
      std::max({tokens * widest, parameters, real(m.sequence) * real(m.sequence)});
  if (!(largest <= kMostElements))
    refuse(fmt::format("model {} with {} samples of {} tokens has tensors of {:.1e} elements",
                       m.name, s.micro_batch, m.sequence, largest),
           "reduce the sizes of the model, micro_batch or sequence");
  const double of_layer = 16.0 + 4.0 * s.split.context + experts * (4.0 + s.split.expert);
  if (!(real(s.micro_batches) * layers * of_layer <= kMostParts)) refuse_operations();
}

}  // namespace

void StepSettings::check() const {
  const auto divides = [&](std::int64_t by, std::int64_t all, const char* key, const char* what) {
    if (by < 1 || all % by != 0)
      refuse(fmt::format("{} {} cannot be divided by {} {}", all, what, key, by),
             fmt::format("use a {} that divides {}", key, all));
  };
  const TrafficModel& m = model;
  for (const auto& [value, what] :
       {std::pair{m.layers, "layers"}, std::pair{m.width, "width"}, std::pair{m.heads, "heads"},
        std::pair{m.kv_heads, "kv_heads"}, std::pair{m.head_dim, "head_dim"},
        std::pair{m.vocabulary, "vocabulary"}, std::pair{m.sequence, "sequence"}})
    if (value < 1) refuse(fmt::format("model {} has {} {}", m.name, what, value), "use at least 1");
  if (m.experts == 0 && m.hidden < 1)
    refuse("model " + m.name + " has no hidden columns", "use a hidden of at least 1");
  if (m.heads % m.kv_heads != 0)
    refuse(fmt::format("{} heads are not a multiple of {} key-value heads", m.heads, m.kv_heads),
           "use kv_heads that divide heads");
  divides(split.tensor, m.kv_heads, "tp", "key-value heads");
  divides(split.tensor, m.heads, "tp", "heads");
  if (split.tensor > m.vocabulary)
    refuse(fmt::format("a vocabulary of {} cannot be divided by tp {}", m.vocabulary, split.tensor),
           fmt::format("use a tp of at most {}", m.vocabulary));
  if (m.experts == 0 || m.dense_layers > 0) divides(split.tensor, m.hidden, "tp", "hidden columns");
  divides(split.context, m.sequence, "cp", "tokens of a sequence");
  if (split.sequence_parallel)
    divides(split.tensor, m.sequence / split.context, "tp", "tokens of a sequence part");
  if (split.schedule == training::PipelineSchedule::zero_bubble)
    refuse("zero_bubble sends the same messages as 1f1b", "use 1f1b");
  if (split.pipeline > m.layers)
    refuse(fmt::format("{} layers cannot be {} stages", m.layers, split.pipeline),
           fmt::format("use a pp of at most {}", m.layers));
  if (split.pipeline > 1 && m.tied_head)
    refuse("a model whose head is its embedding cannot be split into stages",
           "use a model whose head is its own");
  if (m.experts == 0) {
    if (split.expert > 1)
      refuse(fmt::format("model {} has no experts for ep {}", m.name, split.expert),
             "set experts, active_experts and expert_hidden, or use ep 1");
    return check_sizes(*this);
  }
  if (m.expert_hidden < 1)
    refuse(fmt::format("{} experts of model {} have no hidden columns", m.experts, m.name),
           "use an expert_hidden of at least 1");
  divides(split.expert, m.experts, "ep", "experts");
  divides(split.tensor, m.expert_hidden, "tp", "hidden columns of experts");
  if (m.active_experts < 1 || m.active_experts > m.experts)
    refuse(fmt::format("{} of {} experts cannot be active", m.active_experts, m.experts),
           "use 1 to all of them");
  check_sizes(*this);
}

void refuse_operations() {
  refuse(fmt::format("a rank's step has more than {} operations", kMostOperations),
         "reduce layers, micro_batches or experts, or raise bucket_bytes");
}

}  // namespace bench
