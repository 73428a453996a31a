#include "runner/plan/train_suite.h"

#include <algorithm>
#include <bit>

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

Error no_number(const std::string& option, const std::string& word, std::uint64_t low,
                std::uint64_t high) {
  return {ErrorKind::usage, option + ": not a number: '" + word + "'",
          "whole numbers from " + std::to_string(low) + " to " + std::to_string(high) +
              ", separated by commas"};
}

void check(const TrainRequest& request) {
  const auto refuse = [](const std::string& what, const std::string& hint) {
    throw Error(ErrorKind::usage, what, hint);
  };
  if (request.seeds.empty()) refuse("no seeds", "use --runs N or --seeds A,B");
  if (std::ranges::find(request.seeds, 0U) != request.seeds.end())
    refuse("--seeds: seed 0 is reserved for the default seed", "use seeds from 1");
  auto seeds = request.seeds;
  std::ranges::sort(seeds);
  if (const auto twice = std::ranges::adjacent_find(seeds); twice != seeds.end())
    refuse("--seeds: " + std::to_string(*twice) + " is listed twice",
           "use different seeds: equal seeds repeat the same training");
  const bool scales = request.scaling != ScalingKind::none;
  if (request.ranks.size() > 1 && !scales)
    refuse("--ranks: several values require --scaling", "add --scaling strong or --scaling weak");
  if (scales && request.ranks.size() < 2 && !request.hosts)
    refuse("--scaling needs several numbers of ranks", "add for example --ranks 1,2,4");
  if (request.scaling == ScalingKind::weak && !request.batch)
    refuse("--scaling weak needs the batch size per rank", "add --batch N");
}

/// Prefix of the run ID; the probe's schema checks the workload name later.
std::string suite_name(const TrainRequest& request) {
  const std::string name = "train-" + request.workload + "-" + request.preset;
  constexpr std::string_view kAllowed = "abcdefghijklmnopqrstuvwxyz0123456789_.-";
  return name.find_first_not_of(kAllowed) == std::string::npos && name.size() <= 100 ? name
                                                                                     : "train";
}

/// Larger transformers are not trained in f32 on GPUs; "" leaves it to the probe.
std::string dtype_of(const TrainRequest& request) {
  if (!request.dtype.empty() || request.device == "host") return request.dtype;
  const std::string& name = request.workload;
  const bool narrow = name == "llm" || name == "lora" || name == "flow";
  return narrow && request.preset != "tiny" ? "bf16" : "";
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
  put("vocabulary", request.vocabulary);
  const std::string dtype = dtype_of(request);
  for (const auto& [name, word] : {std::pair{"dtype", &dtype}, std::pair{"data", &request.data},
                                   std::pair{"evaluation_data", &request.evaluation_data}})
    if (!word->empty()) params[name] = *word;
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
  const bool ladder = request.hosts && request.scaling != ScalingKind::none;
  return {{"name", name},
          {"probe", "training"},
          {"device", request.device},
          {"params", params_of(request)},
          {"axes", {{"seed", request.seeds}}},
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

int lanes_of_scaling(int slots, const std::vector<int>& ranks) {
  const int share = std::max(1, slots / std::ranges::max(ranks));
  return static_cast<int>(std::bit_floor(static_cast<unsigned>(share)));
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
    entry.job.params["batch"] = of_all;
  }
}

}  // namespace bench
