// What benchctl train asks for.
#include "runner/plan/train_suite.h"

#include <set>

#include "core/error.h"
#include "core/schema.h"
#include "tests/support/catch.h"

using namespace bench;
using Catch::Matchers::Contains;

namespace {

ProbeCatalogue training_catalogue() {
  return ProbeCatalogue({probe_entry(Json::parse(R"({
    "title": "training", "description": "Trains.", "devices": ["host"],
    "metrics": {"items_per_second": {"unit": "count", "better": "higher"}},
    "type": "object", "additionalProperties": false,
    "properties": {
      "workload": {"type": "string", "enum": ["llm", "moe"], "default": "llm"},
      "preset": {"type": "string", "default": "tiny"},
      "steps": {"type": "integer", "default": 0},
      "lanes": {"type": "integer", "default": 0},
      "batch": {"type": "integer", "maximum": 2048, "default": 0},
      "sample_budget": {"type": "integer", "default": 0},
      "largest_batch": {"type": "boolean", "default": false},
      "vocabulary": {"type": "integer", "default": 0},
      "tp": {"type": "integer", "default": 1},
      "cp": {"type": "integer", "default": 1},
      "ep": {"type": "integer", "default": 1},
      "vp": {"type": "integer", "default": 1},
      "pipeline_schedule": {"type": "string", "default": "1f1b"},
      "pp": {"type": "integer", "default": 1},
      "sequence_parallel": {"type": "boolean", "default": false},
      "zero": {"type": "integer", "default": 0},
      "exchange": {"type": "string", "default": "full"},
      "offload": {"type": ["string", "null"], "default": null},
      "topk_share": {"type": "number", "default": 0.01},
      "target": {"type": ["number", "null"], "default": null},
      "dtype": {"type": "string", "default": "f32"},
      "seed": {"type": "integer", "minimum": 0, "default": 0}}})"),
                                     "training.json"),
                         probe_entry(Json::parse(R"({
    "title": "gemm", "description": "Multiplies.", "devices": ["host"],
    "metrics": {"throughput": {"unit": "FLOP/s", "better": "higher"}},
    "type": "object", "additionalProperties": false,
    "properties": {
      "dtypes": {"type": "array", "default": ["f32"]},
      "shapes": {"type": "array", "default": []},
      "threads": {"type": "array", "default": [1, 0]}}})"),
                                     "gemm.json")});
}

Suite train_suite_of(const TrainRequest& request) {
  return suite_from_text(dump(train_suite(request)), "train", training_catalogue());
}

Plan train_plan_of(const TrainRequest& request, int hosts = 1, bool gemm = false) {
  Inventory inventory;
  for (int i = 1; i <= hosts; ++i) {
    Host host;
    host.name = "node" + std::to_string(i);
    host.slots = 4;
    inventory.hosts.push_back(host);
  }
  Plan plan = make_plan(train_suite_of(request), inventory, training_catalogue(), {});
  if (gemm) return plan;
  std::erase_if(plan.entries, [](const PlanEntry& entry) { return entry.job.probe == "gemm"; });
  return plan;
}

}  // namespace

TEST_CASE("each seed of a training has its own job with the given parameters") {
  const Plan plan =
      train_plan_of({.workload = "llm", .seeds = {3, 5}, .vocabulary = 65, .target = 0.2});
  REQUIRE(plan.entries.size() == 2);
  CHECK(plan.suite.name == "train-llm-tiny");
  const Json& params = plan.entries[1].job.params;
  CHECK(params["seed"] == 5);
  CHECK(params["target"] == 0.2);
  CHECK(params["vocabulary"] == 65);
  CHECK(params["steps"] == 0);
  CHECK(plan.entries[0].job.ranks == 1);
  CHECK(plan.entries[0].job.telemetry.enabled);
  CHECK(params["offload"].is_null());
  CHECK(train_plan_of({.workload = "llm", .offload = "/d"}).entries[0].job.params["offload"] ==
        "/d");
}

TEST_CASE("products are measured on the threads of a rank, before it trains") {
  CHECK(train_plan_of({.workload = "llm"}, 1, true).entries[0].job.params["threads"] == Json{0});
  TrainRequest several{.workload = "llm", .ranks = {2}};
  CHECK(train_plan_of(several, 1, true).entries[0].job.probe == "training");
  several.lanes = 2;
  CHECK(train_plan_of(several, 1, true).entries[0].job.params["threads"] == Json{2});
}

TEST_CASE(
    "on GPUs larger transformers and networks of images train in bf16, and products are as large "
    "as a GPU "
    "wants") {
  const auto asked = [](const std::string& preset, const std::string& dtype,
                        const std::string& workload = "llm") {
    const Json suite = train_suite(
        {.workload = workload, .preset = preset, .device = "cuda", .seeds = {1}, .dtype = dtype});
    return std::pair(suite["cases"][0]["params"], suite["cases"][1]["params"]);
  };
  const auto [products, training] = asked("small", "");
  CHECK(training["dtype"] == "bf16");
  CHECK(products["dtypes"] == Json{"bf16"});
  CHECK(products["shapes"] == Json{{8192, 8192, 8192}});
  CHECK(products["candidates"] == 32);
  CHECK(asked("small", "f16").second["dtype"] == "f16");
  CHECK_FALSE(asked("tiny", "").second.contains("dtype"));
  CHECK(asked("flux", "", "flow").second["dtype"] == "bf16");
  CHECK(asked("small", "", "grpo").second["dtype"] == "bf16");
  CHECK(asked("dlrm_v4", "", "hstu").second["dtype"] == "bf16");
  CHECK(asked("igbh", "", "rgat").second["dtype"] == "bf16");
  CHECK(asked("retinanet", "", "detect").second["dtype"] == "bf16");
  CHECK(asked("resnet50", "", "image").second["dtype"] == "bf16");
  CHECK_FALSE(asked("tiny_vit", "", "image").second.contains("dtype"));
  CHECK_FALSE(asked("small", "", "dlrm").second.contains("dtype"));
}

TEST_CASE("hosts of a file train together") {
  const Plan plan = train_plan_of({.workload = "llm", .ranks = {2}, .hosts = true}, 3);
  REQUIRE(plan.entries.size() == 1);
  CHECK(plan.entries[0].job.hosts.size() == 3);
  CHECK(plan.entries[0].job.ranks == 6);
  CHECK(plan.entries[0].job.binding == "share");
}

TEST_CASE("strong scaling keeps the global batch, weak scaling the batch per rank") {
  TrainRequest request{.workload = "llm", .ranks = {1, 2, 4}, .scaling = ScalingKind::strong};
  request.batch = 32;
  Plan plan = train_plan_of(request);
  REQUIRE(plan.entries.size() == 3);
  CHECK(plan.entries[2].job.ranks == 4);
  CHECK(plan.entries[2].job.params["batch"] == 32);
  fix_batch_of_rank(plan, 32, training_catalogue());
  CHECK(plan.entries[2].job.params["batch"] == 128);
  CHECK(plan.entries[0].job.params["batch"] == 32);
  CHECK_THROWS_WITH(fix_batch_of_rank(plan, 1000, training_catalogue()),
                    Contains("--batch 1000") && Contains("4 ranks"));
}

TEST_CASE("lanes of a scaling over ranks divide batches that are powers of two") {
  CHECK(lanes_of_scaling(8, {1, 2, 4}) == 2);
  CHECK(lanes_of_scaling(6, {1, 2}) == 2);
  CHECK(lanes_of_scaling(96, {2, 1}) == 32);
  CHECK(lanes_of_scaling(7, {1}) == 4);
  CHECK(lanes_of_scaling(2, {1, 4}) == 1);
}

TEST_CASE("a scaling over hosts climbs 1, 2 and all of them") {
  const Plan plan =
      train_plan_of({.workload = "llm", .hosts = true, .scaling = ScalingKind::strong}, 3);
  REQUIRE(plan.entries.size() == 3);
  CHECK(plan.entries[0].job.ranks == 1);
  CHECK(plan.entries[2].job.ranks == 3);
}

TEST_CASE("several batches train on as many samples, each with its own job") {
  TrainRequest request{.workload = "llm", .seeds = {1, 2}};
  request.batches = {16, 32, 64};
  const Plan plan = train_plan_of(request);
  REQUIRE(plan.entries.size() == 6);
  std::set<std::int64_t> batches;
  for (const PlanEntry& entry : plan.entries) {
    batches.insert(entry.job.params["batch"].get<std::int64_t>());
    CHECK(entry.job.params["sample_budget"] == 3200);
  }
  CHECK(batches == std::set<std::int64_t>{16, 32, 64});
  CHECK(samples_of_ladder({16, 24, 40}) == 2160);  // 240 divides by all of them
  CHECK(samples_of_ladder({100, 99}) == 9900);
  CHECK(samples_of_ladder({9973, 9967}) == 50 * 9973);
  request.samples = 1000;
  CHECK(train_plan_of(request).entries[0].job.params["sample_budget"] == 1000);
}

TEST_CASE("the largest batch is trained for few steps, or as many as asked for") {
  TrainRequest request{.workload = "llm", .largest_batch = true};
  CHECK(train_plan_of(request).entries[0].job.params["largest_batch"] == true);
  CHECK(train_plan_of(request).entries[0].job.params["steps"] == 5);
  request.steps = 2;
  CHECK(train_plan_of(request).entries[0].job.params["steps"] == 2);
}

TEST_CASE("options that contradict several batches are refused") {
  const auto refusal = [](auto&& change) {
    TrainRequest request{.workload = "llm"};
    request.batches = {16, 32};
    change(request);
    try {
      train_suite(request);
    } catch (const Error& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  CHECK(refusal([](TrainRequest&) {}).empty());
  CHECK_THAT(refusal([](TrainRequest& r) { r.batch = 8; }), Contains("--batches and --batch"));
  CHECK_THAT(refusal([](TrainRequest& r) { r.steps = 8; }), Contains("--batches and --steps"));
  CHECK_THAT(refusal([](TrainRequest& r) { r.target = 0.1; }), Contains("no target"));
  CHECK_THAT(refusal([](TrainRequest& r) { r.largest_batch = true; }), Contains("--largest-batch"));
  CHECK_THAT(refusal([](TrainRequest& r) { r.samples = 31; }), Contains("below the largest"));
  CHECK_THAT(refusal([](TrainRequest& r) { r.batches = {16}; }), Contains("only one"));
  CHECK_THAT(refusal([](TrainRequest& r) { r.batches = {16, 16}; }), Contains("listed twice"));
  CHECK_THAT(refusal([](TrainRequest& r) {
               r.ranks = {1, 2};
               r.scaling = ScalingKind::strong;
             }),
             Contains("--scaling"));
  CHECK_THAT(refusal([](TrainRequest& r) {
               r.batches = {};
               r.samples = 100;
             }),
             Contains("--samples needs --batches"));
}

TEST_CASE("inconsistent options are refused with advice") {
  const TrainRequest llm{.workload = "llm"};
  TrainRequest request = llm;
  request.ranks = {1, 2};
  CHECK_THROWS_WITH(train_suite(request), Contains("require --scaling"));
  request = llm;
  request.scaling = ScalingKind::strong;
  CHECK_THROWS_WITH(train_suite(request), Contains("--scaling"));
  request.ranks = {1, 2};
  request.scaling = ScalingKind::weak;
  CHECK_THROWS_WITH(train_suite(request), Contains("weak"));
  request = llm;
  request.seeds = {4, 2, 4};
  CHECK_THROWS_WITH(train_suite(request), Contains("4 is listed twice"));
  request.seeds = {};
  CHECK_THROWS_WITH(train_suite(request), Contains("no seed"));
  request.seeds = {0};
  CHECK_THROWS_WITH(train_suite(request), Contains("seed 0"));
}

TEST_CASE("an unknown workload is refused by the probe's schema, however it is spelt") {
  CHECK_THROWS_WITH(train_suite_of({.workload = "Chess & Go"}), Contains("Chess & Go"));
  CHECK_THROWS_WITH(train_suite_of({.workload = "lm"}), Contains("llm"));
}

TEST_CASE("lists of numbers are parsed completely, or refused with option and word") {
  CHECK(numbers_from("1,2,40", "--ranks", 1, 64) == std::vector<std::uint64_t>{1, 2, 40});
  for (const char* bad : {"", "1,", ",1", "1;2", "0", "65", "-1", "1.5", "99999999999999999999"})
    CHECK_THROWS_WITH(numbers_from(bad, "--ranks", 1, 64), Contains("--ranks"));
}

TEST_CASE("a split is read from its degrees, and becomes parameters of the training") {
  const SplitRequest split = split_from("pp=2,tp=4,sp=1,zero=1,cp=2");
  CHECK(split.tp == 4);
  CHECK(split.cp == 2);
  CHECK(split.pp == 2);
  CHECK_FALSE(split.dp.has_value());
  TrainRequest request{.workload = "llm", .ranks = {16}};
  request.split = split;
  const Json params = train_plan_of(request).entries.front().job.params;
  CHECK(params.at("tp") == 4);
  CHECK(params.at("cp") == 2);
  CHECK(params.at("pp") == 2);
  CHECK(params.at("sequence_parallel") == true);
  CHECK(params.at("zero") == 1);
  CHECK(params.at("vp") == 1);
  const auto params_of = [&](const char* text) {
    request.split = split_from(text);
    return train_plan_of(request).entries.front().job.params;
  };
  CHECK(params_of("pp=2,vp=4").at("vp") == 4);
  CHECK(params_of("pp=2,zb=1").at("pipeline_schedule") == "zero_bubble");
  CHECK(split_from("ep=4").ranks() == 4);
  CHECK(split_from("ep=2,dp=6").ranks() == 6);
  request.workload = "moe";
  CHECK(params_of("ep=4").at("ep") == 4);
}

TEST_CASE("a split that makes no sense is refused with what to write instead") {
  for (const auto& [text, words] :
       {std::pair{"tp", "'tp'"}, std::pair{"tp=0", "'tp=0'"}, std::pair{"tp=x", "'tp=x'"},
        std::pair{"tp=2,tp=2", "tp is listed twice"}, std::pair{"xp=2", "unknown key 'xp'"},
        std::pair{"ep=0", "'ep=0'"}, std::pair{"ep=2,zero=1", "ep and zero"},
        std::pair{"ep=2,dp=3", "dp=3 is no multiple of ep=2"}, std::pair{"pp=2,zb=2", "'zb=2'"},
        std::pair{"vp=2", "vp without pp"}, std::pair{"tp=2,zb=1", "zb without pp"},
        std::pair{"pp=2,vp=2,zb=1", "vp and zb"}, std::pair{"pp=2,zb=1,zero=2", "zb and zero=2"},
        std::pair{"zero=4", "'zero=4'"}, std::pair{"sp=1", "sp without tp"},
        std::pair{"", "unknown key ''"}})
    CHECK_THROWS_WITH(split_from(text), Contains(words));
  TrainRequest request{.workload = "llm", .ranks = {6}};
  request.split = split_from("tp=2,pp=2");
  CHECK_THROWS_WITH(train_suite(request), Contains("6 ranks are no multiple of tp x cp x pp = 4"));
  request.ranks = {8};
  request.split.dp = 1;
  CHECK_THROWS_WITH(train_suite(request), Contains("tp x cp x pp x dp = 4, but there are 8 ranks"));
  CHECK_THROWS_WITH(check_ranks_of_split(split_from("tp=2,zero=1"), 2),
                    Contains("zero needs several copies"));
  CHECK_NOTHROW(check_ranks_of_split(split_from("tp=2,zero=1"), 4));
  CHECK_THROWS_WITH(split_from("tp=1024,pp=1024,dp=65536"), Contains("68719476736 ranks"));
  CHECK_THROWS_WITH(check_ranks_of_split(split_from("ep=4"), 2),
                    Contains("2 copies are no multiple of ep = 4"));
  request.split.dp = 2;
  request.lanes = 2;
  CHECK_THROWS_WITH(train_suite(request), Contains("--split and --lanes 2"));
  request.lanes.reset();
  for (const auto& [change, words] :
       {std::pair<void (*)(TrainRequest&), const char*>{
            [](TrainRequest& r) { r.workload = "dlrm"; }, "the model of dlrm cannot be divided"},
        {[](TrainRequest& r) { r.workload = "moe"; }, "the model of moe can be divided by ep only"},
        {[](TrainRequest& r) { r.split = split_from("ep=2"); }, "llm has no experts"},
        {[](TrainRequest& r) { r.device = "cuda"; }, "on CPUs only"},
        {[](TrainRequest& r) { r.largest_batch = true; }, "--split and --largest-batch"}}) {
    TrainRequest other = request;
    change(other);
    CHECK_THROWS_WITH(train_suite(other), Contains(words));
  }
}

TEST_CASE("an exchange is refused with what it cannot be combined with") {
  TrainRequest request{.workload = "llm", .ranks = {2}};
  request.exchange = exchange_from("topk=0.02");
  CHECK(train_plan_of(request).entries.front().job.params.at("topk_share") == 0.02);
  for (const auto& [change, words] :
       {std::pair<void (*)(TrainRequest&), const char*>{[](TrainRequest& r) { r.ranks.clear(); },
                                                        "one rank has nothing to exchange"},
        {[](TrainRequest& r) { r.ranks = {1}; }, "one rank has nothing to exchange"},
        {[](TrainRequest& r) { r.split = split_from("tp=2"); }, "needs whole models"},
        {[](TrainRequest& r) { r.split = split_from("zero=1,dp=2"); }, "needs whole models"},
        {[](TrainRequest& r) { r.device = "cuda"; }, "works on CPUs only"},
        {[](TrainRequest& r) { r.dtype = "bf16"; }, "--exchange topk and --dtype bf16"}}) {
    TrainRequest other = request;
    change(other);
    CHECK_THROWS_WITH(train_suite(other), Contains(words));
  }
}
