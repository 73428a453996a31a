#include "training/engine/graph.h"

#include <algorithm>
#include <cstring>

#include "core/error.h"
#include "training/kernels/functors/portable.h"
#include "training/sources/random.h"

namespace bench::training {
namespace {

/// FNV-1a, for a separate stream of random numbers per name.
std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

template <class T>
T as(double value) {
  return static_cast<T>(value);
}
template <>
Bf16 as(double value) {
  return Bf16(static_cast<float>(value));  // the f32 values, rounded
}
template <>
F16 as(double value) {
  return F16(static_cast<float>(value));
}

template <class T>
void fill(const Initial& initial, RandomStream stream, std::int64_t first, View values) {
  for (std::int64_t i = 0; i < values.elements(); ++i)
    values.as<T>()[i] =
        as<T>(initial.kind == Initial::Kind::constant
                  ? initial.value
                  : initial.value * normal(stream, static_cast<std::uint64_t>(first + i)));
}

}  // namespace

void fill_initial(const Initial& initial, std::uint64_t seed, std::string_view name,
                  std::int64_t first, View values) {
  const RandomStream stream = random_stream(seed, name_hash(name));
  if (values.dtype == Dtype::f64)
    fill<double>(initial, stream, first, values);
  else if (values.dtype == Dtype::bf16)
    fill<Bf16>(initial, stream, first, values);
  else if (values.dtype == Dtype::f16)
    fill<F16>(initial, stream, first, values);
  else
    fill<float>(initial, stream, first, values);
}

namespace {

void fill_slice(const Initial& initial, std::uint64_t seed, std::string_view name,
                const ParameterSlice& slice, View part) {
  if (!slice.is_part()) return fill_initial(initial, seed, name, 0, part);
  auto* at = part.as<std::byte>();
  for (std::int64_t row = 0; row < part.rows; ++row)
    for (const auto& [first, count] : slice.columns) {
      fill_initial(initial, seed, name, (slice.first_row + row) * slice.whole.columns() + first,
                   {at, 1, count, part.dtype});
      at += static_cast<std::size_t>(count) * size_of(part.dtype);
    }
}

}  // namespace

void fill_initial(const ParameterOptions& options, std::uint64_t seed, std::string_view name,
                  View part) {
  const ParameterShard& shard = options.shard;
  if (shard.ranks == 1) return fill_slice(options.initial, seed, name, options.slice, part);
  const Shape& cut = shard.of;
  std::vector<std::byte> all(static_cast<std::size_t>(shard.elements() * shard.ranks) *
                             size_of(part.dtype));
  fill_slice(options.initial, seed, name, options.slice,
             {all.data(), cut.rows(), cut.columns(), part.dtype});
  const std::size_t bytes = static_cast<std::size_t>(part.elements()) * size_of(part.dtype);
  std::memcpy(part.data, all.data() + static_cast<std::size_t>(shard.rank) * bytes, bytes);
}

std::string Shape::text() const {
  std::string text = "[";
  for (std::size_t i = 0; i < sizes_.size(); ++i)
    text += (i ? ", " : "") + std::to_string(sizes_[i]);
  return text + "]";
}

void Frame::pass_gradient(std::size_t input) const {
  const View& gradient = input_gradients[input];
  if (gradient && (adds(input) || gradient.data != output_gradient.data))
    kernels->elementwise->copy(output_gradient, gradient, adds(input));
}

const Shape& Var::shape() const { return graph->tensor(id).shape; }
const std::string& Var::name() const { return graph->tensor(id).name; }

void require(bool holds, const std::string& op, const std::string& what) {
  if (!holds) throw Error(ErrorKind::internal, op + ": " + what, "check the model's shapes");
}

Var Graph::add(Tensor tensor) {
  require(tensor.shape.elements() > 0, tensor.name,
          "the shape " + tensor.shape.text() + " has no elements");
  tensors_.push_back(std::move(tensor));
  return {this, static_cast<int>(tensors_.size()) - 1};
}

Var Graph::input(std::string name, Shape shape, Dtype dtype) {
  return add({Tensor::Kind::input, std::move(name), std::move(shape), dtype});
}

Var Graph::input_with_gradient(std::string name, Shape shape) {
  const Var made = input(std::move(name), std::move(shape), compute_);
  tensors_.back().wants_gradient = true;
  return made;
}

Var Graph::parameter(std::string name, Shape shape, ParameterOptions options) {
  for (const Tensor& tensor : tensors_)
    require(tensor.kind != Tensor::Kind::parameter || tensor.name != name, "parameter",
            "duplicate name '" + name + "'");
  Tensor tensor{Tensor::Kind::parameter, std::move(name), std::move(shape), compute_};
  tensor.parameter = std::move(options);
  return add(std::move(tensor));
}

Var Graph::constant(std::string name, Shape shape, std::vector<double> values) {
  require(shape.elements() == static_cast<std::int64_t>(values.size()), name,
          std::to_string(values.size()) + " values for " + shape.text());
  Tensor tensor{Tensor::Kind::constant, std::move(name), std::move(shape),
                accumulator_of(compute_)};
  tensor.values = std::move(values);
  return add(std::move(tensor));
}

Var Graph::apply(std::unique_ptr<Operator> op, const std::vector<Var>& inputs, Shape output,
                 std::optional<Dtype> output_type) {
  const std::string name = std::string(op->name()) + "." + std::to_string(nodes_.size());
  Node node{std::move(op), {}, -1, segment_};
  for (const Var& var : inputs) {
    require(var.graph == this, name, "the input belongs to another graph");
    node.inputs.push_back(var.id);
  }
  Tensor tensor{Tensor::Kind::activation, name, std::move(output), output_type.value_or(compute_)};
  tensor.producer = static_cast<int>(nodes_.size());
  const Var made = add(std::move(tensor));
  node.output = made.id;
  nodes_.push_back(std::move(node));
  return made;
}

void Graph::begin_recompute() {
  require(segment_ < 0, "begin_recompute", "a recompute segment is already open");
  segment_ = segments_++;
}

void Graph::end_recompute() {
  require(segment_ >= 0, "end_recompute", "no recompute segment is open");
  segment_ = -1;
}

std::vector<int> Graph::parameters() const {
  std::vector<int> ids;
  for (int id = 0; id < static_cast<int>(tensors_.size()); ++id)
    if (tensor(id).kind == Tensor::Kind::parameter) ids.push_back(id);
  return ids;
}

std::int64_t Graph::parameter_count() const {
  std::int64_t count = 0;
  for (const int id : parameters()) count += tensor(id).shape.elements();
  return count;
}

std::int64_t Graph::trainable_count() const {
  std::int64_t count = 0;
  for (const Tensor& tensor : tensors_)
    if (tensor.kind == Tensor::Kind::parameter && tensor.parameter.trainable)
      count += tensor.shape.elements();
  return count;
}

double Graph::training_flops() const {
  std::vector<bool> needed;
  for (const Tensor& tensor : tensors_)
    needed.push_back(tensor.wants_gradient ||
                     (tensor.kind == Tensor::Kind::parameter && tensor.parameter.trainable));
  double sum = forward_flops();
  for (const Node& node : nodes_) {
    std::vector<bool> of_inputs;
    for (const int input : node.inputs)
      of_inputs.push_back(needed[static_cast<std::size_t>(input)]);
    if (std::find(of_inputs.begin(), of_inputs.end(), true) == of_inputs.end()) continue;
    needed[static_cast<std::size_t>(node.output)] = true;
    sum += node.op->backward_flops(of_inputs);
  }
  return sum;
}

double Graph::forward_flops() const {
  double sum = 0.0;
  for (const Node& node : nodes_) sum += node.op->flops();
  return sum;
}

}  // namespace bench::training
