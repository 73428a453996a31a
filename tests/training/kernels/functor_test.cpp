// The GPU kernel bodies, run on the CPU, against the host kernels.
#include <cmath>
#include <functional>

#include "tests/support/catch.h"
#include "tests/training/dlrm_training.h"
#include "tests/training/fake_device.h"
#include "tests/training/functor_set.h"
#include "tests/training/gradient_check.h"
#include "tests/training/rgat_training.h"
#include "training/engine/replica.h"
#include "training/kernels/memory.h"
#include "training/models/llm.h"
#include "training/workloads/detect.h"
#include "training/workloads/hstu.h"
#include "training/workloads/image.h"

namespace bench::training {
namespace {

/// Three steps of training a model with the functors and with the host's kernels.
struct StepsCompared {
  double worst_loss = 0.0, worst_norm = 0.0;
};

std::unique_ptr<Optimizer> usual_optimizer() { return make_adamw({0.9, 0.95, 1e-8, 0.1}); }

StepsCompared compare_steps(
    const Graph& graph, Var losses, const Replica::Fill& fill,
    const std::function<std::unique_ptr<Optimizer>()>& optimizer = usual_optimizer) {
  const Plan plan = make_plan(graph);
  HostLaunch launch;
  Replica here(plan, losses, [](Dtype d) { return host_kernels(d); }, optimizer(), {1, 2, 1});
  Replica there(plan, losses, [&](Dtype d) { return functor_kernels(launch, d); }, optimizer(),
                {1, 2, 1});
  StepsCompared worst;
  for (int i = 0; i < 3; ++i) {
    const Replica::Step a = here.step(fill, 1e-3, 1.0), b = there.step(fill, 1e-3, 1.0);
    worst.worst_loss = std::max(worst.worst_loss, std::abs(a.loss - b.loss));
    worst.worst_norm =
        std::max(worst.worst_norm, std::abs(a.gradient_norm / b.gradient_norm - 1.0));
  }
  return worst;
}

StepsCompared compare_steps(const LlmShape& shape, Dtype dtype) {
  const Llm model = make_llm(shape, 2, dtype);
  const auto fill = [&](const Lane& lane, int number) {
    const auto vocabulary = static_cast<int>(shape.vocabulary);
    fill_ids(lane.view(model.tokens), vocabulary, static_cast<unsigned>(number));
    fill_ids(lane.view(model.targets), vocabulary, static_cast<unsigned>(number) + 5);
    lane.view(model.targets).as<std::int32_t>()[3] = -1;
  };
  return compare_steps(*model.graph, model.losses, fill);
}

LlmShape small_shape(bool gpt2) {
  LlmShape shape{2, 48, 96, 3, gpt2 ? 3 : 1, 37, 91, gpt2, gpt2, gpt2 ? 0 : 1, 1e3};
  return shape;
}

}  // namespace

TEST_CASE("functors: models train like with host kernels in f32") {
  for (const bool gpt2 : {false, true}) {
    const StepsCompared worst = compare_steps(small_shape(gpt2), Dtype::f32);
    INFO("gpt2 " << gpt2);
    CHECK(worst.worst_loss < 2e-5);
    CHECK(worst.worst_norm < 1e-4);
  }
}

TEST_CASE("functors: models train like with host kernels in bf16") {
  for (const bool gpt2 : {false, true}) {
    const StepsCompared worst = compare_steps(small_shape(gpt2), Dtype::bf16);
    INFO("gpt2 " << gpt2);
    CHECK(worst.worst_loss < 2e-3);
    CHECK(worst.worst_norm < 1e-2);
  }
}

TEST_CASE("functors: models train like with host kernels in f16") {
  for (const bool gpt2 : {false, true}) {
    const StepsCompared worst = compare_steps(small_shape(gpt2), Dtype::f16);
    INFO("gpt2 " << gpt2);
    CHECK(worst.worst_loss < 3e-4);
    CHECK(worst.worst_norm < 2e-3);
  }
}

TEST_CASE("functors: a detector trains like with host kernels in all types") {
  struct Tolerance {
    Dtype dtype;
    double loss, norm;
  };
  for (const Tolerance& one : {Tolerance{Dtype::f32, 2e-5, 1e-4}, Tolerance{Dtype::bf16, 0.03, 0.1},
                               Tolerance{Dtype::f16, 2e-3, 5e-3}}) {
    const auto workload = make_detect_workload("tiny", 1);
    const Model model = workload->model(2, one.dtype, false);
    const StepsCompared worst =
        compare_steps(*model.graph, model.losses, [&](const Lane& lane, int number) {
          workload->read(Split::train, 2 * static_cast<std::uint64_t>(number), model, lane);
        });
    INFO(to_string(one.dtype) << ": " << worst.worst_loss << " " << worst.worst_norm);
    CHECK(worst.worst_loss < one.loss);
    CHECK(worst.worst_norm < one.norm);
  }
}

TEST_CASE("functors: classifiers train like with host kernels in all types") {
  struct Tolerance {
    Dtype dtype;
    double loss, norm;
  };
  for (const char* preset : {"tiny", "tiny_vit"})
    for (const Tolerance& one :
         {Tolerance{Dtype::f32, 2e-5, 1e-4}, Tolerance{Dtype::bf16, 0.03, 0.1},
          Tolerance{Dtype::f16, 2e-3, 1e-2}}) {
      ImageSetting setting = image_setting(preset);
      if (auto* vit = std::get_if<VisionTransformer>(&setting.shape.network)) vit->patch = 4;
      const auto workload = make_image_workload(preset, setting, 1);
      const Model model = workload->model(2, one.dtype, false);
      const StepsCompared worst = compare_steps(
          *model.graph, model.losses,
          [&](const Lane& lane, int number) {
            workload->read(Split::train, 2 * static_cast<std::uint64_t>(number), model, lane);
          },
          [&] { return workload->optimizer(); });
      INFO(preset << " in " << to_string(one.dtype) << ": " << worst.worst_loss << " "
                  << worst.worst_norm);
      CHECK(worst.worst_loss < one.loss);
      CHECK(worst.worst_norm < one.norm);
    }
}

TEST_CASE("functors: a sequential recommender trains like with host kernels in all types") {
  struct Tolerance {
    Dtype dtype;
    double loss, norm;
  };
  for (const Tolerance& one : {Tolerance{Dtype::f32, 2e-5, 1e-4}, Tolerance{Dtype::bf16, 0.03, 0.1},
                               Tolerance{Dtype::f16, 2e-3, 1e-2}}) {
    const auto workload = make_hstu_workload("tiny", 1);
    const Model model = workload->model(2, one.dtype, false);
    const StepsCompared worst =
        compare_steps(*model.graph, model.losses, [&](const Lane& lane, int number) {
          workload->read(Split::train, 2 * static_cast<std::uint64_t>(number), model, lane);
        });
    INFO(to_string(one.dtype) << ": " << worst.worst_loss << " " << worst.worst_norm);
    CHECK(worst.worst_loss < one.loss);
    CHECK(worst.worst_norm < one.norm);
  }
}

TEST_CASE("functors: a graph network trains like with host kernels in all types") {
  struct Tolerance {
    Dtype dtype;
    double loss, norm;
  };
  for (const Tolerance& one : {Tolerance{Dtype::f32, 2e-5, 1e-4}, Tolerance{Dtype::bf16, 0.03, 0.1},
                               Tolerance{Dtype::f16, 2e-3, 1e-2}}) {
    const auto workload = make_rgat_workload("tiny", small_graph_rgat(), 1);
    const Model model = workload->model(2, one.dtype, false);
    const StepsCompared worst =
        compare_steps(*model.graph, model.losses, [&](const Lane& lane, int number) {
          workload->read(Split::train, 2 * static_cast<std::uint64_t>(number), model, lane);
        });
    INFO(to_string(one.dtype) << ": " << worst.worst_loss << " " << worst.worst_norm);
    CHECK(worst.worst_loss < one.loss);
    CHECK(worst.worst_norm < one.norm);
  }
}

TEST_CASE("functors: click models train like with host kernels on a separate device") {
  FakeDevice device;
  HostLaunch launch;
  const auto here = train_dlrm_steps([](Dtype dtype) { return host_kernels(dtype); }, 5);
  const auto there = train_dlrm_steps(
      [&](Dtype dtype) { return device.at_work(functor_kernels(launch, dtype)); }, 5);
  REQUIRE(there.size() == here.size());
  for (std::size_t i = 0; i < here.size(); ++i) CHECK(there[i] == Approx(here[i]).epsilon(3e-5));
}

TEST_CASE("functors: an ID outside its table is reported with its row and writes nothing") {
  HostLaunch launch;
  const KernelSet set = functor_kernels(launch, Dtype::f32);
  std::vector<float> table(5 * 8, 1.0f), y(4 * 8), gradient(5 * 8, 0.0f);
  std::int32_t ids[] = {0, 4, 7, -2};
  set.embedding->forward({ids, 3, 1, Dtype::int32}, {table.data(), 5, 8, Dtype::f32},
                         {y.data(), 3, 8, Dtype::f32});
  CHECK(launch.fault()->row_and_id == (2ull << 32 | 7));
  CHECK(launch.fault()->rows == 5);
  std::fill(y.begin(), y.end(), 1.0f);
  set.embedding->backward({ids, 4, 1, Dtype::int32}, {y.data(), 4, 8, Dtype::f32},
                          {gradient.data(), 5, 8, Dtype::f32}, false);
  CHECK(gradient[0] == 1.0f);
  CHECK(gradient[8] == 0.0f);
  CHECK(gradient[4 * 8] == 1.0f);
}

TEST_CASE("functors: sums of any number of elements are correct") {
  HostLaunch launch;
  const KernelSet set = functor_kernels(launch, Dtype::f32);
  for (const std::int64_t count : {1, 31, 33000}) {
    const MemoryBlock block(count * 4, "a test");
    double expected = 0.0;
    for (std::int64_t i = 0; i < count; ++i) {
      const float value = std::sin(static_cast<float>(i));
      reinterpret_cast<float*>(block.data())[i] = value;
      expected += static_cast<double>(value) * value;
    }
    CHECK(set.optimizer->square_sum({block.data(), 1, count, Dtype::f32}) ==
          Approx(expected).epsilon(1e-12));
  }
}

}  // namespace bench::training
