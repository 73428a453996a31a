// The trial that decides which library serves a GEMM, with libraries of which the result and the
// time are known.
#include "devices/host/gemm_choice.h"

#include <chrono>
#include <thread>

#include "core/elements.h"
#include "tests/support/catch.h"

namespace bench {
namespace {

/// Computes only the rows that a trial compares, and takes as long as it is made to.
class TimedPlan final : public GemmPlan {
 public:
  TimedPlan(std::string name, std::chrono::milliseconds time, double error, GemmShape shape)
      : name_(std::move(name)), time_(time), error_(error), shape_(shape) {}

  std::string library() const override { return name_; }
  std::string implementation() const override { return ""; }
  std::string isa() const override { return "avx2"; }
  bool packed() const override { return false; }
  Dtype output() const override { return Dtype::f64; }
  void load(std::span<const std::byte> a, std::span<const std::byte> b) override {
    a_.resize(static_cast<std::size_t>(shape_.m * shape_.k));
    b_.resize(static_cast<std::size_t>(shape_.k * shape_.n));
    c_.assign(static_cast<std::size_t>(shape_.m * shape_.n), 0.0);
    decode(a.data(), Dtype::f64, false, a_);
    decode(b.data(), Dtype::f64, false, b_);
  }
  void clear() override {}
  void run(std::int64_t) override {
    std::this_thread::sleep_for(time_);
    for (const std::int64_t row : {std::int64_t{0}, shape_.m / 2 - 1, shape_.m - 1})
      for (std::int64_t column = 0; column < shape_.n; ++column)
        c_[static_cast<std::size_t>(row * shape_.n + column)] = product(row, column);
    c_.back() += error_;
  }
  std::vector<std::byte> result() const override {
    const auto bytes = std::as_bytes(std::span(c_));
    return {bytes.begin(), bytes.end()};
  }
  std::optional<Hertz> clock() override { return {}; }

 private:
  double product(std::int64_t row, std::int64_t column) const {
    double sum = 0;
    for (std::int64_t i = 0; i < shape_.k; ++i)
      sum += a_[static_cast<std::size_t>(row * shape_.k + i)] *
             b_[static_cast<std::size_t>(i * shape_.n + column)];
    return sum;
  }

  std::string name_;
  std::chrono::milliseconds time_;
  double error_;
  GemmShape shape_;
  std::vector<double> a_ = {}, b_ = {}, c_ = {};
};

MakeGemm timed(std::string name, int milliseconds, double error = 0) {
  return [=](const GemmRequest& request, const std::vector<int>&, HostThreadWatch&) {
    return GemmOffer{std::make_unique<TimedPlan>(name, std::chrono::milliseconds(milliseconds),
                                                 error, request.shape),
                     ""};
  };
}

LibraryChoice chosen_of(const std::vector<MakeGemm>& makers) {
  HostThreadWatch watch;
  return choose_library(makers, {.dtype = Dtype::f64, .shape = {8, 8, 8}}, {0}, watch);
}

}  // namespace

TEST_CASE("the fastest library is chosen, and all that were tried are named") {
  const auto refuses = [](const GemmRequest&, const std::vector<int>&, HostThreadWatch&) {
    return GemmOffer{nullptr, "has no product"};
  };
  const LibraryChoice choice = chosen_of({timed("slow", 40), refuses, timed("fast", 4)});
  CHECK(choice.chosen == 2u);
  REQUIRE(choice.tried.size() == 3);
  CHECK(choice.tried[0].at("chosen") == false);
  CHECK(choice.tried[0].at("flops").get<double>() <= 2.0 * 512 * 512 * 512 / 0.04);
  CHECK(choice.tried[1] == Json{{"reason", "has no product"}});
  CHECK(choice.tried[2].at("library") == "fast");
  CHECK(choice.tried[2].at("chosen") == true);
}

TEST_CASE("the preferred library is kept if another is hardly faster") {
  CHECK(chosen_of({timed("preferred", 30), timed("as fast", 30)}).chosen == 0u);
}

TEST_CASE("a library whose product is wrong is not chosen, however fast it is") {
  const LibraryChoice choice = chosen_of({timed("right", 20), timed("wrong", 1, 1.0)});
  CHECK(choice.chosen == 0u);
  CHECK(choice.tried[1] == Json{{"reason", "wrong computed a wrong product in the trial"}});
  CHECK_FALSE(chosen_of({timed("wrong", 1, 0.5)}).chosen);
}

}  // namespace bench
