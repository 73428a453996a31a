#include "training/models/detect.h"

#include <cmath>
#include <memory>

#include "core/error.h"
#include "core/text.h"
#include "training/operators/linear.h"

namespace bench::training {
namespace {

constexpr double kPrior = 0.01;  // first probability of every class at every anchor

DetectShape tiny_detect() {
  DetectShape shape;
  shape.side = 64;
  shape.channels = 3;
  shape.classes = 3;
  shape.stem = 16;
  shape.stem_kernel = 3;
  shape.stages = {{2, 32, 0}, {2, 48, 0}, {1, 64, 0}};
  shape.pyramid_stages = 2;
  shape.pyramid = 48;
  shape.head_layers = 1;
  shape.norm_groups = 8;
  shape.anchor_size = 2.0;
  shape.scales = {1.0, std::sqrt(2.0)};
  shape.ratios = {1.0};
  return shape;
}

/// RetinaNet's anchors, heads and pyramid, except the width of small.
DetectShape large_detect(std::int64_t side, std::int64_t classes) {
  DetectShape shape;
  shape.side = side;
  shape.channels = 3;
  shape.classes = classes;
  shape.stem = 64;
  shape.stem_kernel = 7;
  shape.stem_twice = true;
  shape.pyramid_stages = 3;
  shape.more_levels = 2;
  shape.pyramid = 256;
  shape.head_layers = 4;
  shape.norm_groups = 32;
  shape.scales = {1.0, std::pow(2.0, 1.0 / 3.0), std::pow(2.0, 2.0 / 3.0)};
  shape.ratios = {0.5, 1.0, 2.0};
  return shape;
}

DetectShape small_detect() {
  DetectShape shape = large_detect(256, 16);
  shape.block = StageBlock::residual;
  shape.stages = {{2, 64, 0}, {2, 128, 0}, {2, 256, 0}, {2, 512, 0}};
  shape.pyramid = 128;
  shape.head_layers = 2;
  return shape;
}

/// Backbone ResNeXt50_32x4d.
DetectShape retinanet(std::int64_t side, std::int64_t classes) {
  DetectShape shape = large_detect(side, classes);
  shape.block = StageBlock::bottleneck;
  shape.stages = {{3, 256, 128}, {4, 512, 256}, {6, 1024, 512}, {3, 2048, 1024}};
  shape.groups = 32;
  return shape;
}

/// Layers by name. Every convolution without a bias is followed by a norm.
class DetectLayers {
 public:
  DetectLayers(Graph& graph, std::int64_t norm_groups) : graph_(graph), norm_groups_(norm_groups) {}

  /// He's initial values.
  Map layer(const Map& x, const std::string& name, std::int64_t out, std::int64_t kernel,
            std::int64_t stride, std::int64_t groups = 1) {
    const std::int64_t rows = kernel * kernel * x.channels();
    const double deviation =
        std::sqrt(2.0 * static_cast<double>(groups) / static_cast<double>(rows));
    const Var w = parameter(name, {rows, out / groups}, {Initial::normal(deviation)});
    return convolution(x, w, {kernel, stride, kernel / 2, groups});
  }
  Map norm(const Map& x, const std::string& name, bool relu = true) {
    const Shape row{1, x.channels()};
    const Var gain = parameter(name + ".gain", row, {Initial::constant(1.0), false});
    const Var bias = parameter(name + ".shift", row, {Initial::constant(0.0), false});
    return group_norm(x, gain, bias, norm_groups_, relu);
  }
  Map normed_layer(const Map& x, const std::string& name, std::int64_t out, std::int64_t kernel,
                   std::int64_t stride, bool relu = true) {
    return norm(layer(x, name, out, kernel, stride), name, relu);
  }
  /// A head's result: with a bias, without a norm, small at first.
  Map result(const Map& x, const std::string& name, std::int64_t out, double bias) {
    const Var w = parameter(name, {9 * x.channels(), out}, {Initial::normal(0.01)});
    const Var b = parameter(name + ".bias", {1, out}, {Initial::constant(bias), false});
    return convolution(x, w, {3, 1, 1, 1, b});
  }

 private:
  /// The one of this name, or a new one: levels share heads.
  Var parameter(const std::string& name, const Shape& shape, const ParameterOptions& options) {
    for (const auto& [known, var] : made_)
      if (known == name) return var;
    made_.emplace_back(name, graph_.parameter(name, shape, options));
    return made_.back().second;
  }

  Graph& graph_;
  std::int64_t norm_groups_;
  std::vector<std::pair<std::string, Var>> made_ = {};
};

/// With the norm before each convolution (arXiv 1603.05027), so that the sum needs none after it.
Map residual_block(const Map& x, DetectLayers& layers, const DetectShape& shape,
                   const DetectStage& stage, std::int64_t stride, const std::string& at) {
  const Map h = layers.norm(x, at + "norm1");
  const bool same = stride == 1 && x.channels() == stage.width;
  const Map direct = same ? x : layers.layer(h, at + "direct", stage.width, 1, stride);
  Map y;
  if (shape.block == StageBlock::residual) {
    const Map middle =
        layers.norm(layers.layer(h, at + "w1", stage.width, 3, stride), at + "norm2");
    y = layers.layer(middle, at + "w2", stage.width, 3, 1);
  } else {
    const Map narrow = layers.norm(layers.layer(h, at + "w1", stage.inner, 1, 1), at + "norm2");
    const Map middle = layers.norm(
        layers.layer(narrow, at + "w2", stage.inner, 3, stride, shape.groups), at + "norm3");
    y = layers.layer(middle, at + "w3", stage.width, 1, 1);
  }
  return {add(direct.values, y.values), y.height, y.width};
}

/// The results of the last `pyramid_stages` stages.
std::vector<Map> backbone(Map x, DetectLayers& layers, const DetectShape& shape, Graph& graph,
                          bool recompute) {
  x = layers.normed_layer(x, "stem", shape.stem, shape.stem_kernel, 2);
  if (shape.stem_twice) x = layers.normed_layer(x, "stem2", shape.stem, 3, 2);
  std::vector<Map> results;
  for (std::size_t i = 0; i < shape.stages.size(); ++i) {
    const DetectStage& stage = shape.stages[i];
    const std::string at = "stage" + std::to_string(i) + ".";
    for (std::int64_t block = 0; block < stage.blocks; ++block) {
      const std::int64_t stride = block > 0 || (i == 0 && shape.stem_twice) ? 1 : 2;
      const std::string name = at + std::to_string(block) + ".";
      if (recompute) graph.begin_recompute();
      x = shape.block == StageBlock::plain
              ? layers.normed_layer(x, name + "w", stage.width, 3, stride)
              : residual_block(x, layers, shape, stage, stride, name);
      if (recompute) graph.end_recompute();
    }
    if (std::ssize(shape.stages) - static_cast<std::int64_t>(i) > shape.pyramid_stages) continue;
    results.push_back(shape.block == StageBlock::plain ? x : layers.norm(x, at + "norm"));
  }
  return results;
}

/// Feature pyramid (arXiv 1612.03144): from the finest level on.
std::vector<Map> pyramid(const std::vector<Map>& stages, DetectLayers& layers,
                         const DetectShape& shape) {
  std::vector<Map> levels(stages.size());
  Map above;
  for (std::size_t i = stages.size(); i-- > 0;) {
    const std::string at = "pyramid" + std::to_string(i);
    const Map own = layers.layer(stages[i], at + ".lateral", shape.pyramid, 1, 1);
    above = i + 1 == stages.size() ? own : upsample_add(above, own);
    levels[i] = layers.normed_layer(above, at + ".w", shape.pyramid, 3, 1, false);
  }
  for (std::int64_t more = 0; more < shape.more_levels; ++more)
    levels.push_back(layers.normed_layer(levels.back(), "level" + std::to_string(more),
                                         shape.pyramid, 3, 2, true));
  return levels;
}

Map tower(Map x, DetectLayers& layers, const DetectShape& shape, const std::string& name) {
  for (std::int64_t i = 0; i < shape.head_layers; ++i)
    x = layers.normed_layer(x, name + std::to_string(i), shape.pyramid, 3, 1);
  return x;
}

/// Sides of the pyramid's levels, as convolutions round them.
std::vector<std::int64_t> level_sides(const DetectShape& shape) {
  const auto half = [](std::int64_t side) { return (side + 1) / 2; };
  std::int64_t side = half(shape.side);
  if (shape.stem_twice) side = half(side);
  std::vector<std::int64_t> sides;
  for (std::size_t i = 0; i < shape.stages.size(); ++i) {
    if (i > 0 || !shape.stem_twice) side = half(side);
    if (std::ssize(shape.stages) - static_cast<std::int64_t>(i) <= shape.pyramid_stages)
      sides.push_back(side);
  }
  for (std::int64_t more = 0; more < shape.more_levels; ++more) sides.push_back(side = half(side));
  return sides;
}

}  // namespace

std::vector<std::string> detect_presets() { return {"tiny", "small", "standard", "retinanet"}; }

DetectShape detect_preset(std::string_view name) {
  if (name == "tiny") return tiny_detect();
  if (name == "small") return small_detect();
  if (name == "standard") return retinanet(512, 60);
  if (name == "retinanet") return retinanet(800, 264);
  throw Error(ErrorKind::input, "unknown detect preset '" + std::string(name) + "'",
              "use one of " + join(detect_presets(), ", "));
}

AnchorShape DetectShape::anchors() const {
  AnchorShape shape{{}, scales, ratios};
  for (const std::int64_t level : level_sides(*this)) {
    const double stride =
        std::exp2(std::round(std::log2(static_cast<double>(side) / static_cast<double>(level))));
    shape.levels.push_back({level, level, stride, anchor_size * stride});
  }
  return shape;
}

Detect make_detect(const DetectShape& shape, std::int64_t samples, Dtype dtype, bool recompute) {
  require(!shape.stages.empty() && shape.pyramid_stages > 0 &&
              shape.pyramid_stages <= std::ssize(shape.stages),
          "detect", "a pyramid on stages that do not exist");
  Detect model{std::make_unique<Graph>(dtype), {}, {}, {}, {}};
  Graph& graph = *model.graph;
  DetectLayers layers(graph, shape.norm_groups);
  model.images = graph.input("images", {samples * shape.pixels(), shape.channels}, dtype);
  const AnchorShape anchors = shape.anchors();
  std::int64_t count = 0;
  for (const AnchorLevel& level : anchors.levels)
    count += level.height * level.width * anchors.of_pixel();
  const Dtype wide = accumulator_of(dtype);
  model.targets = {graph.input("classes", {samples * count, 1}, Dtype::int32),
                   graph.input("boxes", {samples * count, 4}, wide),
                   graph.input("weights", {samples, 1}, wide)};
  const std::vector<Map> levels =
      pyramid(backbone({model.images, shape.side, shape.side}, layers, shape, graph, recompute),
              layers, shape);
  std::vector<LevelPredictions> predictions;
  predictions.reserve(levels.size());
  for (const Map& level : levels)
    predictions.push_back(
        {layers.result(tower(level, layers, shape, "class"), "class.head",
                       anchors.of_pixel() * shape.classes, -std::log(1.0 / kPrior - 1.0)),
         layers.result(tower(level, layers, shape, "box"), "box.head", anchors.of_pixel() * 4,
                       0.0)});
  model.predictions = join_levels(predictions, shape.classes);
  model.losses = detection_loss(model.predictions, model.targets, shape.loss);
  return model;
}

double detect_flops_per_sample(const DetectShape& shape) {
  return 3.0 * make_detect(shape, 1).graph->forward_flops();
}

}  // namespace bench::training
