// Writes pages as reports make them into a folder, for tests in a browser and for the screenshots
// of the docs: one of every kind of report (fleet.html of as many hosts as asked for), and
// hostile.html, whose texts try to be more than text.
//   page_samples FOLDER [HOSTS]
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <tuple>

#include "core/whole_file.h"
#include "results/output/document/dot_plot.h"
#include "results/output/document/page.h"
#include "results/output/document/plot.h"
#include "results/output/run/run_output.h"
#include "results/output/run/run_report.h"
#include "results/output/verdicts/acceptance_output.h"
#include "results/output/verdicts/calibration_output.h"
#include "results/output/verdicts/compare_output.h"
#include "results/output/verdicts/fleet_output.h"
#include "results/output/verdicts/host_output.h"
#include "results/output/verdicts/ladder_output.h"
#include "results/output/verdicts/night_output.h"
#include "results/output/verdicts/regression_output.h"
#include "results/output/verdicts/roofline_output.h"
#include "results/output/verdicts/scaling_output.h"
#include "results/output/verdicts/topology_output.h"
#include "results/output/verdicts/training_output.h"
#include "results/verdicts/compare/compare.h"
#include "tests/results/run_fixture.h"
#include "tests/support/mlperf_page_samples.h"
#include "tests/support/simulated_fleet.h"
#include "tests/support/topology_host.h"

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
                                       {Measure::pipeline_share, 0.0},
                                       {Measure::optimizer_share, 0.05},
                                       {Measure::offload_share, 0.0},
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

std::string node(int number) { return "node" + std::to_string(100 + number); }

/// Twelve hosts of which one loses a tenth of its memory bandwidth, and one link.
Acceptance acceptance() {
  std::mt19937_64 random(8);
  std::normal_distribution<double> gauss;
  Acceptance all;
  all.verdict = Verdict::fail;
  all.suite = "accept-standard";
  all.runs = {"20261120T183005Z-accept-standard-0001", "20261120T184005Z-accept-standard-0002"};
  all.time_ns = start_ns();
  const std::vector<std::tuple<std::string, Json, Unit, double>> metrics = {
      {"gemm.throughput", {{"dtype", "bf16"}, {"m", 8192}}, Unit::flop_per_second, 6.1e14},
      {"gemm.throughput", {{"dtype", "f32"}, {"m", 4096}}, Unit::flop_per_second, 5.2e13},
      {"memory_bandwidth.bandwidth",
       {{"kernel", "triad"}, {"level", "HBM"}},
       Unit::byte_per_second,
       3.0e12},
      {"memory_latency.latency", {{"level", "L3"}}, Unit::second, 1.2e-7},
      {"clock.frequency", {{"threads", 1}}, Unit::hertz, 2.7e9}};
  for (int h = 0; h < 12; ++h) {
    HostAcceptance host;
    host.host = node(h);
    host.verdict = h == 7 ? Verdict::fail : Verdict::pass;
    host.facts = {{"cpu_model", "Example CPU 9654"}, {"memory_bytes", 8.1e11}};
    for (const auto& [metric, params, unit, level] : metrics) {
      const double loss =
          0.006 * gauss(random) + (h == 7 && metric == "memory_bandwidth.bandwidth" ? 0.11 : 0.0);
      HostMetric row{.case_name = metric.substr(0, metric.find('.')),
                     .metric = metric,
                     .params = params,
                     .unit = unit,
                     .runs = 3};
      row.value = level * (unit == Unit::second ? 1.0 + loss : 1.0 - loss);
      row.expected = level;
      row.loss = loss;
      row.half = 0.012;
      row.threshold = 0.03;
      row.resolution = 0.05;
      row.of_limit = 0.91 - loss;
      row.limit = level / 0.91;
      row.verdict = loss > 0.05 ? Verdict::fail : Verdict::pass;
      host.metrics.push_back(row);
    }
    if (h == 7) {
      Reason reason{Verdict::fail, "peers", "memory", "memory_bandwidth.bandwidth"};
      reason.text =
          "memory_bandwidth.bandwidth (kernel triad, level HBM): 2.670 TB/s, 11.0 % worse than the "
          "median of 11 peers (3.000 TB/s; z -17.2); allowed: 3.0 %";
      reason.next_step = "check which memory modules are populated and their speed";
      host.reasons.push_back(reason);
    }
    all.hosts.push_back(std::move(host));
  }
  PairMatrix matrix{.metric = "collective.bus_bandwidth (message 256 MiB)", .threshold = 0.03};
  for (int a = 0; a < 12; ++a)
    for (int b = a + 1; b < 12; ++b)
      matrix.pairs.push_back(
          {node(a), node(b), 0.004 * gauss(random) + (a == 2 && b == 9 ? 0.6 : 0.0)});
  all.pairs.push_back(std::move(matrix));
  Reason slow{Verdict::fail, "pairs", "pairs", "collective.bus_bandwidth"};
  slow.text = "link between node102 and node109 is slow (4.8 GB/s against 12.0 GB/s)";
  slow.next_step = "check the path between them: cables, switch ports, routes";
  all.links.push_back({node(2), node(9), slow});
  return all;
}

Night night() {
  std::mt19937_64 random(9);
  std::normal_distribution<double> gauss;
  Night one;
  one.run = "20261120T020000Z-nightly-0001";
  one.suite = "nightly";
  one.time_ns = start_ns();
  one.budget_s = 1800.0;
  one.seconds = 1212.0;
  for (int h = 0; h < 6; ++h) {
    one.hosts.push_back({node(h), 14, 14, 3600.0, 0});
    for (const char* metric : {"gemm.throughput", "memory_bandwidth.bandwidth", "clock.frequency",
                               "loader.throughput"}) {
      const bool slow = h == 3 && std::string(metric) == "memory_bandwidth.bandwidth";
      NightTrend trend{node(h), "memory", metric, "host", {{"threads", 64}}, Better::higher, 0.03};
      for (int i = 0; i < 25; ++i) trend.past.push_back(1e9 * (1.0 + 0.006 * gauss(random)));
      trend.value = 1e9 * (slow ? 0.88 : 1.0 + 0.006 * gauss(random));
      one.trends.push_back(std::move(trend));
      ++one.tested;
    }
  }
  NightFinding finding;
  finding.kind = SuspicionKind::slower;
  finding.state = SuspicionState::confirmed;
  finding.host = node(3);
  finding.case_name = "memory";
  finding.metric = "memory_bandwidth.bandwidth";
  finding.params = {{"threads", 64}};
  finding.unit = Unit::byte_per_second;
  finding.better = Better::higher;
  finding.value = 0.88e9;
  finding.expected = 1e9;
  finding.p = 1e-6;
  finding.again = {0.881e9, 0.879e9, 0.884e9};
  finding.text = "12.0 % worse than its history; so were 3 of 3 reruns";
  finding.next_step = "check which memory modules are populated and their speed";
  one.findings.push_back(std::move(finding));
  return one;
}

Samples samples_of(const std::string& metric, double value, std::mt19937_64& random) {
  std::normal_distribution<double> gauss;
  Samples samples;
  samples.metric = metric;
  samples.unit = Unit::flop_per_second;
  samples.better = Better::higher;
  for (int i = 0; i < 40; ++i) {
    samples.values.push_back(value * (1.0 + 0.01 * gauss(random)));
    samples.flags.push_back(0);
  }
  samples.limit = Limit{value / 0.87, LimitKind::datasheet, "cores x units x clock"};
  return samples;
}

RunReport run() {
  std::mt19937_64 random(10);
  RunFixture fixture;
  for (int i = 0; i < 6; ++i) {
    const std::string id = "01.gemm." + std::to_string(i);
    Samples samples = samples_of("throughput", 1e12 * (1 + i), random);
    samples.params = {{"dtype", i % 2 == 0 ? "f32" : "f64"},
                      {"m", 256 << i},
                      {"implementation", "brg:avx512_core_amx_with_a_long_name"}};
    fixture.job(id, "gemm", "gemm").add(id, samples).outcome(id);
  }
  fixture.plan["gates"] = {{"gemm", {{{"metric", "throughput"}, {"min", 2e12}}}}};
  return make_run_report(fixture.end().records());
}

FleetTopology topology() {
  std::vector<HostTopology> hosts;
  for (int h = 0; h < 6; ++h) {
    TopologyHost one;
    if (h == 2) one.remove_gpu(1);
    if (h == 4) one.facts["settings"]["thp"] = "never";
    hosts.push_back(one.as(node(h)));
  }
  return compare_fleet(hosts, {});
}

std::vector<Roofline> rooflines() {
  Side side{.name = "latest", .runs = 1};
  const auto add = [&](const std::string& metric, const Json& params, double value, Unit unit,
                       double of_limit) {
    const MetricKey key{.metric = metric,
                        .params = dump(params),
                        .device = "host",
                        .over = "rank",
                        .unit = unit,
                        .better = Better::higher};
    side.metrics[key][{node(0), "host"}].push_back(
        {.run = 1, .value = value, .of_limit = of_limit});
  };
  for (int size = 8; size <= 4096; size *= 2) {
    const double share = 0.9 * size / (size + 200.0);
    add("gemm.throughput",
        {{"dtype", "f32"}, {"m", size}, {"n", size}, {"k", size}, {"threads", 64}}, 4e12 * share,
        Unit::flop_per_second, share);
  }
  add("memory_bandwidth.bandwidth", {{"kernel", "read"}, {"level", "memory"}}, 300e9,
      Unit::byte_per_second, 0.85);
  for (const auto& [level, bandwidth] :
       {std::pair{"L2", 3e12}, std::pair{"L3", 1e12}, std::pair{"memory", 300e9}})
    add("memory_bandwidth.traffic", {{"kernel", "read"}, {"level", level}, {"threads", 64}},
        bandwidth, Unit::byte_per_second, 0.85);
  for (const auto& [name, flops] : {std::pair{"linear_up", 4.8e9}, std::pair{"rms_norm", 3e6}}) {
    const Json params = {{"operator", name}, {"pass", "forward"}, {"dtype", "f32"},
                         {"rows", 1024},     {"threads", 64},     {"level", "L3"}};
    add("operators.time", params, 3e-3, Unit::second, 0.4);
    add("operators.throughput", params, flops / 3e-3, Unit::flop_per_second, 0.4);
    add("operators.traffic", params, 6.3e6 / 3e-3, Unit::byte_per_second, 0.4);
  }
  return {roofline_of(side, "host")};
}

MetricKey key_of(const std::string& metric, Better better) {
  return {.metric = metric,
          .params = R"({"dtype":"bf16","k":8192,"library":"cublaslt","m":8192,"n":8192})",
          .device = "cuda",
          .over = "rank",
          .unit = better == Better::higher ? Unit::flop_per_second : Unit::second,
          .better = better};
}

Comparison comparison() {
  std::mt19937_64 random(11);
  std::normal_distribution<double> gauss;
  Side a{.name = "label:driver=550", .runs = 5}, b{.name = "label:driver=560", .runs = 5};
  const std::vector<std::tuple<std::string, Better, double>> metrics = {
      {"gemm.throughput", Better::higher, 1.06},
      {"attention.throughput", Better::higher, 0.93},
      {"copy.bandwidth", Better::higher, 1.0},
      {"collective.latency", Better::lower, 1.04},
      {"memory_latency.latency", Better::lower, 1.0}};
  for (const auto& [metric, better, factor] : metrics)
    for (int run = 0; run < 5; ++run)
      for (int h = 0; h < 4; ++h) {
        const auto key = key_of(metric, better);
        a.metrics[key][{node(h), "cuda:0"}].push_back(
            {.run = run + 1, .value = 1.0 + 0.004 * gauss(random)});
        b.metrics[key][{node(h), "cuda:0"}].push_back(
            {.run = run + 6, .value = factor + 0.004 * gauss(random)});
      }
  return compare(a, b);
}

SeriesHistory history(const std::string& metric, double level, double step) {
  std::mt19937_64 random(12);
  std::normal_distribution<double> gauss;
  SeriesHistory series;
  series.key = {.metric = metric,
                .params = {{"dtype", "bf16"}, {"m", 8192}},
                .host = node(3),
                .device = "cuda:0",
                .unit = Unit::flop_per_second,
                .better = Better::higher};
  for (int night = 0; night < 30; ++night) {
    const double value = level * (1.0 + 0.004 * gauss(random)) * (night > 22 ? 1.0 + step : 1.0);
    series.points.push_back({.run = night + 1,
                             .time_ns = start_ns() + night * std::int64_t{86'400'000'000'000},
                             .value = value,
                             .low = 0.995 * value,
                             .high = 1.005 * value,
                             .of_limit = value / level * 0.9});
  }
  return series;
}

HostPage host_page(const FleetHostReport& verdict) {
  return {
      .host = node(3),
      .fleet = &verdict,
      .histories = {history("gemm.throughput", 6e14, -0.04), history("copy.bandwidth", 5e10, 0)},
      .runs = {{"20261120T183005Z-nightly-0001", "../runs/20261120T183005Z-nightly-0001.html",
                start_ns(), "nightly", verdict_cell(Verdict::pass)}}};
}

RegressionReport regressions() {
  RegressionReport report{.tested = 210,
                          .missing = 2,
                          .too_short = 14,
                          .families = {{FindingScope::host, 210, 1}},
                          .newest = {},
                          .exit_code = ExitCode::failed};
  const SeriesHistory series = history("gemm.throughput", 6e14, -0.04);
  ChangeFinding one;
  one.id = "0a1b2c3d";
  one.verdict = HistoryVerdict::regressed;
  one.key = series.key;
  one.effect = -0.041;
  one.low = -0.044;
  one.high = -0.038;
  one.q = 1e-9;
  one.value = 5.76e14;
  one.expected = 6e14;
  one.since.id = "20261213T020000Z-nightly-0023";
  one.since.time_ns = series.points[23].time_ns;
  one.before = 23;
  one.after = 7;
  one.facts = {{"driver", "550.54.15", "560.35.03"}};
  one.points = series.points;
  for (int night = 0; night < 30; ++night) one.levels.push_back(night > 22 ? 5.76e14 : 6e14);
  report.findings.push_back(std::move(one));
  report.newest.id = "20261220T020000Z-nightly-0030";
  return report;
}

Calibration calibration() {
  return {.rates = {{"a change at one host", 0.05, 4000, 190},
                    {"an odd host among its peers", 0.05, 380, 31}},
          .power = {{0.02, 1, 900, 140},
                    {0.02, 5, 900, 820},
                    {0.05, 1, 900, 850},
                    {0.05, 5, 900, 899},
                    {0.1, 1, 900, 900}},
          .series = 120,
          .constant = 14,
          .sigma = 0.006,
          .correlation = 0.2,
          .called_noise = 3,
          .decided = 11};
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
  page.parents = {{bad, bad}};
  page.add(Headline{bad, Tone::bad, bad, {{{bad, {bad}}}}, bad});
  page.add(Cards{{{bad, bad, bad, Tone::bad}}});
  page.add(Heading{bad}).add(Paragraph{{bad, Tone::good}}).add(Note{bad, bad}).add(Lines{{bad}});
  page.add(FactList{{{bad, bad}}}).add(ItemList{{{bad, {bad}}}});
  page.add(DocumentTable{
      {{bad, false}, {"number"}},
      {{{.text = bad, .detail = bad, .link = bad}, {bad, 2.0, Tone::bad}}, {{"b"}, {"1", 1.0}}},
      {{0, {bad}}}});
  DocumentTable alike{{{"name", false}, {bad, false}, {bad + " wide", false}}};
  for (int i = 0; i < 4; ++i)
    alike.rows.push_back({{std::to_string(i)}, {bad.substr(0, 30)}, {bad + std::to_string(i)}});
  alike.notes[0] = {bad};
  page.add(alike);
  page.add(Figure{to_svg(plot), bad});
  page.add(Figure{to_svg(DotPlot{bad, bad, {{bad, {{bad, 1.0, true}}}}}), bad});
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
  const FleetReport fleet = fleet_of(hosts);
  write_file(folder / "fleet.html", to_page(to_document(fleet)));
  const Acceptance accepted = acceptance();
  write_file(folder / "acceptance.html", to_page(to_document(accepted)));
  write_file(folder / "certificate.html", to_page(certificate(accepted, accepted.hosts[7])));
  write_file(folder / "night.html", to_page(to_document(night())));
  write_file(folder / "run.html", to_page(to_document(run())));
  write_file(folder / "comparison.html", to_page(to_document(comparison(), true)));
  write_file(folder / "regressions.html", to_page(to_document(regressions(), true)));
  write_file(folder / "host.html", to_page(to_document(host_page(fleet.hosts.front()))));
  write_file(folder / "scaling.html", to_page(to_document(scaling())));
  write_file(folder / "ladder.html", to_page(to_document(ladder())));
  write_file(folder / "training.html", to_page(to_document(training())));
  write_file(folder / "topology.html", to_page(to_document(topology())));
  write_file(folder / "roofline.html", to_page(to_document(rooflines())));
  write_file(folder / "calibration.html", to_page(to_document(calibration())));
  mlperf::write_mlperf_pages(folder);
  write_file(folder / "hostile.html", hostile());
}
