#include "probes/traffic/step_schedule.h"

#include <map>
#include <set>

#include "core/error.h"
#include "tests/support/catch.h"

namespace bench {
using Catch::Matchers::Contains;
namespace {

/// Two layers of width 8 on sequences of 16 tokens.
StepSettings small_step() {
  StepSettings settings;
  settings.model = {.name = "small",
                    .layers = 2,
                    .width = 8,
                    .heads = 4,
                    .kv_heads = 4,
                    .head_dim = 2,
                    .hidden = 32,
                    .vocabulary = 64,
                    .sequence = 16};
  settings.micro_batch = 3;
  settings.micro_batches = 5;
  settings.overlap = false;
  return settings;
}

StepSettings with_experts(int ep, double skew) {
  StepSettings settings = small_step();
  settings.model.experts = 8;
  settings.model.active_experts = 2;
  settings.model.expert_hidden = 16;
  settings.split.expert = ep;
  settings.routing = ExpertRouting::drawn(8, skew, 1);
  return settings;
}

StepSchedule schedule_of(const StepSettings& settings, int rank, int ranks) {
  return make_step_schedule(settings, traffic_place(settings.split, rank, ranks));
}

struct Totals {
  std::int64_t calls = 0, elements = 0;
  bool operator==(const Totals&) const = default;
};

Totals totals(const StepSchedule& schedule, TrafficKind kind, TrafficGroup group) {
  Totals all;
  for (const TrafficOp& op : schedule.ops)
    if (op.kind == kind && op.group == group) {
      ++all.calls;
      all.elements += op.elements;
    }
  return all;
}

constexpr std::int64_t kTokens = 3 * 16, kWidth = 8, kLayers = 2, kMicroBatches = 5;

}  // namespace

TEST_CASE("ranks of a group pass one number, and groups of a kind cover all ranks once") {
  const TrafficSplit split{.tensor = 2, .pipeline = 2, .context = 2, .expert = 4};
  constexpr int kRanks = 32;
  for (const auto& [group, name] : kTrafficGroups.entries) {
    INFO(name);
    std::map<int, std::vector<int>> members;
    for (int rank = 0; rank < kRanks; ++rank) {
      const TrafficPlace place = traffic_place(split, rank, kRanks);
      auto& group_members = members[group_number(group, split, place)];
      CHECK(rank_in_group(group, split, place) == static_cast<int>(group_members.size()));
      group_members.push_back(rank);
    }
    for (const auto& [number, ranks] : members)
      CHECK(static_cast<int>(ranks.size()) ==
            group_size(group, split, traffic_place(split, ranks.front(), kRanks)));
  }
}

TEST_CASE("tensor parallelism takes four all-reduces of the activations for a layer") {
  StepSettings settings = small_step();
  settings.split.tensor = 2;
  const StepSchedule schedule = schedule_of(settings, 0, 2);
  // In addition the rows of the divided embedding, and the gradient of the divided head's input.
  const std::int64_t calls = (4 * kLayers + 2) * kMicroBatches;
  CHECK(totals(schedule, TrafficKind::sum, TrafficGroup::tensor) ==
        Totals{calls, calls * kTokens * kWidth});
  CHECK(totals(schedule, TrafficKind::gather, TrafficGroup::tensor) ==
        Totals{kMicroBatches, kMicroBatches * kTokens * 3});
  CHECK_FALSE(schedule.uses(TrafficGroup::data));
}

TEST_CASE("sequence parallelism takes a gather and a scattered sum in place of each all-reduce") {
  StepSettings settings = small_step();
  settings.split.tensor = 2;
  settings.split.sequence_parallel = true;
  const StepSchedule schedule = schedule_of(settings, 1, 2);
  // Of the layers, of the divided embedding and of the divided head.
  const std::int64_t pairs = (4 * kLayers + 2) * kMicroBatches, own = kTokens / 2 * kWidth;
  CHECK(totals(schedule, TrafficKind::scatter_sum, TrafficGroup::tensor) ==
        Totals{pairs, pairs * own});
  // In addition the loss's three numbers for each row.
  CHECK(totals(schedule, TrafficKind::gather, TrafficGroup::tensor) ==
        Totals{pairs + kMicroBatches, pairs * own + kMicroBatches * kTokens * 3});
  const std::int64_t norms = (2 * kLayers + 1) * kMicroBatches;
  CHECK(totals(schedule, TrafficKind::sum, TrafficGroup::tensor) == Totals{norms, norms * kWidth});
}

TEST_CASE("stages pass on activations and their gradients once for a micro-batch") {
  StepSettings settings = small_step();
  settings.split.pipeline = 2;
  const Totals each{kMicroBatches, kMicroBatches * kTokens * kWidth};
  for (const int rank : {0, 1})
    for (const TrafficKind kind : {TrafficKind::send, TrafficKind::receive})
      CHECK(totals(schedule_of(settings, rank, 2), kind, TrafficGroup::pipeline) == each);
}

TEST_CASE("copies exchange each gradient once, in buckets, and ZeRO as many bytes or half more") {
  StepSettings settings = small_step();
  settings.model.vocabulary = 16'384;
  settings.bucket_bytes = 1 << 17;
  settings.sums_by_library = true;  // without padding
  const std::int64_t parameters = 2 * 16'384 * 8 + kLayers * (8 * 24 + 8 * 8 + 3 * 8 * 32) +
                                  (2 * kLayers + 1) * 64;  // gains padded
  const Totals plain = totals(schedule_of(settings, 0, 2), TrafficKind::sum, TrafficGroup::data);
  CHECK(plain.elements == parameters);
  CHECK(plain.calls == (parameters + 32'767) / 32'768);
  settings.split.zero = 1;
  const StepSchedule sharded = schedule_of(settings, 0, 2);
  CHECK(totals(sharded, TrafficKind::sum, TrafficGroup::data).calls == 0);
  CHECK(totals(sharded, TrafficKind::scatter_sum, TrafficGroup::data) ==
        totals(sharded, TrafficKind::gather, TrafficGroup::data));
  // A gather for each pass and a scattered sum; the embedding is gathered once.
  settings.split.zero = 3;
  const StepSchedule fully = schedule_of(settings, 0, 2);
  const std::int64_t real = parameters - (2 * kLayers + 1) * (64 - 8);
  CHECK(2 * totals(fully, TrafficKind::scatter_sum, TrafficGroup::data).elements ==
        kMicroBatches * real);
  CHECK(2 * totals(fully, TrafficKind::gather, TrafficGroup::data).elements ==
        kMicroBatches * (2 * real - 16'384 * 8));
}

TEST_CASE("gradients may start as soon as their bucket is final, and only where nothing else is") {
  StepSettings settings = small_step();
  settings.model.vocabulary = 16'384;
  settings.bucket_bytes = 1 << 17;
  settings.overlap = true;
  const StepSchedule schedule = schedule_of(settings, 0, 2);
  CHECK(schedule.overlaps);
  std::set<int> ready;
  for (std::size_t i = 0; i < schedule.ops.size(); ++i) {
    const TrafficOp& op = schedule.ops[i];
    if (op.group != TrafficGroup::data || op.kind == TrafficKind::compute) continue;
    REQUIRE(op.ready >= 0);
    CHECK(op.ready < static_cast<int>(i));
    const TrafficOp& before = schedule.ops[static_cast<std::size_t>(op.ready)];
    CHECK(before.kind == TrafficKind::compute);
    CHECK(before.micro_batch == kMicroBatches - 1);
    ready.insert(op.ready);
  }
  CHECK(ready.size() > 1);
  settings.split.tensor = 2;
  CHECK_FALSE(schedule_of(settings, 0, 4).overlaps);
}

TEST_CASE("keys and values go around the ring of contexts, and their gradients come home") {
  StepSettings settings = small_step();
  settings.split.context = 4;
  const std::int64_t part = 3 * 16 / 4 * 2 * kWidth;
  // Forward and backward 3 passes each, and 4 of the gradients.
  const std::int64_t calls = (3 + 3 + 4) * kLayers * kMicroBatches;
  for (const TrafficKind kind : {TrafficKind::send, TrafficKind::receive})
    CHECK(totals(schedule_of(settings, 2, 4), kind, TrafficGroup::context) ==
          Totals{calls, calls * part});
  settings.context = ContextExchange::all_gather;
  const StepSchedule gathered = schedule_of(settings, 2, 4);
  const std::int64_t each = kLayers * kMicroBatches;
  CHECK(totals(gathered, TrafficKind::gather, TrafficGroup::context) ==
        Totals{2 * each, 2 * each * part});
  CHECK(totals(gathered, TrafficKind::scatter_sum, TrafficGroup::context) ==
        Totals{each, each * part});
}

TEST_CASE("what one rank sends to experts is what another expects") {
  const StepSettings settings = with_experts(4, 1.0);
  std::vector<StepSchedule> ranks;
  for (int rank = 0; rank < 4; ++rank) ranks.push_back(schedule_of(settings, rank, 4));
  std::int64_t calls = 0;
  for (std::size_t i = 0; i < ranks[0].ops.size(); ++i) {
    if (ranks[0].ops[i].kind != TrafficKind::all_to_all) continue;
    ++calls;
    std::int64_t sum = 0;
    for (std::size_t from = 0; from < 4; ++from) {
      std::int64_t before = 0;
      for (std::size_t to = 0; to < 4; ++to) {
        const TrafficOp &sends = ranks[from].ops[i], &receives = ranks[to].ops[i];
        REQUIRE(sends.to[to] == receives.from[from]);
        REQUIRE(receives.from_first[from] == before);
        before += sends.to[to];
      }
      sum += before;
    }
    CHECK(sum == 4 * kTokens * 2 * kWidth);  // every token, to two experts
  }
  CHECK(calls == 4 * kLayers * kMicroBatches);
  CHECK(ranks[0].imbalance > 1.2);
  CHECK(schedule_of(with_experts(4, 0.0), 0, 4).imbalance == Approx(1.0));
}

TEST_CASE("experts that are busier compute longer, and their gradients have a group of their own") {
  const StepSettings settings = with_experts(2, 1.5);
  const StepSchedule first = schedule_of(settings, 0, 4), second = schedule_of(settings, 1, 4);
  CHECK(first.flops(TrafficPass::forward) != second.flops(TrafficPass::forward));
  CHECK(first.uses(TrafficGroup::expert_data));
  CHECK(first.uses(TrafficGroup::data));
}

TEST_CASE("a step computes as many FLOPs as the model needs, divided over its ranks") {
  StepSettings settings = small_step();
  const double tokens = static_cast<double>(kTokens * kMicroBatches);
  // GEMMs, and half of the square of attention.
  const double forward =
      tokens * 2.0 * (kLayers * (8 * 24 + 8 * 8 + 3 * 8 * 32 + 2 * 8 * 8) + 8 * 64);
  const StepSchedule whole = schedule_of(settings, 0, 1);
  CHECK(whole.flops(TrafficPass::forward) == Approx(forward));
  CHECK(whole.flops(TrafficPass::backward) == Approx(2.0 * forward));
  settings.split.pipeline = 2;
  CHECK(schedule_of(settings, 0, 2).flops(TrafficPass::forward) +
            schedule_of(settings, 1, 2).flops(TrafficPass::forward) ==
        Approx(forward));
}

TEST_CASE("a split that the model does not allow is refused with what to use") {
  const auto refusal = [](const StepSettings& settings, int ranks) {
    try {
      schedule_of(settings, 0, ranks);
    } catch (const Error& error) {
      return error.text();
    }
    return std::string("not refused");
  };
  StepSettings settings = small_step();
  settings.split.tensor = 3;
  CHECK_THAT(refusal(settings, 4), Contains("4 ranks are not a multiple of tp 3"));
  CHECK_THAT(refusal(settings, 3), Contains("cannot be divided by tp 3"));
  settings = small_step();
  settings.split.pipeline = 4;
  CHECK_THAT(refusal(settings, 4), Contains("use a pp of at most 2"));
  settings = small_step();
  settings.split.expert = 2;
  CHECK_THAT(refusal(settings, 2), Contains("no experts for ep 2"));
  settings = with_experts(3, 0.0);
  CHECK_THAT(refusal(settings, 4), Contains("use an ep that divides dp x cp"));
  CHECK_THAT(refusal(settings, 3), Contains("8 experts cannot be divided by ep 3"));
  settings = small_step();
  settings.split.context = 3;
  CHECK_THAT(refusal(settings, 3), Contains("cannot be divided by cp 3"));
  settings = small_step();
  settings.model.hidden = 0;
  CHECK_THAT(refusal(settings, 2), Contains("no hidden columns"));
  settings = with_experts(2, 0.0);
  settings.model.expert_hidden = 0;
  CHECK_THAT(refusal(settings, 2), Contains("8 experts of model small have no hidden columns"));
  settings = small_step();
  settings.model.kv_heads = 3;
  CHECK_THAT(refusal(settings, 2), Contains("4 heads are not a multiple of 3 key-value heads"));
}

TEST_CASE("sizes beyond 64 bits and endless schedules are refused before they are built") {
  const auto refusal = [](const StepSettings& settings) {
    try {
      schedule_of(settings, 0, 2);
    } catch (const Error& error) {
      CHECK(error.kind() == ErrorKind::input);
      return error.text();
    }
    return std::string("not refused");
  };
  StepSettings settings = small_step();
  settings.micro_batch = 1 << 20;
  settings.model.sequence = 1 << 24;
  settings.model.width = 1 << 20;
  CHECK_THAT(refusal(settings), Contains("tensors of"));
  settings = with_experts(1, 0.0);
  settings.model.experts = 1 << 16;
  settings.model.expert_hidden = 1 << 22;
  settings.model.layers = 4096;
  CHECK_THAT(refusal(settings), Contains("tensors of"));
  settings = small_step();
  settings.model.layers = 4096;
  settings.micro_batches = 4096;
  CHECK_THAT(refusal(settings), Contains("operations"));
  settings.micro_batches = 256;
  CHECK_THAT(refusal(settings), Contains("more than 4194304 operations"));
  settings = small_step();
  settings.model.vocabulary = 1 << 24;
  settings.model.width = 1 << 20;
  settings.bucket_bytes = 1024;
  CHECK_THAT(refusal(settings), Contains("more than 4194304 operations"));
}

TEST_CASE("models are known by name, and have as many parameters as published") {
  for (const char* name : {"llama3-8b", "llama3-70b", "mixtral-8x7b", "gpt2-124m"}) {
    INFO(name);
    const TrafficModel model = named_traffic_model(name);
    double parameters = 0.0;
    const auto add = [&](const std::vector<TrafficTensor>& tensors) {
      for (const TrafficTensor& tensor : tensors)
        parameters += static_cast<double>(tensor.elements);
    };
    add(embedding_tensors(model, {}));
    for (std::int64_t layer = 0; layer < model.layers; ++layer) {
      add(attention_tensors(model, {}));
      add(feed_forward_tensors(model, layer, {}));
      add(expert_tensors(model, layer, {}));
    }
    add(head_tensors(model, {}));
    CHECK(parameters == model_shape(name).parameters());
  }
  CHECK_THROWS_WITH(named_traffic_model("deepseek-v3"), Contains("latent attention"));
  CHECK_THROWS_WITH(named_traffic_model("llama3-8c"), Contains("Did you mean 'llama3-8b'"));
}

}  // namespace bench
