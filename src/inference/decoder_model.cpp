#include "inference/decoder_model.h"

#include <algorithm>
#include <cmath>
#include <memory>

#include "training/engine/worker_pool.h"

namespace bench::inference {
namespace {

using training::Graph;
using training::Initial;
using training::LlmShape;
using training::Tensor;
using training::View;

/// The graph that names the parameters, for a sequence of its own.
std::shared_ptr<const Graph> graph_of(const LlmShape& shape) {
  return std::shared_ptr<const Graph>(training::make_llm(shape, 1).graph);
}

const Tensor& tensor_named(const Graph& graph, const std::string& name) {
  const auto found = std::ranges::find(graph.tensors(), name, &Tensor::name);
  training::require(found != graph.tensors().end(), "decoder", "the model has no '" + name + "'");
  return *found;
}

/// Reads one parameter after the other.
class Parameters {
 public:
  Parameters(const LlmShape& shape, const ParameterValues& values)
      : graph_(graph_of(shape)), values_(values) {}

  std::vector<float> vector(const std::string& name) const {
    std::vector<float> read(static_cast<std::size_t>(tensor_named(*graph_, name).shape.elements()));
    values_(name, read);
    return read;
  }
  PackedMatrix matrix(const std::string& name, WeightType type, bool transposed = false) const {
    const training::Shape& shape = tensor_named(*graph_, name).shape;
    const std::vector<float> read = vector(name);
    MatrixSource from{read.data(), shape.rows(), shape.columns(), transposed};
    if (transposed) std::swap(from.rows, from.columns);
    return {from, type};
  }
  std::vector<float> constant(const std::string& name) const {
    const std::vector<double>& values = tensor_named(*graph_, name).values;
    return {values.begin(), values.end()};
  }

 private:
  std::shared_ptr<const Graph> graph_;
  const ParameterValues& values_;
};

DecoderModel::Layer make_layer(const Parameters& from, const LlmShape& shape, WeightType type,
                               const std::string& at) {
  DecoderModel::Layer layer{.norm1 = from.vector(at + "norm1"),
                            .norm1_bias = {},
                            .norm2 = from.vector(at + "norm2"),
                            .norm2_bias = {},
                            .wqkv_bias = {},
                            .wo_bias = {},
                            .up_bias = {},
                            .down_bias = {},
                            .wqkv = from.matrix(at + "wqkv", type),
                            .wo = from.matrix(at + "wo", type),
                            .up = from.matrix(at + (shape.gpt2 ? "w_up" : "w_gate_up"), type),
                            .down = from.matrix(at + "w_down", type)};
  if (!shape.gpt2) return layer;
  layer.norm1_bias = from.vector(at + "norm1.bias");
  layer.norm2_bias = from.vector(at + "norm2.bias");
  layer.wqkv_bias = from.vector(at + "wqkv.bias");
  layer.wo_bias = from.vector(at + "wo.bias");
  layer.up_bias = from.vector(at + "w_up.bias");
  layer.down_bias = from.vector(at + "w_down.bias");
  return layer;
}

template <class T>
std::int64_t bytes_of(const std::vector<T>& values) {
  return static_cast<std::int64_t>(values.size() * sizeof(T));
}

/// The stored values of the parameter `name`, if it is one of these matrices.
struct StoredMatrix {
  std::string name;
  const PackedMatrix* matrix;
  bool transposed = false;
};
struct StoredVector {
  std::string name;
  const std::vector<float>* values;
};

struct Stored {
  std::vector<StoredMatrix> matrices = {};
  std::vector<StoredVector> vectors = {};
};

Stored stored_in(const DecoderModel& model) {
  const bool gpt2 = model.shape.gpt2, tied = model.shape.tied_head;
  Stored all;
  all.matrices.push_back({tied ? "embedding" : "head", &model.head, tied});
  all.vectors = {{"norm", &model.norm},
                 {"norm.bias", &model.norm_bias},
                 {"embedding", &model.embedding},
                 {"positions", &model.positions}};
  for (std::size_t i = 0; i < model.layers.size(); ++i) {
    const std::string at = "layer" + std::to_string(i) + ".";
    const DecoderModel::Layer& layer = model.layers[i];
    const std::string up = at + (gpt2 ? "w_up" : "w_gate_up");
    for (const StoredMatrix& one :
         {StoredMatrix{at + "wqkv", &layer.wqkv}, StoredMatrix{at + "wo", &layer.wo},
          StoredMatrix{up, &layer.up}, StoredMatrix{at + "w_down", &layer.down}})
      all.matrices.push_back(one);
    for (const StoredVector& one :
         {StoredVector{at + "norm1", &layer.norm1}, StoredVector{at + "norm2", &layer.norm2},
          StoredVector{at + "norm1.bias", &layer.norm1_bias},
          StoredVector{at + "norm2.bias", &layer.norm2_bias},
          StoredVector{at + "wqkv.bias", &layer.wqkv_bias},
          StoredVector{at + "wo.bias", &layer.wo_bias}, StoredVector{up + ".bias", &layer.up_bias},
          StoredVector{at + "w_down.bias", &layer.down_bias}})
      all.vectors.push_back(one);
  }
  return all;
}

}  // namespace

ParameterValues initial_values(const LlmShape& shape, std::uint64_t seed) {
  return [graph = graph_of(shape), seed](const std::string& name, std::span<float> values) {
    const Tensor& tensor = tensor_named(*graph, name);
    Initial initial = tensor.parameter.initial;
    if (name == "head")
      initial = Initial::normal(1.0 / std::sqrt(static_cast<double>(tensor.shape.rows())));
    training::fill_initial(
        initial, seed, name, 0,
        View{values.data(), tensor.shape.rows(), tensor.shape.columns(), Dtype::f32});
  };
}

DecoderModel make_decoder_model(const LlmShape& shape, WeightType type,
                                const ParameterValues& values, int threads) {
  const Parameters from(shape, values);
  DecoderModel model{.shape = shape, .type = type};
  if (shape.gpt2) {
    model.positions = from.vector("positions");
    model.norm_bias = from.vector("norm.bias");
  } else {
    model.angles = from.constant("rope.angles");
  }
  if (!shape.tied_head) {
    model.embedding = from.vector("embedding");
    if (type != WeightType::f32) {
      model.narrow_embedding.resize(model.embedding.size());
      std::ranges::transform(model.embedding, model.narrow_embedding.begin(),
                             [](float value) { return training::Bf16(value); });
      model.embedding = {};
    }
  }
  model.layers.resize(static_cast<std::size_t>(shape.layers));
  training::WorkerPool pool(threads);
  pool.run([&](int thread) {
    for (std::int64_t i = thread; i < shape.layers; i += pool.size())
      model.layers[static_cast<std::size_t>(i)] =
          make_layer(from, shape, type, "layer" + std::to_string(i) + ".");
  });
  model.norm = from.vector("norm");
  model.head = from.matrix(shape.tied_head ? "embedding" : "head", type, shape.tied_head);
  return model;
}

void DecoderModel::embed(std::int32_t token, float* to) const {
  const auto width = static_cast<std::size_t>(shape.width);
  const std::size_t at = static_cast<std::size_t>(token) * width;
  if (!embedding.empty())
    std::copy_n(embedding.begin() + static_cast<std::ptrdiff_t>(at), width, to);
  else if (!narrow_embedding.empty())
    for (std::size_t i = 0; i < width; ++i) to[i] = static_cast<float>(narrow_embedding[at + i]);
  else
    for (std::size_t i = 0; i < width; ++i) to[i] = head.at(static_cast<std::int64_t>(i), token);
}

std::int64_t DecoderModel::pass_bytes() const {
  std::int64_t sum = head.bytes();
  for (const Layer& layer : layers)
    sum += layer.wqkv.bytes() + layer.wo.bytes() + layer.up.bytes() + layer.down.bytes();
  return sum;
}

double DecoderModel::flops_per_row() const {
  const auto of = [](const PackedMatrix& matrix) {
    return 2.0 * static_cast<double>(matrix.rows() * matrix.columns());
  };
  double sum = of(head);
  for (const Layer& layer : layers)
    sum += of(layer.wqkv) + of(layer.wo) + of(layer.up) + of(layer.down);
  return sum;
}

std::int64_t DecoderModel::bytes() const {
  std::int64_t sum = pass_bytes() + bytes_of(narrow_embedding) + bytes_of(angles);
  for (const StoredVector& one : stored_in(*this).vectors) sum += bytes_of(*one.values);
  return sum;
}

std::int64_t decoder_model_bytes(const LlmShape& shape, WeightType type) {
  const auto graph = graph_of(shape);
  std::int64_t sum = 0;
  for (const Tensor& tensor : graph->tensors()) {
    const std::int64_t rows = tensor.shape.rows(), columns = tensor.shape.columns();
    if (tensor.name == "embedding" && shape.tied_head)
      sum += PackedMatrix::bytes(columns, rows, type);
    else if (tensor.name == "embedding")
      sum += rows * columns * (type == WeightType::f32 ? 4 : 2);
    else if (tensor.name == "rope.angles" || tensor.name == "positions" ||
             (tensor.kind == Tensor::Kind::parameter && rows == 1))
      sum += rows * columns * 4;
    else if (tensor.kind == Tensor::Kind::parameter)
      sum += PackedMatrix::bytes(rows, columns, type);
  }
  return sum;
}

void copy_stored(const DecoderModel& model, const training::Plan& plan,
                 const training::Weights& weights) {
  const Graph& graph = *plan.graph;
  const auto view_of = [&](const std::string& name) {
    const Tensor& tensor = tensor_named(graph, name);
    return weights.view(plan, static_cast<int>(&tensor - graph.tensors().data()));
  };
  const Stored all = stored_in(model);
  for (const StoredMatrix& one : all.matrices) {
    const View to = view_of(one.name);
    for (std::int64_t i = 0; i < to.rows; ++i)
      for (std::int64_t j = 0; j < to.columns; ++j)
        to.as<float>()[i * to.columns + j] =
            one.transposed ? one.matrix->at(j, i) : one.matrix->at(i, j);
  }
  for (const StoredVector& one : all.vectors) {
    if (one.values->empty()) continue;
    const View to = view_of(one.name);  // fewer positions, in a graph for shorter sequences
    std::copy_n(one.values->begin(), to.elements(), to.as<float>());
  }
  if (!model.narrow_embedding.empty())
    std::ranges::transform(model.narrow_embedding, view_of("embedding").as<float>(),
                           [](training::Bf16 value) { return static_cast<float>(value); });
}

}  // namespace bench::inference
