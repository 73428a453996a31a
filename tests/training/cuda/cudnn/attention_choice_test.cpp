// When a library's attention is used instead of our own.
#include <functional>
#include <limits>
#include <memory>
#include <utility>

#include "core/error.h"
#include "tests/support/catch.h"
#include "tests/training/interpreted_attention.h"
#include "training/cuda/cudnn/attention_graphs.h"
#include "training/host/host_kernels.h"

namespace bench::cudnn {
namespace {

using Catch::Matchers::Contains;
using training::AttentionShape;

constexpr AttentionShape kServed{128, 1, 1, 8, true, 0};

/// Our own attention and a fake library with call times set by the test.
struct ChoiceOfAttention {
  bool recording = false, absent = false;
  double own_seconds = 2.0, seconds_of_library = 1.0;
  InterpretedAttention::Damage damage = {};
  InterpretedAttention* library = nullptr;
  std::shared_ptr<AttentionChoices> choices = std::make_shared<AttentionChoices>(
      [this]() -> std::unique_ptr<LibraryAttention> {
        if (absent) throw Error(ErrorKind::environment, "there is no libcudnn.so.9");
        auto made = std::make_unique<InterpretedAttention>(damage);
        library = made.get();
        return made;
      },
      ChoiceDevice{training::host_memory(), [this] { return recording; },
                   [this](const std::function<void()>& call) {
                     const int before = library->calls();
                     call();
                     return library->calls() > before ? seconds_of_library : own_seconds;
                   }});
  ChosenAttention attention{choices, std::move(training::host_kernels(Dtype::bf16).attention)};

  auto results(const AttentionShape& shape = kServed, bool add = false) {
    return attention_results(attention, shape, 1, add);
  }
  int calls_of_library() const { return library == nullptr ? 0 : library->calls(); }
};

auto own_results(const AttentionShape& shape = kServed, bool add = false) {
  return attention_results(*training::host_kernels(Dtype::bf16).attention, shape, 1, add);
}

/// Succeeds at once, and has written nothing.
class IdleAttention final : public LibraryAttention {
 public:
  std::string name() const override { return "idle"; }
  void forward(const AttentionShape&, training::View, training::View, training::View) override {}
  void backward(const AttentionShape&, const training::AttentionBackward&) override {}
};

}  // namespace

TEST_CASE("a library's attention is used if it agrees and is faster, and is tried once") {
  ChoiceOfAttention choice;
  const auto first = choice.results();
  CHECK(choice.choices->text() == "make-believe");
  CHECK(first != own_results());  // it rounds elsewhere
  const int tried = choice.calls_of_library();
  CHECK(choice.results() == first);
  CHECK(choice.calls_of_library() == tried + 2);
}

TEST_CASE("a slower library's attention is rejected and our own results are kept") {
  ChoiceOfAttention choice;
  choice.seconds_of_library = 3.0;
  CHECK(choice.results() == own_results());
  CHECK(choice.choices->text() == "own (make-believe is slower)");
  const int tried = choice.calls_of_library();
  CHECK(choice.results() == own_results());
  CHECK(choice.calls_of_library() == tried);
}

TEST_CASE("a library's attention with other results is rejected separately for each pass") {
  ChoiceOfAttention choice;
  choice.damage = [](OperationGraph& graph) {
    for (GraphTensor& tensor : graph.tensors)
      if (tensor.id == kScale && graph.operations.size() > 14) *tensor.value *= 1.1f;
  };
  attention_results(choice.attention, kServed, 1, false, 0.0);  // as of a head that starts at zero
  CHECK_THAT(choice.choices->text(),
             Contains("forward make-believe, backward own (make-believe differs from own by"));
}

TEST_CASE("a library's attention that returns NaN is rejected") {
  ChoiceOfAttention choice;
  choice.damage = [](OperationGraph& graph) {
    for (GraphTensor& tensor : graph.tensors)
      if (tensor.id == kScale) tensor.value = std::numeric_limits<float>::quiet_NaN();
  };
  CHECK(choice.results() == own_results());
  CHECK_THAT(choice.choices->text(), Contains("differs from own by inf"));
}

TEST_CASE("a library's attention that writes nothing is rejected despite earlier contents") {
  const ChoiceDevice device{training::host_memory(), [] { return false; },
                            [](const std::function<void()>& call) { return call(), 1.0; }};
  const auto choices =
      std::make_shared<AttentionChoices>([] { return std::make_unique<IdleAttention>(); }, device);
  ChosenAttention attention{choices, std::move(training::host_kernels(Dtype::bf16).attention)};
  CHECK(attention_results(attention, kServed, 1, false) == own_results());
  CHECK_THAT(choices->text(), Contains("idle differs from own"));
}

TEST_CASE("a bad ID reported while attention is tried does not reject the library") {
  const auto choices = std::make_shared<AttentionChoices>(
      []() -> std::unique_ptr<LibraryAttention> { throw Error(ErrorKind::input, "id 7 of 5"); },
      ChoiceDevice{training::host_memory(), [] { return false; }, {}});
  ChosenAttention attention{choices, std::move(training::host_kernels(Dtype::bf16).attention)};
  CHECK_THROWS_WITH(attention_results(attention, kServed, 1, false), "id 7 of 5");
}

TEST_CASE("cuDNN's attention gradient is rejected if it misreads our softmax statistics") {
  CHECK(ignores_strides_of_sums(91900, 80));
  CHECK(ignores_strides_of_sums(91900, 89));
  CHECK_FALSE(ignores_strides_of_sums(92600, 80));
  CHECK_FALSE(ignores_strides_of_sums(91900, 90));
}

TEST_CASE("our own attention is used without a library or for unsupported problems") {
  ChoiceOfAttention choice;
  choice.absent = true;
  CHECK(choice.results() == own_results());
  CHECK(choice.choices->text() == "own (there is no libcudnn.so.9)");
  const AttentionShape shifted{128, 1, 1, 8, true, 1};
  choice.choices->begin(false);
  CHECK(choice.results(shifted) == own_results(shifted));
  CHECK(choice.choices->text() == "own (shifted key/value heads are not supported)");
}

TEST_CASE("our own attention is used for added gradients and for deterministic results") {
  ChoiceOfAttention choice;
  const auto added = choice.results(kServed, true);
  CHECK(choice.choices->text() == "forward make-believe, backward own");
  CHECK(worst_head(added[2], own_results(kServed, true)[2], 3, 128) < 0.01);
  choice.choices->begin(true);
  CHECK(choice.results() == own_results());
  CHECK(choice.choices->text() == "own (deterministic results requested)");
  choice.choices->begin(false);
  choice.results();
  CHECK(choice.choices->text() == "make-believe");
}

TEST_CASE("attention is not tried during recording, only later") {
  ChoiceOfAttention choice;
  choice.recording = true;
  CHECK(choice.results() == own_results());
  CHECK(choice.choices->text() == "own");
  choice.recording = false;
  choice.results();
  CHECK(choice.choices->text() == "make-believe");
}

}  // namespace bench::cudnn
