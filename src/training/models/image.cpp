#include "training/models/image.h"

#include <cmath>
#include <memory>
#include <utility>

#include "core/error.h"
#include "core/text.h"
#include "training/operators/classifier.h"
#include "training/operators/convolution.h"
#include "training/operators/linear.h"
#include "training/operators/transformer.h"

namespace bench::training {
namespace {

/// ResNet-8 of three stages.
ClassifierShape tiny_image() {
  ResidualNetwork network;
  network.stem = 16;
  network.stages = {{1, 16}, {1, 32}, {1, 64}};
  network.norm_groups = 8;
  return {16, 10, 0.1, network};
}

ClassifierShape tiny_vit() { return {16, 10, 0.1, VisionTransformer{2, 64, 4, 128, 2}}; }

/// The stem of ImageNet's networks.
ResidualNetwork large_residual(bool bottleneck, std::vector<ResidualStage> stages) {
  ResidualNetwork network;
  network.stem = 64;
  network.stem_kernel = 7;
  network.stem_stride = 2;
  network.pool = true;
  network.bottleneck = bottleneck;
  network.stages = std::move(stages);
  network.norm_groups = 32;
  network.last_gain = 0.0;
  return network;
}

/// Parameters by name. Every convolution is followed by a norm.
class ResidualLayers {
 public:
  ResidualLayers(Graph& graph, const ResidualNetwork& network) : graph_(graph), network_(network) {}

  /// He's initial values.
  Map layer(const Map& x, const std::string& name, std::int64_t out, std::int64_t kernel,
            std::int64_t stride, bool relu, double gain = 1.0) {
    const std::int64_t rows = kernel * kernel * x.channels();
    const double deviation = std::sqrt(2.0 / static_cast<double>(rows));
    const Var w = graph_.parameter(name, {rows, out}, {Initial::normal(deviation)});
    const Map y = convolution(x, w, {kernel, stride, kernel / 2});
    const Shape row{1, out};
    const Var gains = graph_.parameter(name + ".gain", row, {Initial::constant(gain), false});
    const Var shifts = graph_.parameter(name + ".shift", row, {Initial::constant(0.0), false});
    return group_norm(y, gains, shifts, network_.norm_groups, relu);
  }

  Map block(const Map& x, const std::string& at, std::int64_t width, std::int64_t stride) {
    const std::int64_t out = network_.bottleneck ? 4 * width : width;
    const bool same = stride == 1 && x.channels() == out;
    const Map direct = same ? x : layer(x, at + "direct", out, 1, stride, false);
    Map y;
    if (network_.bottleneck) {
      const Map narrow = layer(x, at + "w1", width, 1, 1, true);
      const Map middle = layer(narrow, at + "w2", width, 3, stride, true);
      y = layer(middle, at + "w3", out, 1, 1, false, network_.last_gain);
    } else {
      const Map middle = layer(x, at + "w1", width, 3, stride, true);
      y = layer(middle, at + "w2", width, 3, 1, false, network_.last_gain);
    }
    return {add_relu(direct.values, y.values), y.height, y.width};
  }

 private:
  Graph& graph_;
  const ResidualNetwork& network_;
};

/// The mean of the last map of each sample.
Var features_of(const ResidualNetwork& network, const Map& images, std::int64_t samples,
                bool recompute) {
  Graph& graph = *images.values.graph;
  ResidualLayers layers(graph, network);
  Map x =
      layers.layer(images, "stem", network.stem, network.stem_kernel, network.stem_stride, true);
  if (network.pool) x = max_pool(x, 3, 2, 1);
  for (std::size_t i = 0; i < network.stages.size(); ++i)
    for (std::int64_t block = 0; block < network.stages[i].blocks; ++block) {
      const std::string at = "stage" + std::to_string(i) + "." + std::to_string(block) + ".";
      if (recompute) graph.begin_recompute();
      x = layers.block(x, at, network.stages[i].width, block > 0 || i == 0 ? 1 : 2);
      if (recompute) graph.end_recompute();
    }
  return mean_rows(x.values, samples);
}

/// Parameters by name. Initial values keep the size of what they multiply.
class TransformerParameters {
 public:
  TransformerParameters(Graph& graph, const VisionTransformer& network)
      : graph_(graph), network_(network) {}

  Var parameter(const std::string& name, const Shape& shape, const Initial& initial,
                bool decay = true) {
    return graph_.parameter(name, shape, {initial, decay});
  }
  Var matrix(const std::string& name, std::int64_t in, std::int64_t out, double gain = 1.0) {
    return parameter(name, {in, out}, Initial::normal(gain / std::sqrt(static_cast<double>(in))));
  }
  /// For a GEMM added to the residual stream: smaller, so that the stream does not grow with depth.
  Var matrix_into_residual(const std::string& name, std::int64_t in) {
    return matrix(name, in, network_.width,
                  1.0 / std::sqrt(2.0 * static_cast<double>(network_.layers)));
  }
  Var bias(const std::string& name, std::int64_t out) {
    return parameter(name + ".bias", {1, out}, Initial::constant(0.0), false);
  }
  Var norm(Var x, const std::string& name) {
    const Var gain = parameter(name, {1, network_.width}, Initial::constant(1.0), false);
    return layer_norm(x, gain, bias(name, network_.width));
  }

 private:
  Graph& graph_;
  const VisionTransformer& network_;
};

/// The mean of the patches of each sample after the last block.
Var features_of(const VisionTransformer& network, const Map& images, std::int64_t samples,
                bool recompute) {
  Graph& graph = *images.values.graph;
  const std::int64_t patch = network.patch, width = network.width;
  require(
      patch > 0 && images.height % patch == 0 && network.heads > 0 && width % network.heads == 0,
      "image",
      "patches of " + std::to_string(patch) + " on " + std::to_string(images.height) +
          " pixels, width " + std::to_string(width) + " on " + std::to_string(network.heads) +
          " heads");
  TransformerParameters p(graph, network);
  const Var embed = p.matrix("patch", patch * patch * images.channels(), width);
  const Map patches = convolution(images, embed, {patch, patch, 0, 1, p.bias("patch", width)});
  Var x = add_positions(patches.values,
                        p.parameter("positions", {patches.pixels(), width}, Initial::normal(0.5)));
  const AttentionShape heads{patches.pixels(),      network.heads, network.heads,
                             width / network.heads, false,         0};
  for (std::int64_t layer = 0; layer < network.layers; ++layer) {
    const std::string at = "layer" + std::to_string(layer) + ".";
    if (recompute) graph.begin_recompute();
    const std::int64_t packed_columns = heads.packed_columns();
    const Var packed = linear(p.norm(x, at + "norm1"), p.matrix(at + "wqkv", width, packed_columns),
                              {p.bias(at + "wqkv", packed_columns)});
    x = linear(attention(packed, heads), p.matrix_into_residual(at + "wo", width),
               {p.bias(at + "wo", width), x});
    const Var h = p.norm(x, at + "norm2");
    x = gelu_mlp(h,
                 {p.matrix(at + "up", width, network.hidden), p.bias(at + "up", network.hidden),
                  p.matrix_into_residual(at + "down", network.hidden), p.bias(at + "down", width)},
                 x);
    if (recompute) graph.end_recompute();
  }
  return mean_rows(p.norm(x, "norm"), samples);
}

}  // namespace

std::vector<std::string> image_presets() {
  return {"tiny", "tiny_vit", "small", "resnet50", "vit_b16"};
}

ClassifierShape image_preset(std::string_view name) {
  if (name == "tiny") return tiny_image();
  if (name == "tiny_vit") return tiny_vit();
  if (name == "small")
    return {96, 100, 0.1, large_residual(false, {{2, 64}, {2, 128}, {2, 256}, {2, 512}})};
  if (name == "resnet50")
    return {224, 1000, 0.1, large_residual(true, {{3, 64}, {4, 128}, {6, 256}, {3, 512}})};
  if (name == "vit_b16") return {224, 1000, 0.1, VisionTransformer{12, 768, 12, 3072, 16}};
  throw Error(ErrorKind::input, "unknown image preset '" + std::string(name) + "'",
              "use one of " + join(image_presets(), ", "));
}

Classifier make_classifier(const ClassifierShape& shape, std::int64_t samples, Dtype dtype,
                           bool recompute) {
  Classifier model{std::make_unique<Graph>(dtype), {}, {}, {}, {}};
  Graph& graph = *model.graph;
  model.images = graph.input("images", {samples * shape.pixels(), kImageChannels}, dtype);
  model.targets = graph.input("labels", {samples, 1}, Dtype::int32);
  const Var features = std::visit(
      [&](const auto& network) {
        return features_of(network, {model.images, shape.side, shape.side}, samples, recompute);
      },
      shape.network);
  const Var w =
      graph.parameter("head", {features.shape().columns(), shape.classes}, {Initial::normal(0.01)});
  const Var bias =
      graph.parameter("head.bias", {1, shape.classes}, {Initial::constant(0.0), false});
  model.logits = linear(features, w, {bias});
  model.losses = smoothed_cross_entropy(model.logits, model.targets, shape.smoothing);
  return model;
}

double image_flops_per_sample(const ClassifierShape& shape) {
  return 3.0 * make_classifier(shape, 1).graph->forward_flops();
}

}  // namespace bench::training
