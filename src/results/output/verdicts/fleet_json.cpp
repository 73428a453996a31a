#include "results/output/verdicts/fleet_json.h"

#include "core/text.h"
#include "core/time.h"
#include "results/output/verdicts/fleet_output.h"

namespace bench {
namespace {

std::string verdict_text(Verdict verdict) { return std::string(to_string(verdict)); }

Json time_json(std::int64_t time_ns) { return time_ns == 0 ? Json() : Json(format_time(time_ns)); }

Json host_json(const FleetHostReport& host) {
  Json days = Json::array();
  for (const std::int64_t day : host.incidents)
    days.push_back(date_text(day * std::int64_t{86'400} * 1'000'000'000));
  return {{"host", host.host},
          {"verdict", verdict_text(host.verdict)},
          {"passed", host.passed},
          {"failed", host.failed},
          {"inconclusive", host.inconclusive},
          {"checked", time_json(host.checked_ns)},
          {"expires", time_json(host.expires_ns)},
          {"expired", host.expired},
          {"incidents", std::move(days)},
          {"lemon", host.repeat_failures},
          {"lemon_p", host.repeat_p},
          {"reasons", host.reasons}};
}

Json series_json(const FleetSeriesReport& series) {
  return {{"metric", series.key.metric},
          {"params", series.key.params},
          {"device", series.key.device},
          {"kind", series.key.kind},
          {"unit", std::string(to_string(series.unit))},
          {"better", std::string(to_string(series.better))},
          {"threshold", series.threshold},
          {"hosts", series.hosts},
          {"expected", series.expected},
          {"noise", series.noise},
          {"judged", series.judged}};
}

Json row_json(const FleetReport& report, const FleetRow& row) {
  const FleetKey& key = report.series[row.series].key;
  return {{"host", row.host},
          {"device", row.device},
          {"metric", key.metric},
          {"params", key.params},
          {"runs", row.runs},
          {"value", row.value},
          {"expected", row.expected},
          {"loss", row.loss},
          {"half", row.half},
          {"z", row.z},
          {"golden_loss", row.golden_loss},
          {"last", time_json(row.last_ns)},
          {"verdict", verdict_text(row.verdict)},
          {"gate", row.gate},
          {"text", text_or_null(row.text)},
          {"settle", text_or_null(row.next_step)}};
}

}  // namespace

Json to_json(const FleetReport& report) {
  Json json = {{"verdict", verdict_text(report.verdict)},
               {"exit_code", static_cast<int>(report.exit_code)},
               {"time", format_time(report.time_ns)},
               {"valid_days", report.settings.valid_days},
               {"incident_days", report.settings.incident_days},
               {"level", report.settings.level},
               {"hosts", Json::array()},
               {"metrics", Json::array()},
               {"results", Json::array()},
               {"learned", to_json(report.learned)},
               {"warnings", report.warnings}};
  for (const FleetHostReport& host : report.hosts) json["hosts"].push_back(host_json(host));
  for (const FleetSeriesReport& series : report.series)
    json["metrics"].push_back(series_json(series));
  for (const FleetRow& row : report.rows) json["results"].push_back(row_json(report, row));
  return json;  // printed with NaN as null
}

}  // namespace bench
