#include "runner/plan/train_suite.h"

#include <algorithm>
#include <bit>
#include <iterator>
#include <numeric>
#include <set>

#include "core/error.h"
#include "core/text.h"
#include "runner/plan/suite_check.h"

namespace bench {
namespace {

constexpr double kTelemetryPeriod = 0.5;
// GEMM sizes large enough for peak throughput on a core and on a GPU, and algorithms to try on a
// GPU.
constexpr int kGemmSize = 1024, kGemmSizeOnGpu = 8192, kCandidatesOnGpu = 32;
constexpr std::size_t kMostNumbers = 10'000;
constexpr int kStepsOfLargest = 5;  // the largest batch of a small model takes long
constexpr std::int64_t kLadderSteps = 50;
constexpr int kMostOfSplit = 1024;  // the probe's limit
constexpr int kMostRanks = 65536;

Error no_number(const std::string& option, const std::string& word, std::uint64_t low,
                std::uint64_t high) {
  return {ErrorKind::usage, option + ": not a number: '" + word + "'",
          "whole numbers from " + std::to_string(low) + " to " + std::to_string(high) +
              ", separated by commas"};
}

void refuse_request(const std::string& what, const std::string& hint) {
  throw Error(ErrorKind::usage, what, hint);
}

void check_batches(const TrainRequest& request) {
  if (request.samples && request.batches.empty())
    refuse_request("--samples needs --batches", "add for example --batches 16,32,64");
  if (!request.largest_batch && request.batches.empty()) return;
  const std::string option = request.largest_batch ? "--largest-batch" : "--batches";
  if (request.largest_batch && !request.batches.empty())
    refuse_request("--largest-batch and --batches", "ask for one of them");
  if (request.batch) refuse_request(option + " and --batch", "remove --batch");
  if (request.scaling != ScalingKind::none)
    refuse_request(option + " and --scaling", "remove --scaling");
  if (request.target) refuse_request(option + " trains to no target", "remove --target");
  if (!request.batches.empty() && request.steps)
    refuse_request("--batches and --steps", "use --samples: all batches train on as many samples");
  if (request.samples && *request.samples < std::ranges::max(request.batches))
    refuse_request("--samples " + std::to_string(*request.samples) + " is below the largest batch",
                   "use at least " + std::to_string(std::ranges::max(request.batches)));
  if (request.batches.size() == 1)
    refuse_request("--batches: only one", "use --batch, or name several");
  if (std::set(request.batches.begin(), request.batches.end()).size() != request.batches.size())
    refuse_request("--batches: one is listed twice", "list each once");
}

void check_split(const TrainRequest& request) {
  const SplitRequest& split = request.split;
  if (split.divides_model()) {
    if (request.lanes.value_or(1) > 1)
      refuse_request("--split and --lanes " + std::to_string(*request.lanes),
                     "remove --lanes: a part of a model trains in one thread");
    const bool has_experts = request.workload == "moe";
    if (has_experts && (split.ranks_of_copy() > 1 || split.zero > 1))
      refuse_request("--split: the model of moe can be divided by ep only",
                     "use ep, zero=1 or dp, or train llm");
    if (!has_experts && request.workload != "llm")
      refuse_request("--split: the model of " + request.workload + " cannot be divided",
                     "use zero=1 or dp alone, or train llm");
    if (split.ep > 1 && !has_experts)
      refuse_request("--split: " + request.workload + " has no experts", "remove ep, or train moe");
    if (request.device != "host")
      refuse_request("--split: models are divided over ranks on CPUs only",
                     "use zero=1 or dp alone, or --device host");
    if (request.largest_batch)
      refuse_request("--split and --largest-batch", "the largest batch is that of a whole model");
  }
  if (request.hosts) return;  // the plan knows how many ranks there are
  for (const int ranks : request.ranks) check_ranks_of_split(split, ranks);
}

void check_exchange(const TrainRequest& request) {
  const ExchangeRequest& exchange = request.exchange;
  if (exchange.is_full()) return;
  const std::string option = "--exchange " + exchange.kind;
  if (request.split.divides_model() || request.split.zero > 0)
    refuse_request(option + " needs whole models with an optimizer each",
                   "remove tp, cp, pp, ep and zero from --split");
  if (request.device != "host")
    refuse_request(option + " works on CPUs only", "use --device host, or remove --exchange");
  if (request.dtype == "bf16" || request.dtype == "f16")
    refuse_request(option + " and --dtype " + request.dtype, "use --dtype f32");
  if (request.hosts) return;  // the plan knows how many ranks there are
  if (request.ranks.empty()) check_ranks_of_exchange(exchange, 1);
  for (const int ranks : request.ranks) check_ranks_of_exchange(exchange, ranks);
}

void check(const TrainRequest& request) {
  if (request.seeds.empty()) refuse_request("no seeds", "use --runs N or --seeds A,B");
  if (std::ranges::find(request.seeds, 0U) != request.seeds.end())
    refuse_request("--seeds: seed 0 is reserved for the default seed", "use seeds from 1");
  auto seeds = request.seeds;
  std::ranges::sort(seeds);
  if (const auto twice = std::ranges::adjacent_find(seeds); twice != seeds.end())
    refuse_request("--seeds: " + std::to_string(*twice) + " is listed twice",
                   "use different seeds: equal seeds repeat the same training");
  const bool scales = request.scaling != ScalingKind::none;
  if (request.ranks.size() > 1 && !scales)
    refuse_request("--ranks: several values require --scaling",
                   "add --scaling strong or --scaling weak");
  if (scales && request.ranks.size() < 2 && !request.hosts)
    refuse_request("--scaling needs several numbers of ranks", "add for example --ranks 1,2,4");
  if (request.scaling == ScalingKind::weak && !request.batch)
    refuse_request("--scaling weak needs the batch size per rank", "add --batch N");
  if (request.profile && request.device != "host")
    refuse_request("--profile records steps on CPUs only",
                   "use --device host, or remove --profile");
  const bool several = scales || !request.batches.empty();
  if (!request.export_to.empty() && several)
    refuse_request("--export: trainings with several numbers of ranks or batches",
                   "export the weights of a training with one of them");
  if (!request.export_to.empty() && request.workload != "llm" && request.workload != "grpo")
    refuse_request("--export: weights of " + request.workload + " cannot be exported",
                   "train llm or grpo");
  if (!request.export_to.empty() && request.split.divides_model())
    refuse_request("--export and --split: weights of a divided model cannot be exported",
                   "remove tp, cp, pp, ep and zero above 1");
  check_batches(request);
  check_split(request);
  check_exchange(request);
}

/// Prefix of the run ID; the probe's schema checks the workload name later.
std::string suite_name(const TrainRequest& request) {
  const std::string name = "train-" + request.workload + "-" + request.preset;
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  return name.find_first_not_of(kAllowed) == std::string::npos && name.size() <= 100 ? name
                                                                                     : "train";
}

/// Larger transformers and networks of images are not trained in f32 on GPUs; "" leaves it to the
/// probe.
std::string dtype_of(const TrainRequest& request) {
  if (!request.dtype.empty() || request.device == "host") return request.dtype;
  const std::string& name = request.workload;
  constexpr std::string_view kNarrow[] = {"llm",    "lora",  "hstu", "flow",
                                          "detect", "image", "rgat", "grpo"};
  const bool narrow = std::ranges::find(kNarrow, name) != std::end(kNarrow);
  const bool small = request.preset.starts_with("tiny") || request.preset == "deep";
  return narrow && !small ? "bf16" : "";
}

/// Trainings that differ in more than this would overwrite each other's weights.
std::string export_folder(const TrainRequest& request) {
  const bool named = request.export_to.find("{seed}") != std::string::npos;
  return named || request.seeds.size() == 1 ? request.export_to
                                            : request.export_to + "/seed-{seed}";
}

Json params_of(const TrainRequest& request) {
  Json params = {{"workload", request.workload}, {"preset", request.preset}};
  const auto put = [&](const char* name, const auto& value) {
    if (value) params[name] = *value;
  };
  put("steps", request.steps);
  put("lanes", request.lanes);
  put("target", request.target);
  put("batch", request.batch);
  if (request.largest_batch) params["largest_batch"] = true;
  if (request.largest_batch && !request.steps) params["steps"] = kStepsOfLargest;
  if (!request.batches.empty())
    params["sample_budget"] = request.samples.value_or(samples_of_ladder(request.batches));
  put("vocabulary", request.vocabulary);
  if (request.profile) params["profile"] = true;
  if (request.split.tp > 1) params["tp"] = request.split.tp;
  if (request.split.cp > 1) params["cp"] = request.split.cp;
  if (request.split.ep > 1) params["ep"] = request.split.ep;
  if (request.split.pp > 1) params["pp"] = request.split.pp;
  if (request.split.vp > 1) params["vp"] = request.split.vp;
  if (request.split.zb) params["pipeline_schedule"] = "zero_bubble";
  if (request.split.sp) params["sequence_parallel"] = true;
  if (request.split.zero > 0) params["zero"] = request.split.zero;
  add_exchange(request.exchange, params);
  const std::string dtype = dtype_of(request);
  for (const auto& [name, word] : {std::pair{"dtype", &dtype}, std::pair{"data", &request.data},
                                   std::pair{"evaluation_data", &request.evaluation_data}})
    if (!word->empty()) params[name] = *word;
  if (!request.offload.empty()) params["offload"] = request.offload;
  if (!request.export_to.empty()) params["export"] = export_folder(request);
  return params;
}

/// The GEMM case for MFU: one rank with its number of threads. Empty if several ranks share a host
/// with unspecified threads.
std::optional<Json> gemm_case(const TrainRequest& request) {
  const bool alone = request.ranks.empty() || request.ranks == std::vector<int>{1};
  if (request.device == "host" && !request.lanes && !alone) return {};
  const std::string dtype = dtype_of(request);
  const int size = request.device == "host" ? kGemmSize : kGemmSizeOnGpu;
  Json params = {{"dtypes", {dtype.empty() ? "f32" : dtype}},
                 {"shapes", {{size, size, size}}},
                 {"threads", {request.lanes.value_or(0)}}};
  if (request.device != "host") params["candidates"] = kCandidatesOnGpu;
  return Json{{"name", "gemm"}, {"probe", "gemm"}, {"device", request.device}, {"params", params}};
}

Json case_of(const TrainRequest& request, const std::string& name, int ranks) {
  Json axes = {{"seed", request.seeds}};
  if (!request.batches.empty()) axes["batch"] = request.batches;
  const bool ladder = request.hosts && request.scaling != ScalingKind::none;
  return {{"name", name},
          {"probe", "training"},
          {"device", request.device},
          {"params", params_of(request)},
          {"axes", std::move(axes)},
          {"scope", ladder          ? "ladder"
                    : request.hosts ? "all"
                                    : "host"},
          {"ranks_per_host", ranks},
          {"binding", "share"},
          {"timeout_s", request.timeout_s}};
}

}  // namespace

std::vector<std::uint64_t> numbers_from(const std::string& text, const std::string& option,
                                        std::uint64_t low, std::uint64_t high) {
  std::vector<std::uint64_t> numbers;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string word = text.substr(at, comma - at);
    const auto number = parse_as<std::uint64_t>(word);
    if (!number || *number < low || *number > high) throw no_number(option, word, low, high);
    numbers.push_back(*number);
    if (numbers.size() > kMostNumbers) throw no_number(option, text.substr(0, 40), low, high);
    at = comma + 1;
  }
  return numbers;
}

SplitRequest split_from(const std::string& text) {
  SplitRequest split;
  std::set<std::string> seen;
  for (std::size_t at = 0; at <= text.size();) {
    const std::size_t comma = std::min(text.find(',', at), text.size());
    const std::string item = text.substr(at, comma - at);
    at = comma + 1;
    const std::size_t equal = item.find('=');
    const std::string key = item.substr(0, equal);
    const auto number =
        equal == std::string::npos ? std::nullopt : parse_as<int>(item.substr(equal + 1));
    const auto value = [&](int low, int high) {
      if (!number || *number < low || *number > high)
        refuse_request(
            "--split: '" + item + "'",
            key + " is a whole number from " + std::to_string(low) + " to " + std::to_string(high));
      return *number;
    };
    if (!seen.insert(key).second)
      refuse_request("--split: " + key + " is listed twice", "list it once");
    if (key == "tp")
      split.tp = value(1, kMostOfSplit);
    else if (key == "cp")
      split.cp = value(1, kMostOfSplit);
    else if (key == "pp")
      split.pp = value(1, kMostOfSplit);
    else if (key == "vp")
      split.vp = value(1, kMostOfSplit);
    else if (key == "ep")
      split.ep = value(1, kMostOfSplit);
    else if (key == "zb")
      split.zb = value(0, 1) == 1;
    else if (key == "dp")
      split.dp = value(1, kMostRanks);
    else if (key == "sp")
      split.sp = value(0, 1) == 1;
    else if (key == "zero")
      split.zero = value(0, 3);
    else
      refuse_request("--split: unknown key '" + key + "'",
                     "use tp, sp, cp, pp, vp, zb, ep, dp and zero");
  }
  if (split.sp && split.tp == 1)
    refuse_request("--split: sp without tp", "add tp, whose ranks divide the rows");
  if (split.pp == 1 && (split.vp > 1 || split.zb))
    refuse_request(split.zb ? "--split: zb without pp" : "--split: vp without pp",
                   "add pp, the stages of a pipeline");
  if (split.vp > 1 && split.zb)
    refuse_request("--split: vp and zb", "remove one: zb has no order for several chunks");
  if (split.zb && split.zero > 1)
    refuse_request("--split: zb and zero=" + std::to_string(split.zero),
                   "use zero=1: the backward pass sums the gradients of zero 2 and 3");
  if (split.ep > 1 && split.zero > 0)
    refuse_request("--split: ep and zero",
                   "remove one: ranks with other experts share no optimizer");
  if (split.dp && *split.dp % split.ep != 0)
    refuse_request("--split: dp=" + std::to_string(*split.dp) + " is no multiple of ep=" +
                       std::to_string(split.ep) + ": ep of the dp copies divide the experts",
                   "use dp=" + std::to_string(split.ep) + ", or remove dp");
  if (const std::int64_t ranks =
          std::int64_t{split.tp} * split.cp * split.pp * std::int64_t{split.dp.value_or(split.ep)};
      ranks > kMostRanks)
    refuse_request("--split: " + std::to_string(ranks) + " ranks",
                   "use at most " + std::to_string(kMostRanks));
  return split;
}

void check_ranks_of_split(const SplitRequest& split, int ranks) {
  const int of_copy = split.ranks_of_copy();
  if (ranks % of_copy != 0)
    refuse_request("--split: " + std::to_string(ranks) +
                       " ranks are no multiple of tp x cp x pp = " + std::to_string(of_copy),
                   "use " + std::to_string(split.ranks()) + " ranks");
  const int copies = ranks / of_copy;
  if (split.dp && copies != *split.dp)
    refuse_request("--split: tp x cp x pp x dp = " + std::to_string(split.ranks()) +
                       ", but there are " + std::to_string(ranks) + " ranks",
                   "remove dp, or use as many ranks");
  if (copies % split.ep != 0)
    refuse_request("--split: " + std::to_string(copies) +
                       (copies == 1 ? " copy is" : " copies are") +
                       " no multiple of ep = " + std::to_string(split.ep),
                   "use " + std::to_string(split.ranks()) + " ranks");
  if (split.zero > 0 && copies * split.cp == 1)
    refuse_request("--split: zero needs several copies of the model to share",
                   "add dp=2 or cp=2, or more ranks");
}

int lanes_of_scaling(int slots, const std::vector<int>& ranks) {
  const int share = std::max(1, slots / std::ranges::max(ranks));
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(share)));
}

std::int64_t samples_of_ladder(const std::vector<std::int64_t>& batches) {
  const std::int64_t least = kLadderSteps * std::ranges::max(batches);
  std::int64_t common = 1;
  for (const std::int64_t batch : batches)
    if (common < 2 * least) common = std::lcm(common, batch);
  return common < 2 * least ? (least + common - 1) / common * common : least;
}

Json train_suite(const TrainRequest& request) {
  check(request);
  Json suite = {{"suite", suite_name(request)},
                {"description", "Train to a quality target, once for each seed."},
                {"cases", Json::array()}};
  if (request.telemetry)
    suite["telemetry"] = {{"enabled", true}, {"period_s", kTelemetryPeriod}, {"counters", true}};
  if (const auto products = gemm_case(request)) suite["cases"].push_back(*products);
  if (request.ranks.size() < 2) {
    const int ranks = request.ranks.empty() ? 1 : request.ranks.front();
    suite["cases"].push_back(case_of(request, "train", ranks));
  }
  for (std::size_t i = 0; request.ranks.size() > 1 && i < request.ranks.size(); ++i)
    suite["cases"].push_back(
        case_of(request, "ranks_" + std::to_string(request.ranks[i]), request.ranks[i]));
  return suite;
}

void fix_batch_of_rank(Plan& plan, std::int64_t batch, const ProbeCatalogue& catalogue) {
  for (PlanEntry& entry : plan.entries) {
    if (entry.job.probe != "training") continue;
    const Json of_all = batch * entry.job.ranks;
    check_param(*catalogue.find(entry.job.probe), "batch", of_all,
                "--batch " + std::to_string(batch),
                std::to_string(entry.job.ranks) + " ranks together");
    entry.job.params.own()["batch"] = of_all;
  }
}

}  // namespace bench
