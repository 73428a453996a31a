#include "tests/training/graph_interpreter.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <limits>
#include <vector>

#include "core/elements.h"
#include "core/error.h"

namespace bench::cudnn {
namespace {

Dtype dtype_of(DataType type) {
  switch (type) {
    case DataType::bf16:
      return Dtype::bf16;
    case DataType::f16:
      return Dtype::f16;
    case DataType::int32:
      return Dtype::int32;
    default:
      return Dtype::f32;
  }
}

/// All elements of a tensor, by rows; read from and written to where it lies, if anywhere.
class Elements {
 public:
  Elements(const GraphTensor& tensor, void* data) : tensor_(tensor), data_(data) {
    const Extents& n = tensor.sizes;
    values_.resize(static_cast<std::size_t>(n[0] * n[1] * n[2] * n[3]),
                   static_cast<double>(tensor.value.value_or(0.0f)));
    if (data != nullptr)
      each([&](const Extents& at) {
        double value = 0.0;
        decode(place(at), dtype_of(tensor_.type), false, {&value, 1});
        (*this)(at) = value;
      });
  }

  const Extents& sizes() const { return tensor_.sizes; }
  /// Where the tensor has one element, or one for a group of neighbours, that one.
  double& operator()(const Extents& at) { return values_[number(at, tensor_.sizes)]; }
  double spread(const Extents& at, const Extents& over) const {
    Extents mine{};
    for (std::size_t d = 0; d < 4; ++d) mine[d] = at[d] / (over[d] / tensor_.sizes[d]);
    return values_[number(mine, tensor_.sizes)];
  }

  template <class Visit>
  void each(const Visit& visit) {
    const Extents& n = tensor_.sizes;
    Extents at{};
    for (at[0] = 0; at[0] < n[0]; ++at[0])
      for (at[1] = 0; at[1] < n[1]; ++at[1])
        for (at[2] = 0; at[2] < n[2]; ++at[2])
          for (at[3] = 0; at[3] < n[3]; ++at[3]) visit(at);
  }

  void store() {
    each([&](const Extents& at) {
      double& value = (*this)(at);
      if (tensor_.type != DataType::boolean && std::isfinite(value))
        value = rounded(value, dtype_of(tensor_.type));
      if (data_ != nullptr) encode(place(at), dtype_of(tensor_.type), value);
    });
  }

 private:
  static std::size_t number(const Extents& at, const Extents& n) {
    return static_cast<std::size_t>(((at[0] * n[1] + at[1]) * n[2] + at[2]) * n[3] + at[3]);
  }
  std::byte* place(const Extents& at) const {
    std::int64_t element = 0;
    for (std::size_t d = 0; d < 4; ++d) element += at[d] * tensor_.strides[d];
    return static_cast<std::byte*>(data_) +
           element * static_cast<std::int64_t>(size_of(dtype_of(tensor_.type)));
  }

  const GraphTensor& tensor_;
  void* data_;
  std::vector<double> values_ = {};
};

double of_mode(PointwiseMode mode, double x, double b, double t) {
  switch (mode) {
    case PointwiseMode::add:
      return x + b;
    case PointwiseMode::multiply:
      return x * b;
    case PointwiseMode::divide:
      return x / b;
    case PointwiseMode::subtract:
      return x - b;
    case PointwiseMode::exponential:
      return std::exp(x);
    case PointwiseMode::logarithm:
      return std::log(x);
    case PointwiseMode::greater_or_equal:
      return x >= b ? 1.0 : 0.0;
    case PointwiseMode::select:
      return t != 0.0 ? x : b;
    case PointwiseMode::identity:
      return x;
    case PointwiseMode::index:
      break;
  }
  throw Error(ErrorKind::internal, "an elementwise function without a meaning");
}

class Interpreter {
 public:
  Interpreter(const OperationGraph& graph, const std::map<std::int64_t, void*>& pointers) {
    for (const GraphTensor& tensor : graph.tensors) {
      const bool lies = !tensor.is_virtual && !tensor.value;
      tensors_.emplace_back(tensor, lies ? pointers.at(tensor.id) : nullptr);
    }
  }

  void run(const GraphOperation& operation) {
    switch (operation.kind) {
      case OperationKind::matmul:
        matmul(operation);
        break;
      case OperationKind::pointwise:
        pointwise(operation);
        break;
      case OperationKind::reduction:
        reduce(operation);
        break;
      case OperationKind::reshape:
        reshape(operation);
        break;
    }
    at(operation.output).store();
  }

 private:
  Elements& at(int tensor) { return tensors_[static_cast<std::size_t>(tensor)]; }

  void matmul(const GraphOperation& operation) {
    Elements &a = at(operation.inputs[0]), &b = at(operation.inputs[1]);
    Elements& c = at(operation.output);
    const Extents& n = c.sizes();
    const std::int64_t depth = a.sizes()[3];
    const Extents over{n[0], n[1], depth, n[3]};  // batch and heads of b may be fewer
    c.each([&](const Extents& i) {
      double sum = 0.0;
      for (std::int64_t k = 0; k < depth; ++k)
        sum += a({i[0], i[1], i[2], k}) * b.spread({i[0], i[1], k, i[3]}, over);
      c(i) = sum;
    });
  }
  void pointwise(const GraphOperation& operation) {
    Elements& y = at(operation.output);
    y.each([&](const Extents& i) {
      if (operation.mode == PointwiseMode::index) {
        y(i) = static_cast<double>(i[static_cast<std::size_t>(operation.axis)]);
        return;
      }
      std::array<double, 3> x{};
      for (std::size_t k = 0; k < operation.inputs.size(); ++k)
        x[k] = at(operation.inputs[k]).spread(i, y.sizes());
      y(i) = of_mode(operation.mode, x[0], x[1], x[2]);
    });
  }
  void reduce(const GraphOperation& operation) {
    Elements &x = at(operation.inputs[0]), &y = at(operation.output);
    const bool most = operation.reduction == ReductionOperator::max;
    y.each([&](const Extents& i) { y(i) = most ? -std::numeric_limits<double>::infinity() : 0.0; });
    x.each([&](const Extents& i) {
      Extents to{};
      for (std::size_t d = 0; d < 4; ++d) to[d] = i[d] / (x.sizes()[d] / y.sizes()[d]);
      y(to) = most ? std::max(y(to), x(i)) : y(to) + x(i);
    });
  }
  void reshape(const GraphOperation& operation) {
    Elements &x = at(operation.inputs[0]), &y = at(operation.output);
    y.each([&](const Extents& i) { y(i) = x({i[0], i[1], i[3], i[2]}); });
  }

  std::vector<Elements> tensors_ = {};
};

}  // namespace

void interpret(const OperationGraph& graph, const std::map<std::int64_t, void*>& pointers) {
  Interpreter interpreter(graph, pointers);
  for (const GraphOperation& operation : graph.operations) interpreter.run(operation);
}

}  // namespace bench::cudnn
