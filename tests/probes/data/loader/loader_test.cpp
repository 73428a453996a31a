#include "probes/data/loader/loader.h"

#include <algorithm>
#include <atomic>

#include "core/error.h"
#include "probes/data/pipelines/open_pipeline.h"
#include "tests/probes/data/slow_sets.h"
#include "tests/probes/data/small_sets.h"
#include "tests/support/catch.h"

namespace bench::data {
namespace {

LoaderOptions options_with(int workers, std::uint64_t batch) {
  LoaderOptions options;
  options.num_workers = workers;
  options.batch_size = batch;
  options.seed = 5;
  return options;
}

std::vector<KeptBatch> batches_with(const Pipeline& pipeline, const LoaderOptions& options,
                                    std::uint64_t batches) {
  Loader loader(pipeline, options);
  auto kept = all_batches(loader, batches);
  std::ranges::sort(kept, {}, &KeptBatch::number);
  return kept;
}

TEST_CASE("batches have the same bits for 0, 1, 2 and 4 workers and every dispatch") {
  for (const auto& [format, name] : kFormats.entries) {
    if (!no_jpeg().empty() && format < Format::raw) continue;
    INFO(name);
    const SmallSet set(format);
    const std::uint64_t batch = format >= Format::criteo_tsv ? 700 : 5;
    const std::uint64_t batches = 2 * (set.pipeline->shape().samples / batch) + 1;  // three epochs
    const auto expected = batches_with(*set.pipeline, options_with(0, batch), batches);
    REQUIRE(expected.size() == batches);
    CHECK((expected[0].data != expected[1].data));
    for (const int workers : {1, 2, 4})
      for (const Dispatch dispatch : {Dispatch::batch, Dispatch::sample})
        for (const bool in_order : {true, false}) {
          LoaderOptions options = options_with(workers, batch);
          options.dispatch = dispatch;
          options.in_order = in_order;
          INFO(workers << " " << kDispatches.name(dispatch) << " " << in_order);
          CHECK((batches_with(*set.pipeline, options, batches) == expected));
        }
  }
}

TEST_CASE("batches that depend on the thread differ between worker counts") {
  SlowPipeline pipeline(0.0);
  pipeline.differs_by_thread = true;
  const auto expected = batches_with(pipeline, options_with(0, 5), 20);
  CHECK((batches_with(pipeline, options_with(2, 5), 20) != expected));
}

TEST_CASE("batches are locked for the device during the loader's lifetime, or it reports why not") {
  const auto pipeline = synthetic_pipeline(100, 4096);
  SlowCopies copies(0.0);
  LoaderOptions options = options_with(1, 2);
  options.copies = &copies;
  { const Loader loader(*pipeline, options); }
  CHECK(copies.most_locked == 0);
  options.pin_memory = true;
  {
    const Loader loader(*pipeline, options);
    CHECK(loader.obstacle().empty());
    CHECK(copies.locked == (2 + 1) * 2 * 4096);  // prefetch_factor, and the one that is lent
  }
  CHECK(copies.locked == 0);
  copies.refusal = "no more memory may be locked";
  CHECK_THAT(Loader(*pipeline, options).obstacle(), Catch::Contains(copies.refusal));
}

TEST_CASE("in_order keeps the order of indices, and places() names the samples of a batch") {
  const auto pipeline = synthetic_pipeline(1000, 16);
  for (const Dispatch dispatch : {Dispatch::batch, Dispatch::sample}) {
    LoaderOptions options = options_with(4, 30);
    options.dispatch = dispatch;
    Loader loader(*pipeline, options);
    loader.begin(2, 70);
    for (std::uint64_t number = 0; number < 70; ++number) {
      const auto batch = loader.next();
      REQUIRE(batch);
      CHECK(batch->number == number);
      const auto places = loader.places(number);
      for (std::size_t i = 0; i < places.size(); ++i) {
        std::uint64_t stamp[2];
        std::memcpy(stamp, batch->data.data() + 16 * i, sizeof(stamp));
        REQUIRE(stamp[0] == places[i].epoch);
        REQUIRE(stamp[1] == places[i].sample);
      }
    }
    CHECK_FALSE(loader.next());
  }
}

TEST_CASE("every sample of full batches occurs once per epoch") {
  const auto pipeline = synthetic_pipeline(997, 16);
  Loader loader(*pipeline, options_with(3, 10));
  loader.begin(0, 99);
  std::vector<std::int64_t> seen;
  while (const auto batch = loader.next())
    seen.insert(seen.end(), batch->labels.begin(), batch->labels.end());
  std::ranges::sort(seen);
  CHECK(seen.size() == 990);
  CHECK(std::ranges::adjacent_find(seen) == seen.end());
}

/// Counts how far ahead of the consumer batches are begun, and fails at one sample.
class CountingPipeline final : public Pipeline {
 public:
  mutable std::atomic<int> made{0};
  std::uint64_t bad = ~std::uint64_t{0};

  CountingPipeline() : Pipeline("sample", 1, {100, {}}) {}
  std::size_t sample_bytes() const override { return 16; }
  double touched_bytes() const override { return 16; }
  std::vector<std::filesystem::path> files() const override { return {}; }
  std::unique_ptr<PipelineWorker> worker() const override {
    return std::make_unique<Worker>(*this);
  }

 private:
  class Worker final : public PipelineWorker {
   public:
    explicit Worker(const CountingPipeline& pipeline) : pipeline_(pipeline) {}
    void make(std::uint64_t, std::span<const std::uint64_t> samples, BatchPart,
              StageClock&) override {
      for (const std::uint64_t sample : samples)
        if (sample == pipeline_.bad) throw Error(ErrorKind::input, "sample 37 is damaged");
      ++pipeline_.made;
    }
    void fetch(std::uint64_t, std::span<const std::uint64_t>, StageClock&) override {}

   private:
    const CountingPipeline& pipeline_;
  };
};

TEST_CASE("workers are at most prefetch_factor batches each ahead of the consumer") {
  CountingPipeline pipeline;
  LoaderOptions options = options_with(2, 1);
  options.prefetch_factor = 3;
  Loader loader(pipeline, options);
  loader.begin(0, 100);
  for (int taken = 1; taken <= 20; ++taken) {
    REQUIRE(loader.next());
    CHECK(pipeline.made <= taken + 2 * 3);
  }
}

TEST_CASE("an exception of a worker is thrown when its batch is taken, and only then") {
  CountingPipeline pipeline;
  pipeline.bad = 37;
  for (const int workers : {0, 2}) {
    LoaderOptions options = options_with(workers, 1);
    options.shuffle = false;
    Loader loader(pipeline, options);
    loader.begin(0, 100);
    for (int i = 0; i < 37; ++i) REQUIRE(loader.next());
    CHECK_THROWS_WITH(loader.next(), "sample 37 is damaged");
  }
}

TEST_CASE("a pass can be abandoned and restarted, with persistent and with new workers") {
  const auto pipeline = synthetic_pipeline(200, 16);
  for (const bool persistent : {false, true}) {
    LoaderOptions options = options_with(2, 7);
    options.persistent_workers = persistent;
    Loader loader(*pipeline, options);
    const auto first = all_batches(loader, 40);
    loader.begin(0, 1'000'000);
    for (int i = 0; i < 5; ++i) REQUIRE(loader.next());
    CHECK((all_batches(loader, 40) == first));
  }
}

TEST_CASE("a data set smaller than a batch is refused, with both sizes") {
  const auto pipeline = synthetic_pipeline(10, 16);
  CHECK_THROWS_WITH(Loader(*pipeline, options_with(0, 11)),
                    "batch_size 11 exceeds the data set of 10 samples");
}

TEST_CASE("another seed or epoch gives other samples") {
  const auto pipeline = synthetic_pipeline(1000, 16);
  LoaderOptions options = options_with(0, 100);
  Loader loader(*pipeline, options);
  options.seed = 6;
  Loader other(*pipeline, options);
  const auto batches = all_batches(loader, 11);
  CHECK((batches[0].data != all_batches(other, 11)[0].data));
  CHECK((batches[0].labels != batches[10].labels));
}

}  // namespace
}  // namespace bench::data
