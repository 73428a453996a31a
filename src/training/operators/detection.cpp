#include "training/operators/detection.h"

#include <memory>
#include <string>

namespace bench::training {
namespace {

/// Inputs: classes and boxes of each level by turns.
class JoinLevels final : public Operator {
 public:
  JoinLevels(std::int64_t images, std::vector<std::int64_t> anchors, std::int64_t classes)
      : images_(images), anchors_(std::move(anchors)), classes_(classes) {
    for (const std::int64_t of_level : anchors_) all_ += of_level;
  }
  std::string_view name() const override { return "join_levels"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  void forward(const Frame& f) const override {
    each_input([&](std::size_t input, const BlockCopy& copy) {
      f.kernels->detection->copy_blocks(copy, f.inputs[input], f.output, false);
    });
  }
  void backward(const Frame& f) const override {
    each_input([&](std::size_t input, const BlockCopy& copy) {
      if (!f.input_gradients[input]) return;
      const BlockCopy back{copy.blocks,     copy.rows,       copy.columns,
                           copy.to_first,   copy.to_block,   copy.to_row,
                           copy.from_first, copy.from_block, copy.from_row};
      f.kernels->detection->copy_blocks(back, f.output_gradient, f.input_gradients[input],
                                        f.adds(input));
    });
  }

 private:
  template <class Work>
  void each_input(const Work& work) const {
    const std::int64_t row = classes_ + 4;
    std::int64_t before = 0;  // anchors of lower levels
    for (std::size_t level = 0; level < anchors_.size(); ++level) {
      const std::int64_t own = anchors_[level];
      const std::int64_t first = before * row, block = all_ * row;
      work(2 * level, {images_, own, classes_, 0, own * classes_, classes_, first, block, row});
      work(2 * level + 1, {images_, own, 4, 0, own * 4, 4, first + classes_, block, row});
      before += own;
    }
  }

  std::int64_t images_;
  std::vector<std::int64_t> anchors_;  // of each level
  std::int64_t classes_, all_ = 0;
};

class DetectionLoss final : public Operator {
 public:
  explicit DetectionLoss(const DetectionLossShape& shape) : shape_(shape) {}
  std::string_view name() const override { return "detection_loss"; }
  bool is_loss() const override { return true; }
  void forward(const Frame& f) const override {
    f.kernels->detection->detection_loss(
        shape_, f.inputs[0], {f.inputs[1], f.inputs[2], f.inputs[3]}, f.loss_scale(), f.output);
  }
  void backward(const Frame&) const override {}  // forward has computed it

 private:
  DetectionLossShape shape_;
};

}  // namespace

Var join_levels(const std::vector<LevelPredictions>& levels, std::int64_t classes) {
  require(!levels.empty(), "join_levels", "no levels");
  const std::int64_t images = levels.front().classes.images();
  std::vector<Var> inputs;
  std::vector<std::int64_t> anchors;
  std::int64_t rows = 0;
  for (const LevelPredictions& level : levels) {
    const std::int64_t of_pixel = level.boxes.channels() / 4;
    require(level.classes.channels() == of_pixel * classes && level.boxes.channels() % 4 == 0 &&
                level.classes.values.shape().rows() == level.boxes.values.shape().rows() &&
                level.classes.images() == images,
            "join_levels",
            "classes are " + level.classes.values.shape().text() + ", boxes " +
                level.boxes.values.shape().text());
    inputs.push_back(level.classes.values);
    inputs.push_back(level.boxes.values);
    anchors.push_back(level.classes.pixels() * of_pixel);
    rows += images * anchors.back();
  }
  return inputs.front().graph->apply(
      std::make_unique<JoinLevels>(images, std::move(anchors), classes), inputs,
      {rows, classes + 4});
}

Var detection_loss(Var predictions, const DetectionTargets& targets,
                   const DetectionLossShape& shape) {
  const std::int64_t rows = predictions.shape().rows();
  const std::int64_t images = targets.weights.shape().elements();
  require(targets.classes.shape().elements() == rows && targets.boxes.shape().rows() == rows &&
              targets.boxes.shape().columns() == 4 && images > 0 && rows % images == 0 &&
              predictions.shape().columns() > 4,
          "detection_loss",
          "predictions are " + predictions.shape().text() + ", classes " +
              targets.classes.shape().text() + ", boxes " + targets.boxes.shape().text() +
              ", weights " + targets.weights.shape().text());
  return predictions.graph->apply(std::make_unique<DetectionLoss>(shape),
                                  {predictions, targets.classes, targets.boxes, targets.weights},
                                  {images, 1}, Dtype::f64);
}

}  // namespace bench::training
