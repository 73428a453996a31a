#include "training/operators/convolution.h"

#include <algorithm>
#include <memory>
#include <string>

#include "training/operators/linear.h"

namespace bench::training {
namespace {

/// Elements of the patches that are gathered at once, if these are more than one image's.
constexpr std::int64_t kPatchElements = std::int64_t{1} << 18;

class Convolution final : public Operator {
 public:
  Convolution(const PatchShape& patches, std::int64_t images, std::int64_t out,
              const ConvolutionOptions& options, Dtype dtype)
      : patch_(patches),
        images_(images),
        groups_(options.groups),
        out_(out),
        bias_(static_cast<bool>(options.bias)),
        dtype_(dtype),
        in_pixels_(patches.height * patches.width),
        out_pixels_(patches.out_height() * patches.out_width()),
        at_once_(std::clamp<std::int64_t>(kPatchElements / (out_pixels_ * patches.columns()), 1,
                                          images)) {}

  std::string_view name() const override { return "convolution"; }
  bool backward_reads_input(std::size_t input) const override { return input < 2; }
  std::int64_t forward_workspace() const override { return patch_elements() + part_elements(); }
  std::int64_t backward_workspace() const override { return forward_workspace(); }
  double flops() const override {
    return 2.0 * static_cast<double>(images_ * out_pixels_) *
           static_cast<double>(patch_.columns()) * static_cast<double>(out_);
  }

  void forward(const Frame& f) const override {
    each_part(f, [&](const Part& part) {
      f.kernels->convolution->gather(part.patch, part.of(f.inputs[0]), part.patches);
      GemmOptions product;
      if (bias_) product.bias = f.inputs[2];
      const View y = part.result(f.output);
      f.kernels->gemm->multiply(product, part.patches, part.weight(f.inputs[1]),
                                groups_ == 1 ? y : part.own);
      if (groups_ > 1) f.kernels->convolution->scatter(part.columns, part.own, y, false);
    });
  }

  void backward(const Frame& f) const override {
    if (bias_ && f.input_gradients[2])
      f.kernels->elementwise->column_sums(f.output_gradient, f.input_gradients[2], f.adds(2));
    each_part(f, [&](const Part& part) {
      View dy = part.result(f.output_gradient);
      if (groups_ > 1) {
        f.kernels->convolution->gather(part.columns, dy, part.own);
        dy = part.own;
      }
      if (f.input_gradients[1]) weight_gradient(f, part, dy);
      if (!f.input_gradients[0]) return;
      const GemmOptions product{false, true};
      f.kernels->gemm->multiply(product, dy, part.weight(f.inputs[1]), part.patches);
      f.kernels->convolution->scatter(part.patch, part.patches, part.of(f.input_gradients[0]),
                                      f.adds(0));
    });
  }

 private:
  /// Some images and one group of channels.
  struct Part {
    PatchShape patch;    // the group's patches
    PatchShape columns;  // the group's columns of the result, as patches of one pixel
    std::int64_t group = 0, first = 0, count = 0;  // images
    std::int64_t in_pixels = 0, out_pixels = 0;
    View patches, own;  // own: the group's columns of the result

    View of(View x) const { return rows_of(x, first * in_pixels, count * in_pixels); }
    View result(View y) const { return rows_of(y, first * out_pixels, count * out_pixels); }
    View weight(View w) const { return rows_of(w, group * patch.columns(), patch.columns()); }
  };

  std::int64_t group_columns() const { return out_ / groups_; }
  std::int64_t patch_elements() const { return at_once_ * out_pixels_ * patch_.columns(); }
  std::int64_t part_elements() const {
    return groups_ == 1 ? 0 : at_once_ * out_pixels_ * group_columns();
  }

  void weight_gradient(const Frame& f, const Part& part, View dy) const {
    f.kernels->convolution->gather(part.patch, part.of(f.inputs[0]), part.patches);
    const View gradient = part.weight(f.input_gradients[1]);
    GemmOptions product{true, false};
    if (part.first > 0 || f.adds(1)) product.addend = gradient;
    f.kernels->gemm->multiply(product, part.patches, dy, gradient);
  }

  template <class Work>
  void each_part(const Frame& f, const Work& work) const {
    const auto scratch = [&](std::int64_t after, std::int64_t rows, std::int64_t columns) {
      const auto bytes = after * static_cast<std::int64_t>(size_of(dtype_));
      return View{f.workspace.as<std::byte>() + bytes, rows, columns, dtype_};
    };
    for (std::int64_t first = 0; first < images_; first += at_once_)
      for (std::int64_t group = 0; group < groups_; ++group) {
        const std::int64_t count = std::min(at_once_, images_ - first), rows = count * out_pixels_;
        Part part{patch_, {}, group, first, count, in_pixels_, out_pixels_, {}, {}};
        part.patch.first_channel = group * patch_.channels;
        part.columns = {patch_.out_height(),     patch_.out_width(), 1, 1, 0,
                        group * group_columns(), group_columns()};
        part.own = scratch(0, rows, group_columns());
        part.patches = scratch(part_elements(), rows, patch_.columns());
        work(part);
      }
  }

  PatchShape patch_;  // of the first group
  std::int64_t images_, groups_, out_;
  bool bias_;
  Dtype dtype_;
  std::int64_t in_pixels_, out_pixels_, at_once_;
};

class GroupNorm final : public Operator {
 public:
  explicit GroupNorm(const GroupNormShape& shape) : shape_(shape) {}
  std::string_view name() const override { return "group_norm"; }
  int gradient_in_place() const override { return 0; }
  std::vector<Saved> saved() const override { return {{{shape_.images, 2 * shape_.groups}}}; }
  void forward(const Frame& f) const override {
    f.kernels->convolution->group_norm(shape_, f.inputs[0], f.inputs[1], f.inputs[2], f.output,
                                       f.saved[0]);
  }
  void backward(const Frame& f) const override {
    f.kernels->convolution->group_norm_backward(
        shape_,
        {f.inputs[0], f.inputs[1], f.inputs[2], f.saved[0], f.output_gradient, f.input_gradients[0],
         f.input_gradients[1], f.input_gradients[2], f.adds(0), f.adds(1), f.adds(2)});
  }

 private:
  GroupNormShape shape_;
};

class UpsampleAdd final : public Operator {
 public:
  explicit UpsampleAdd(std::int64_t width) : width_(width) {}
  std::string_view name() const override { return "upsample_add"; }
  bool backward_reads_input(std::size_t) const override { return false; }
  int in_place() const override { return kBase; }
  int gradient_in_place() const override { return kBase; }
  void forward(const Frame& f) const override {
    f.kernels->convolution->upsample_add(width_, f.inputs[kX], f.inputs[kBase], f.output);
  }
  void backward(const Frame& f) const override {
    if (f.input_gradients[kX])
      f.kernels->convolution->upsample_backward(width_, f.output_gradient, f.input_gradients[kX],
                                                f.adds(kX));
    f.pass_gradient(kBase);  // last: it may share memory with the output's gradient
  }

 private:
  enum Input : std::size_t { kBase, kX };
  std::int64_t width_;
};

std::string map_text(const Map& map) {
  return std::to_string(map.height) + " x " + std::to_string(map.width) + " pixels of " +
         map.values.shape().text();
}

void require_map(const Map& x, const std::string& op) {
  require(x.pixels() > 0 && x.values.shape().rows() % x.pixels() == 0, op, "x is " + map_text(x));
}

}  // namespace

Map convolution(const Map& x, Var w, const ConvolutionOptions& options) {
  require_map(x, "convolution");
  const std::int64_t in = x.channels(), groups = options.groups;
  const std::int64_t taps = options.kernel * options.kernel;
  require(groups > 0 && in % groups == 0 && w.shape().rows() == taps * in &&
              (groups == 1 || !options.bias),
          "convolution",
          "x has " + std::to_string(in) + " channels, the weight '" + w.name() + "' is " +
              w.shape().text() + " for " + std::to_string(groups) + " groups of kernels " +
              std::to_string(options.kernel));
  const std::int64_t out = w.shape().columns() * groups;
  const PatchShape patch{x.height,        x.width, options.kernel, options.stride,
                         options.padding, 0,       in / groups};
  require(options.stride > 0 && patch.out_height() > 0 && patch.out_width() > 0, "convolution",
          "kernels of " + std::to_string(options.kernel) + " on " + map_text(x));
  const Map y{{}, patch.out_height(), patch.out_width()};
  if (taps == 1 && options.stride == 1 && options.padding == 0 && groups == 1)
    return {linear(x.values, w, {options.bias}), y.height, y.width};
  std::vector<Var> inputs{x.values, w};
  if (options.bias) {
    require(options.bias.shape().elements() == out, "convolution",
            "the bias is " + options.bias.shape().text() + ", expected " + std::to_string(out));
    inputs.push_back(options.bias);
  }
  auto op =
      std::make_unique<Convolution>(patch, x.images(), out, options, x.values.graph->compute());
  return {x.values.graph->apply(std::move(op), inputs, {x.images() * y.pixels(), out}), y.height,
          y.width};
}

Map group_norm(const Map& x, Var gain, Var bias, std::int64_t groups, bool relu, double epsilon) {
  require_map(x, "group_norm");
  require(groups > 0 && x.channels() % groups == 0 && gain.shape().elements() == x.channels() &&
              bias.shape().elements() == x.channels(),
          "group_norm",
          "x is " + map_text(x) + ", the gain " + gain.shape().text() + ", the bias " +
              bias.shape().text() + ", groups " + std::to_string(groups));
  auto op = std::make_unique<GroupNorm>(GroupNormShape{x.images(), groups, relu, epsilon});
  return {x.values.graph->apply(std::move(op), {x.values, gain, bias}, x.values.shape()), x.height,
          x.width};
}

Map upsample_add(const Map& x, const Map& base) {
  require(base.height == 2 * x.height && base.width == 2 * x.width &&
              x.channels() == base.channels() && x.images() == base.images(),
          "upsample_add", "x is " + map_text(x) + ", the base " + map_text(base));
  auto op = std::make_unique<UpsampleAdd>(x.width);
  return {base.values.graph->apply(std::move(op), {base.values, x.values}, base.values.shape()),
          base.height, base.width};
}

}  // namespace bench::training
