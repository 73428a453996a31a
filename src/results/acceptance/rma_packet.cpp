#include "core/json_text.h"
#include "core/text.h"
#include "results/acceptance/acceptance_output.h"

namespace bench {

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
                 {"reproduce", reproduce}};
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
  text += "\nReproduce\n  " + text_field(packet, "reproduce") + "\n\nRecords\n";
  for (const Json& run : array_field(packet, "runs"))
    text += "  run " + run.get<std::string>() + "\n";
  return text;
}

}  // namespace bench
