// Builds the records of a run on a fleet: each call is one job of one repeat.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "results/run/run_records.h"
#include "results/verdicts/acceptance/acceptance.h"

namespace bench {

class Fleet {
 public:
  explicit Fleet(std::size_t hosts) {
    for (std::size_t i = 1; i <= hosts; ++i)
      settings.hosts.push_back((i < 10 ? "node0" : "node") + std::to_string(i));
    run.run = "20261120T183005Z-demo-0001";
    run.plan = {{"suite", "demo"}, {"gates", Json::object()}};
  }

  const std::string& host(std::size_t i) const { return settings.hosts.at(i); }

  /// Samples of a metric "probe.metric", close around `value`.
  Samples samples(const std::string& metric, double value) const {
    Samples s;
    s.metric = metric.substr(metric.find('.') + 1);
    s.unit = metric.find("latency") == std::string::npos ? Unit::byte_per_second : Unit::second;
    s.better = s.unit == Unit::second ? Better::lower : Better::higher;
    for (int i = -3; i <= 3; ++i) s.values.push_back(value * (1.0 + 0.0001 * i));
    s.flags.assign(s.values.size(), kClean);
    s.quality.cpu_share = 0.999;
    s.quality.others_share = 0.0;
    return s;
  }

  Fleet& job(const std::string& metric, const Hosts& hosts, const Samples& s,
             const Outcome& outcome = {}) {
    begin(metric, hosts);
    add(hosts.front(), s);
    add(hosts.front(), outcome);
    return *this;
  }
  Fleet& job(const std::string& metric, std::size_t host_number, double value) {
    return job(metric, {host(host_number)}, samples(metric, value));
  }
  Fleet& job(const std::string& metric, std::size_t a, std::size_t b, double value) {
    return job(metric, {host(a), host(b)}, samples(metric, value));
  }
  /// A job that ended without a result.
  Fleet& job(const std::string& metric, const Hosts& hosts, const Outcome& outcome) {
    begin(metric, hosts);
    add(hosts.front(), outcome);
    return *this;
  }
  /// A host of the last job dropped out.
  Fleet& out(const std::string& name, const std::string& why) {
    add(name, Event{kHostOutEvent, {{"host", name}, {"why", why}}});
    return *this;
  }
  /// The suite promises to find this loss.
  Fleet& promise(double resolution) {
    run.plan["acceptance"] = {{"resolution", {{"default", resolution}}}};
    return *this;
  }
  Fleet& facts(std::size_t host_number, const std::string& topic, Json facts) {
    job_.clear();
    add(host(host_number), Facts{topic, std::move(facts)});
    return *this;
  }

  Acceptance judge() const { return judge_acceptance({run}, settings); }
  const HostAcceptance& judged(const Acceptance& acceptance, std::size_t i) const {
    return acceptance.hosts.at(i);
  }

  RunRecords run;
  AcceptanceSettings settings;

 private:
  void begin(const std::string& metric, const Hosts& hosts) {
    PlannedJob job;
    job_ = job.id = "job" + std::to_string(run.jobs.size());
    job.probe = metric.substr(0, metric.find('.'));
    job.case_name = job.probe;
    job.hosts = hosts;
    job.ranks = static_cast<int>(hosts.size());
    run.jobs.push_back(std::move(job));
  }
  void add(const std::string& host, decltype(Record::body) body) {
    run.records.push_back({job_, host, 0, ++time_, std::move(body)});
  }

  std::string job_;
  std::int64_t time_ = 1;
};

/// Healthy hosts: they differ by `host_noise`, their runs by `run_noise` (relative, Gaussian).
template <class Random>
Fleet healthy_fleet(std::size_t hosts, std::size_t metrics, double host_noise, double run_noise,
                    Random& random, int runs = 3) {
  Fleet fleet(hosts);
  std::normal_distribution<double> gauss;
  for (std::size_t m = 0; m < metrics; ++m)
    for (std::size_t h = 0; h < hosts; ++h) {
      const double own = 1.0 + host_noise * gauss(random);
      for (int r = 0; r < runs; ++r)
        fleet.job("memory_bandwidth" + std::to_string(m) + ".bandwidth", h,
                  1e9 * own * (1.0 + run_noise * gauss(random)));
    }
  for (std::size_t a = 0; a < hosts && hosts <= 8; ++a)
    for (std::size_t b = a + 1; b < hosts; ++b)
      for (int r = 0; r < runs; ++r)
        fleet.job("collective.busbw", a, b, 1e9 * (1.0 + run_noise * gauss(random)));
  return fleet;
}

}  // namespace bench
