// Writes pages as reports make them into a folder, for tests in a browser and for the screenshots
// of the docs: fleet.html (of as many hosts as asked for), scaling.html, ladder.html, training.html
// (with its diagnosis), and hostile.html, whose texts try to be more than text.
//   page_samples FOLDER [HOSTS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "core/whole_file.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/verdicts/fleet_output.h"
#include "results/output/verdicts/ladder_output.h"
#include "results/output/verdicts/scaling_output.h"
#include "results/output/verdicts/training_output.h"
#include "tests/support/simulated_fleet.h"

using namespace bench;

namespace {

FleetReport fleet_of(std::size_t hosts) {
  std::mt19937_64 random(5);
  SimulatedFleet fleet;
  fleet.hosts = hosts;
  fleet.runs = 5;
  fleet.bad = std::max<std::size_t>(1, hosts / 100);
  FleetSettings settings;
  settings.now_ns = fleet.now_ns;
  FleetJudge judge(settings);
  const std::vector<std::string> metrics = {"gemm.throughput",     "memory_bandwidth.bandwidth",
                                            "memory_latency.copy", "copy.bandwidth",
                                            "clock.frequency",     "instruction_peak.throughput"};
  for (std::size_t m = 0; m < 20; ++m) {
    fleet.host_noise = 0.002 + 0.0005 * static_cast<double>(m % 5);
    FleetSeries series = simulated_series(fleet, metrics[m % metrics.size()], random);
    series.params = {{"size_bytes", 1024 << (m / metrics.size())}};
    if (m == 3) series.members.erase(series.members.begin() + 2);
    for (FleetMember& member : series.members)  // one was not measured for long
      if (member.host == simulated_host(4))
        for (FleetValue& value : member.values)
          value.time_ns -= 50 * std::int64_t{86'400'000'000'000};
    judge.take(std::move(series));
  }
  std::vector<FleetFault> faults;
  for (int day = 1; day <= 4; ++day)
    faults.push_back({fleet.now_ns - day * std::int64_t{86'400'000'000'000}, simulated_host(1),
                      "gemm failed: rank 0 ended by signal 9"});
  return judge.finish(faults);
}

ScalingReport scaling() {
  std::mt19937_64 random(6);
  std::normal_distribution<double> gauss;
  ScalingReport report;
  report.runs = {"20261120T183005Z-demo-0001"};
  report.over = "ranks";
  ScalingCurve curve;
  curve.metric = "training.items_per_second";
  curve.params = {{"workload", "llm"}, {"preset", "tiny"}};
  curve.device = "host";
  curve.over = "ranks";
  curve.kind = "strong";
  for (const double n : {1.0, 2.0, 4.0, 8.0, 16.0, 32.0, 64.0}) {
    ScalePoint point{n};
    for (int i = 0; i < 3; ++i)
      point.values.push_back(1e5 * n / (1.0 + 0.02 * (n - 1.0) + 2e-4 * n * (n - 1.0)) *
                             (1.0 + 0.01 * gauss(random)));
    point.communication = 0.02 * std::log2(n);
    curve.points.push_back(std::move(point));
  }
  finish(curve, {});
  report.curves.push_back(std::move(curve));
  report.exit_code = ExitCode::ok;
  return report;
}

/// Four steps of a training on the way to a target, each of five runs.
Ladder ladder() {
  MetricKey key{.metric = "training.time_to_target",
                .params = R"({"preset":"tiny","workload":"llm"})",
                .device = "cuda",
                .over = "job",
                .unit = Unit::second,
                .better = Better::lower};
  const std::vector<std::tuple<std::string, double, int, double>> steps = {
      {"baseline", 5400, 8, 2.5},
      {"+bf16", 2900, 8, 2.5},
      {"+16 workers", 2860, 8, 2.5},
      {"+8 more GPUs", 1640, 16, 2.5}};
  std::mt19937_64 random(7);
  std::normal_distribution<double> gauss;
  std::vector<Side> sides;
  for (const auto& [name, seconds, ranks, price] : steps) {
    Side side{.name = name, .runs = 5, .price = price};
    key.ranks = ranks;
    for (int run = 0; run < 5; ++run)
      side.metrics[key][{"n1", "cuda"}].push_back(
          {.run = run + 1, .value = seconds * (1.0 + 0.008 * gauss(random))});
    sides.push_back(std::move(side));
  }
  return make_ladder(sides, {});
}

/// One that waits for its input, by the rules themselves.
diagnosis::Diagnosed waiting_training() {
  using diagnosis::Measure;
  diagnosis::Diagnosed one;
  one.observation.case_name = "llm_tiny";
  one.observation.jobs = {"01.llm_tiny.0", "01.llm_tiny.1", "01.llm_tiny.2"};
  const std::string source = "job 01.llm_tiny.0, breakdown";
  for (const auto& [measure, value] : {std::pair{Measure::data_share, 0.34},
                                       {Measure::passes_share, 0.42},
                                       {Measure::transfer_share, 0.01},
                                       {Measure::exchange_share, 0.12},
                                       {Measure::optimizer_share, 0.05},
                                       {Measure::lane_wait_share, 0.01},
                                       {Measure::checkpoint_share, 0.04},
                                       {Measure::residual_share, 0.01},
                                       {Measure::steps, 400.0},
                                       {Measure::drift, 0.01},
                                       {Measure::steal_share, 0.002},
                                       {Measure::throttled_s, 0.0},
                                       {Measure::others_share, 0.01},
                                       {Measure::readiness, 0.31},
                                       {Measure::cached_removes, 0.1},
                                       {Measure::worker_cpu_share, 0.97}})
    one.observation.set(measure, value, source);
  one.diagnosis = diagnosis::diagnose(one.observation);
  return one;
}

TrainingReport training() {
  TrainingReport report;
  report.runs = {"20261120T183005Z-training-0001"};
  TrainingGroup group;
  group.setup.workload = "llm";
  group.setup.preset = "tiny";
  group.setup.dtype = "f32";
  group.setup.device = "host";
  group.setup.batch = 32;
  group.setup.lanes = 2;
  group.setup.target = 0.12;
  for (const std::uint64_t seed : {1U, 2U, 3U}) {
    TrainingRun run;
    run.run = report.runs.front();
    run.job = "01.llm_tiny." + std::to_string(seed - 1);
    run.seed = seed;
    run.setup = group.setup;
    run.state = TrainingState::converged;
    run.quality = 0.115;
    run.samples_to_target = 33e3 + 400.0 * static_cast<double>(seed);
    run.seconds_to_target = 15.0 + static_cast<double>(seed);
    run.items_per_second = 150e3;
    for (int i = 1; i <= 24; ++i)
      run.curve.push_back(
          {1400.0 * i, 0.7 * i, 1.1 * std::exp(-0.094 * i), 2.35 + 1.1 * std::exp(-0.094 * i)});
    group.runs.push_back(run);
  }
  group.time = olympic_mean(std::vector<double>{16.0, 17.0, 18.0});
  group.items_per_second = 150e3;
  group.breakdown = {{"data", 17.3, 0.34, "0"}, {"forward", 7.1, 0.14, "0"}};
  report.groups = {group};
  report.diagnosed = {{report.runs.front(), {waiting_training()}}};
  report.exit_code = ExitCode::ok;
  return report;
}

std::string hostile() {
  const std::string bad =
      "</script><script>document.title='broken'</script><img src=x "
      "onerror=\"document.title='broken'\">"
      "\"'&\xff\x01";
  const Plot plot{bad,         bad,   bad,
                  false,       false, {{bad, {1, 2, 3}, {1, 2, 3}, {}, {}, Mark::line_points}},
                  {{bad, 2.0}}};
  Document page{.title = bad, .badge = {.text = bad, .tone = Tone::bad}};
  page.add(Heading{bad}).add(Paragraph{{bad, Tone::good}}).add(Note{bad, bad}).add(Lines{{bad}});
  page.add(FactList{{{bad, bad}}}).add(ItemList{{{bad, {bad}}}});
  page.add(DocumentTable{
      {{bad, false}, {"number"}},
      {{{.text = bad, .detail = bad, .link = bad}, {bad, 2.0, Tone::bad}}, {{"b"}, {"1", 1.0}}},
      {{0, {bad}}}});
  page.add(Figure{to_svg(plot), bad});
  page.add(Figure{to_svg(HeatMap{bad, {bad}, {bad}, {{1.0}}, 0.0, 1.0}), bad});
  return to_page(page);
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 2) {
    std::fprintf(stderr, "page_samples FOLDER [HOSTS]\n");
    return 2;
  }
  const std::filesystem::path folder = argv[1];
  const auto hosts = static_cast<std::size_t>(argc > 2 ? std::atoi(argv[2]) : 1000);
  write_file(folder / "fleet.html", to_page(to_document(fleet_of(hosts))));
  write_file(folder / "scaling.html", to_page(to_document(scaling())));
  write_file(folder / "ladder.html", to_page(to_document(ladder())));
  write_file(folder / "training.html", to_page(to_document(training())));
  write_file(folder / "hostile.html", hostile());
}
