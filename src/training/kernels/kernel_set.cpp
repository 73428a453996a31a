#include "training/kernels/kernel_set.h"

#include <string>

#include "core/error.h"

namespace bench::training {
namespace {

class MissingRecommender final : public RecommenderKernels {
 public:
  explicit MissingRecommender(const char* where) : where_(where) {}
  void relu_forward(View, View) override { refuse(); }
  void relu_backward(View, View, View, bool) override { refuse(); }
  void cross_forward(View, View, View, View) override { refuse(); }
  void cross_backward(const CrossBackward&) override { refuse(); }
  void dot_forward(View, View, View) override { refuse(); }
  void dot_backward(const DotBackward&) override { refuse(); }
  void copy_columns(View, std::int64_t, View, std::int64_t, std::int64_t, bool) override {
    refuse();
  }
  void binary_cross_entropy(View, View, double, View) override { refuse(); }

 private:
  [[noreturn]] void refuse() const {
    throw Error(ErrorKind::input, "recommender kernels are not available " + where_,
                "train in f32");
  }
  std::string where_;
};

}  // namespace

std::unique_ptr<RecommenderKernels> missing_recommender(const char* where) {
  return std::make_unique<MissingRecommender>(where);
}

}  // namespace bench::training
