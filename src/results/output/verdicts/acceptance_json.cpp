#include "results/output/verdicts/acceptance_json.h"

#include <cmath>
#include <vector>

#include "core/fields.h"
#include "core/text.h"
#include "core/time.h"

namespace bench {

namespace {

using Keys = std::vector<const char*>;

/// Those of the keys that `from` has, added to `into`.
void select(const Json& from, const Keys& keys, Json& into) {
  for (const char* key : keys)
    if (from.contains(key)) into[key] = from[key];
}

/// The parts of one kind, each reduced to what identifies it; nothing where there are none.
void select_parts(const Json& parts, const Keys& keys, const char* kind, Json& into) {
  for (const Json& part : parts) select(part, keys, into[kind].emplace_back(Json::object()));
}

}  // namespace

Json identity(const HostAcceptance& host) {
  Json found = {{"host", host.host}};
  select(host.facts,
         {"product_vendor", "product", "product_serial", "cpu_model", "kernel", "os",
          "memory_bytes", "virtualization"},
         found);
  select_parts(
      array_field(field(host.facts, "gpus"), "gpus"),
      {"index", "name", "serial", "uuid", "pci_address", "vbios", "board_part_number", "inforom"},
      "gpus", found);
  select_parts(array_field(host.facts, "network"),
               {"name", "pci_address", "driver", "driver_version", "firmware", "speed_bits_per_s"},
               "network", found);
  select_parts(array_field(host.facts, "infiniband"), {"name", "pci_address", "firmware", "board"},
               "infiniband", found);
  return found;
}

namespace {

Json to_json(const Reason& reason) {
  return {{"verdict", to_string(reason.verdict)},
          {"gate", reason.gate},
          {"case", text_or_null(reason.case_name)},
          {"metric", text_or_null(reason.metric)},
          {"params", reason.params},
          {"unit", std::isfinite(reason.value) ? Json(to_string(reason.unit)) : Json()},
          {"value", number_or_null(reason.value)},
          {"expected", number_or_null(reason.expected)},
          {"text", reason.text},
          {"settle", text_or_null(reason.next_step)},
          {"job", text_or_null(reason.job)}};
}

Json to_json(const HostMetric& row) {
  return {{"case", row.case_name},
          {"metric", row.metric},
          {"params", row.params},
          {"unit", to_string(row.unit)},
          {"runs", row.runs},
          {"value", number_or_null(row.value)},
          {"expected", number_or_null(row.expected)},
          {"loss", number_or_null(row.loss)},
          {"loss_half_width", number_or_null(row.half)},
          {"threshold", number_or_null(row.threshold)},
          {"resolution", number_or_null(row.resolution)},
          {"loss_at_most", number_or_null(row.loss_at_most())},
          {"z", number_or_null(row.z)},
          {"limit", number_or_null(row.limit)},
          {"of_limit", number_or_null(row.of_limit)},
          {"verdict", to_string(row.verdict)}};
}

Json to_json(const HostCounter& counter) {
  const CounterRule& rule = *counter.rule;
  return {
      {"device", counter.device},
      {"counter", rule.counter},
      {"count", counter.known ? Json(counter.count) : Json()},
      {"bytes", number_or_null(counter.bytes)},
      {"bits", number_or_null(counter.bits)},
      {"errors_per_bit_at_most", number_or_null(counter.upper)},
      {"errors_per_bit_allowed", rule.kind == CounterKind::rate ? Json(rule.error_ratio) : Json()},
      {"chance", number_or_null(counter.chance)},
      {"why", rule.why.empty() ? Json() : Json(rule.why)},
      {"broken_jobs", counter.broken},
      {"verdict", counter.verdict ? Json(to_string(*counter.verdict)) : Json()}};
}

Json counters_json(const HostAcceptance& host) {
  Json list = Json::array();
  for (const HostCounter* counter : relevant_counters(host)) list.push_back(to_json(*counter));
  return list;
}

Json to_json(const Unresolved& one) {
  return {{"case", one.case_name},
          {"metric", one.metric},
          {"params", one.params},
          {"reached", number_or_null(one.reached)},
          {"promised", number_or_null(one.promised)},
          {"runs", number_or_null(one.runs)},
          {"hosts", one.hosts},
          {"text", one.text},
          {"settle", text_or_null(one.next_step)}};
}

template <class T>
Json list_of(const std::vector<T>& items) {
  Json list = Json::array();
  for (const T& item : items) list.push_back(to_json(item));
  return list;
}

Json to_json(const HostAcceptance& host) {
  return {{"host", host.host},
          {"verdict", to_string(host.verdict)},
          {"reasons", list_of(host.reasons)},
          {"metrics", list_of(host.metrics)},
          {"counters_watched", host.counters.size()},
          {"counters", counters_json(host)},
          {"identity", identity(host)},
          {"notes", host.notes}};
}

/// Everything except the long lists.
Json document_head(const Acceptance& acceptance) {
  return {{"verdict", to_string(acceptance.verdict)},
          {"suite", acceptance.suite},
          {"time", format_time(acceptance.time_ns)},
          {"runs", acceptance.runs},
          {"unresolved", list_of(acceptance.unresolved)},
          {"not_covered", acceptance.not_covered},
          {"interrupted", acceptance.interrupted},
          {"localisation", localisation_json(acceptance.localisations)}};
}

Json to_json(const LinkAcceptance& link) {
  return {{"hosts", {link.a, link.b}},
          {"verdict", to_string(link.reason.verdict)},
          {"reason", to_json(link.reason)}};
}

/// References the acceptance.
JsonLists lists_of(const Acceptance& acceptance) {
  return {{"hosts", json_list(acceptance.hosts, [](const auto& host) { return to_json(host); })},
          {"links", json_list(acceptance.links, [](const auto& link) { return to_json(link); })}};
}

}  // namespace

Json to_json(const Acceptance& acceptance) {
  return whole_document(document_head(acceptance), lists_of(acceptance));
}

void write_json(const Acceptance& acceptance, const Json& extra, const Write& write) {
  Json all = document_head(acceptance);
  all.update(extra);
  write_document(all, lists_of(acceptance), write);
}

Json rma_packet(const Acceptance& acceptance, const HostAcceptance& host,
                const std::string& reproduce) {
  const Json whole = to_json(host);
  Json packet = {{"host", host.host},
                 {"verdict", to_string(host.verdict)},
                 {"time", format_time(acceptance.time_ns)},
                 {"suite", acceptance.suite},
                 {"runs", acceptance.runs},
                 {"identity", whole.at("identity")},
                 {"metrics", whole.at("metrics")},
                 {"counters", whole.at("counters")},
                 {"evidence", Json::array()},
                 {"facts", host.facts},
                 {"reproduce", reproduce}};  // in the packet's folder
  for (const Json& reason : whole.at("reasons"))
    if (reason.at("verdict") == "fail") packet["evidence"].push_back(reason);
  return packet;
}

std::string to_text(const Json& packet) {
  std::string text = "Host " + text_field(packet, "host") + " failed acceptance on " +
                     text_field(packet, "time") + ".\n\nIdentity\n";
  for (const auto& [key, value] : object_field(packet, "identity").items())
    text += "  " + key + ": " + text_of(value) + "\n";
  text += "\nEvidence\n";
  for (const Json& reason : array_field(packet, "evidence"))
    text += "  [" + text_field(reason, "gate") + "] " + text_field(reason, "text") + "\n";
  text += "\nReproduce, in the folder of this file\n  " + text_field(packet, "reproduce") +
          "\n\nRecords\n";
  for (const Json& run : array_field(packet, "runs"))
    text += "  run " + run.get<std::string>() + "\n";
  return text;
}

}  // namespace bench
