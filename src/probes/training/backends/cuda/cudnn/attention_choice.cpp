#include "probes/training/backends/cuda/cudnn/attention_choice.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include "core/elements.h"
#include "core/error.h"

namespace bench::cudnn {

using training::AttentionBackward;
using training::AttentionKernels;
using training::AttentionShape;
using training::View;

double worst_head(const std::vector<double>& found, const std::vector<double>& right,
                  std::int64_t heads, std::int64_t rows) {
  const std::int64_t all = static_cast<std::int64_t>(right.size());
  const std::int64_t columns = all / rows, width = columns / heads;
  double worst = 0.0;
  for (std::int64_t head = 0; head < heads; ++head) {
    double difference = 0.0, size = 0.0;
    for (std::int64_t row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < width; ++i) {
        const auto at = static_cast<std::size_t>(row * columns + head * width + i);
        difference += (found[at] - right[at]) * (found[at] - right[at]);
        size += right[at] * right[at];
      }
    const double share = difference == 0.0 ? 0.0 : std::sqrt(difference / size);
    if (!(share <= worst)) worst = share;
    if (!std::isfinite(worst)) return std::numeric_limits<double>::infinity();
  }
  return worst;
}

void AttentionChoices::forward(AttentionKernels& own, const AttentionShape& shape, View packed,
                               View output, View log_sum) {
  const AttentionProblem problem{shape, packed.rows / shape.sequence, packed.dtype};
  const Call call = [&](AttentionKernels& kernels) {
    kernels.forward(shape, packed, output, log_sum);
  };
  const bool library = takes_library(own, problem, Pass::forward, call,
                                     {{output, shape.heads}, {log_sum, shape.heads}});
  call(library ? *library_ : own);
}

void AttentionChoices::backward(AttentionKernels& own, const AttentionShape& shape,
                                const AttentionBackward& what) {
  const AttentionProblem problem{shape, what.packed.rows / shape.sequence, what.packed.dtype};
  // Tried with another gradient, because a head that starts at zero returns a zero gradient.
  AttentionBackward tried = what;
  tried.output_gradient = what.output;
  const Call call = [&](AttentionKernels& kernels) { kernels.backward(shape, tried); };
  const bool library =
      !what.add && takes_library(own, problem, Pass::backward, call,
                                 {{what.packed_gradient, shape.heads + 2 * shape.kv_heads}});
  (library ? *library_ : own).backward(shape, what);
}

bool AttentionChoices::takes_library(AttentionKernels& own, const AttentionProblem& problem,
                                     Pass pass, const Call& call,
                                     const std::vector<Output>& written) {
  if (own_only_) return false;
  const auto found = std::find_if(choices_.begin(), choices_.end(), [&](const Choice& choice) {
    return choice.pass == pass && choice.problem == problem;
  });
  if (found != choices_.end()) {
    found->used = true;
    return found->uses_library();
  }
  if (device_.recording()) return false;
  choices_.push_back(try_library(own, problem, pass, call, written));
  return choices_.back().uses_library();
}

AttentionChoices::Choice AttentionChoices::try_library(AttentionKernels& own,
                                                 const AttentionProblem& problem, Pass pass,
                                                 const Call& call,
                                                 const std::vector<Output>& written) {
  Choice choice{problem, pass};
  choice.reason = refused(problem);
  if (choice.reason.empty()) try {
      if (library_ == nullptr) library_ = open_();
      choice.reason = compare(own, problem.shape.sequence, call, written);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::environment)
        throw;  // a bad ID in the step, reported by the wait
      choice.reason = error.what();
    }
  return choice;
}

/// Leaves the outputs undefined: the caller computes them again.
std::string AttentionChoices::compare(AttentionKernels& own, std::int64_t sequence,
                                       const Call& call, const std::vector<Output>& written) {
  call(own);
  std::vector<std::vector<double>> right;
  for (const Output& one : written) {
    right.push_back(last_sequence(one, sequence));
    clear_last_sequence(one, sequence);  // so that missing writes of the library do not look like our results
  }
  call(*library_);
  for (std::size_t i = 0; i < written.size(); ++i) {
    const double worst =
        worst_head(last_sequence(written[i], sequence), right[i], written[i].heads, sequence);
    if (!(worst <= kAgreement))
      return fmt::format("{} differs from own by {:.2g} of a head's results, limit {}",
                         library_->name(), worst, kAgreement);
  }
  const double theirs = device_.seconds([&] { call(*library_); });
  const double ours = device_.seconds([&] { call(own); });
  return theirs < ours ? "" : library_->name() + " is slower";
}

AttentionChoices::Bytes AttentionChoices::bytes_of_last(const Output& written,
                                                        std::int64_t sequence) const {
  const View& view = written.view;
  const std::int64_t row = view.columns * static_cast<std::int64_t>(size_of(view.dtype));
  return {view.as<std::byte>() + (view.rows - sequence) * row, sequence * row};
}

std::vector<double> AttentionChoices::last_sequence(const Output& written,
                                                    std::int64_t sequence) const {
  const Bytes there = bytes_of_last(written, sequence);
  std::vector<std::byte> bytes(static_cast<std::size_t>(there.size));
  device_.memory->download(there.data, bytes.data(), there.size);
  std::vector<double> values(bytes.size() / size_of(written.view.dtype));
  decode(bytes.data(), written.view.dtype, false, values);
  return values;
}

void AttentionChoices::clear_last_sequence(const Output& written, std::int64_t sequence) const {
  const Bytes there = bytes_of_last(written, sequence);
  const std::vector<std::byte> zeros(static_cast<std::size_t>(there.size));
  device_.memory->upload(zeros.data(), there.data, there.size);
}

void AttentionChoices::begin(bool own_only) {
  own_only_ = own_only;
  for (Choice& choice : choices_) choice.used = false;
}

std::string AttentionChoices::implementations(Pass pass) const {
  if (own_only_) return "own (deterministic results requested)";
  std::vector<std::string> names;
  for (const Choice& choice : choices_) {
    if (choice.pass != pass || !choice.used) continue;
    const std::string name = choice.uses_library() ? library_->name() : "own (" + choice.reason + ")";
    if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
  }
  return names.empty() ? "own" : fmt::format("{}", fmt::join(names, ", "));
}

std::string AttentionChoices::text() const {
  const std::string forward = implementations(Pass::forward), backward = implementations(Pass::backward);
  return forward == backward ? forward : "forward " + forward + ", backward " + backward;
}

}  // namespace bench::cudnn
