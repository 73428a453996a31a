#include "probes/server/rank_server.h"

#include <cstdlib>
#include <map>
#include <set>

#include "core/error.h"
#include "core/log.h"
#include "core/system_files.h"
#include "core/text.h"
#include "core/version.h"
#include "devices/counters/error_counters.h"
#include "probes/probe.h"

namespace bench {
namespace {

constexpr const char* kDeviceFault = "device_fault";

Json faults_of(Device& device, int rank) {
  Json list = Json::array();
  for (const DeviceFault& fault : device.faults())
    list.push_back({{"code", fault.code},
                    {"text", printable(fault.text)},
                    {"fatal", fault.fatal},
                    {"device", device.id()},
                    {"rank", rank}});
  return list;
}

/// Whether no rank before this one is on the same host. Every rank must call it.
bool is_first_on_host(Group& group) {
  if (group.size() == 1) return true;
  Json first = Json::array();
  std::set<std::string> hosts;
  for (const std::string& host : group.gather(host_name()))
    first.push_back(hosts.insert(host).second);
  const Json known = parse_json(broadcast_text(group, dump(first)), "the first rank of each host");
  return known.at(static_cast<std::size_t>(group.rank())).get<bool>();
}

/// Why two ranks share a GPU; empty if none do. Every rank must call it.
std::string shared_device(Group& group, const Device& device) {
  if (group.size() == 1 || device.kind() == "host") return "";
  std::string reason;
  std::map<std::string, std::size_t> first;
  const auto devices = group.gather(host_name() + ' ' + device.id());
  for (std::size_t rank = 0; rank < devices.size() && reason.empty(); ++rank)
    if (const auto [other, is_first] = first.emplace(devices[rank], rank); !is_first)
      reason = "ranks " + std::to_string(other->second) + " and " + std::to_string(rank) +
               " share one GPU: " + devices[rank];
  return broadcast_text(group, reason);
}

std::string in_words(const Json& fault) {
  return fault.at("text").get<std::string>() + " on " + fault.at("device").get<std::string>() +
         ", rank " + std::to_string(fault.at("rank").get<int>());
}

}  // namespace

void RankServer::write_program_facts(const Json& program, const Json& host) {
  answer("", Facts{"host", host});
  if (const Json device = device_.facts(); !device.is_null()) answer("", Facts{"device", device});
  answer("", Facts{"program", program});
}

void RankServer::write_facts(const std::vector<Facts>& facts) {
  for (const Facts& one : facts) answer("", one);
}

void RankServer::serve(std::istream& in) {
  broken_ = agreed(group_, device_.broken());
  absent_ = agreed(group_, device_.absent());
  if (broken_.empty() && absent_.empty()) absent_ = shared_device(group_, device_);
  first_on_host_ = is_first_on_host(group_);
  for (;;) {
    std::string line;
    double more = 0.0;
    if (group_.rank() == 0) more = std::getline(in, line) ? 1.0 : 0.0;
    group_.broadcast(std::as_writable_bytes(std::span(&more, 1)), 0);
    if (more == 0.0) return;
    serve_one(broadcast_text(group_, line));
  }
}

void RankServer::serve_one(const std::string& line) {
  Job job;
  try {
    job = job_from_json(parse_json(line, "job on stdin"));
  } catch (const Error& error) {
    // Without an ID there is no job to answer: the input is not from benchctl, or it is broken.
    say(Level::error, error.what());
    std::exit(static_cast<int>(ExitCode::bad_input));
  }
  answer(job.id, run(job));
}

Outcome RankServer::run(const Job& job) {
  if (job.ranks != group_.size())
    return {Status::failed,
            "the job needs " + std::to_string(job.ranks) + " ranks, but this group has " +
                std::to_string(group_.size()) + ": the ranks may have been started separately",
            0.0};
  if (job.device != device_.kind())
    return {Status::skipped,
            "this program is for device '" + device_.kind() + "', not '" + job.device + "'", 0.0};
  if (!broken_.empty()) return {Status::failed, broken_, 0.0};
  if (!absent_.empty()) return {Status::skipped, absent_, 0.0};
  const Seconds begin = device_.now();
  try {
    return measure(job);
  } catch (const Error& error) {
    return failed(job, error.text(), device_.now() - begin);
  } catch (const std::exception& error) {
    return failed(job, std::string("internal error: ") + error.what(), device_.now() - begin);
  }
}

Outcome RankServer::measure(const Job& job) {
  const Probe& probe = find_probe(job.probe);
  device_.faults();  // discard faults of earlier jobs
  TelemetrySettings telemetry_settings = job.telemetry;
  telemetry_settings.enabled = telemetry_settings.enabled && group_.rank() == 0;
  telemetry_settings.counters = telemetry_settings.counters && first_on_host_;
  JobTelemetry telemetry(telemetry_settings, device_.now(), counters_);
  State state(job, probe, device_, group_, sink_);
  probe.run(state);
  for (auto& body : telemetry.finish(state.spans())) answer(job.id, std::move(body));
  if (job.telemetry.counters) write_counters(job.id, telemetry.counters());
  if (const std::string fatal = write_faults(job.id); !fatal.empty()) state.invalid(fatal);
  return state.finish();
}

void RankServer::write_counters(const std::string& job, Json own) {
  if (!own.is_null()) {
    if (counters_written_ && !own.contains("problem")) drop_idle(own);
    counters_written_ = !own.contains("problem");
    own["host"] = host_name();
  }
  Json hosts = Json::array();
  for (Json& one : gather_json(group_, own))
    if (!one.is_null()) hosts.push_back(std::move(one));
  answer(job, Facts{"counters", {{"hosts", std::move(hosts)}}});
}

std::string RankServer::write_faults(const std::string& job) {
  const Json own = faults_of(device_, group_.rank());
  if (largest(group_, own.empty() ? 0.0 : 1.0) == 0.0) return "";
  std::string fatal;
  for (const Json& faults : gather_json(group_, own))
    for (const Json& fault : faults) {
      answer(job, Event{kDeviceFault, fault});
      if (fatal.empty() && fault.at("fatal") == true) fatal = in_words(fault);
    }
  return fatal;
}

Outcome RankServer::failed(const Job& job, std::string reason, Seconds elapsed) {
  // Often the root cause; the other ranks cannot be queried any more.
  for (const Json& fault : faults_of(device_, group_.rank())) {
    reason += "; " + in_words(fault);
    answer(job.id, Event{kDeviceFault, fault});
  }
  const Outcome outcome{Status::failed, reason, elapsed.value};
  say(Level::error, "job " + job.id + ", rank " + std::to_string(group_.rank()) + ": " + reason);
  if (group_.size() == 1 && !device_.lost()) return outcome;
  // The other ranks may wait in a collective that this one will never enter: end them all. A lost
  // device cannot be used again in this process; the next job gets a new one.
  answer(job.id, outcome);
  std::_Exit(static_cast<int>(ExitCode::environment));
}

}  // namespace bench
