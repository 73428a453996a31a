// benchctl list [probes|suites|hosts|metrics|rules|bands|hardware [NAME]]
#include <fmt/format.h>

#include "core/fields.h"
#include "core/locations.h"
#include "core/text.h"
#include "results/output/verdicts/diagnosis_json.h"
#include "results/run/bands.h"
#include "runner/commands/command.h"
#include "runner/hardware/hardware_text.h"
#include "runner/hosts/inventory.h"
#include "runner/plan/suite.h"

namespace bench {
namespace {

const std::vector<std::string> kTopics = {"probes", "suites", "hosts",   "metrics",
                                          "rules",  "bands",  "hardware"};

struct ListOptions {
  std::string topic;
  std::string name;
  std::string hosts;
  bool json = false;
};

Json probes(const ProbeCatalogue& catalogue) {
  Json list = Json::array();
  for (const ProbeEntry& probe : catalogue.all())
    list.push_back({{"probe", probe.name},
                    {"description", probe.description},
                    {"devices", probe.devices},
                    {"params", probe.params.json().value("properties", Json::object())}});
  return list;
}

Json metrics(const ProbeCatalogue& catalogue) {
  Json list = Json::array();
  for (const ProbeEntry& probe : catalogue.all())
    for (const ProbeMetric& metric : probe.metrics)
      list.push_back({{"metric", probe.name + "." + metric.name},
                      {"unit", to_string(metric.unit)},
                      {"better", to_string(metric.better)},
                      {"exact", metric.exact},
                      {"description", metric.description}});
  return list;
}

Json suites(const ProbeCatalogue& catalogue) {
  Json list = Json::array();
  for (const auto& file : all_suites()) {
    const Suite suite = read_suite(file, catalogue);
    list.push_back({{"suite", suite_name(file)},
                    {"description", suite.description},
                    {"cases", suite.cases.size()},
                    {"path", file.string()}});
  }
  return list;
}

Json bands() {
  Json list = Json::array();
  for (const Band& band : BandCatalogue::installed().all())
    list.push_back({{"band", band.id},
                    {"metrics", band.metrics},
                    {"kind", to_string(band.kind)},
                    {"low", number_or_null(band.low)},
                    {"high", number_or_null(band.high)},
                    {"description", fmt::format("{} {}: {}", to_string(band.kind), range_text(band),
                                                band.context)},
                    {"source", band.source}});
  return list;
}

Json hardware() {
  Json list = Json::array();
  const auto catalogue = HardwareCatalogue::installed();
  for (const HardwareEntry& entry : catalogue.all()) list.push_back(hardware_summary(entry));
  return list;
}

Json list_items(const std::string& topic, const ListOptions& options) {
  if (topic == "hosts")
    return hosts_list(options.hosts.empty() ? this_host_only() : read_inventory(options.hosts));
  if (topic == "hardware") return hardware();
  if (topic == "rules") return diagnosis::rules_json();
  if (topic == "bands") return bands();
  const auto catalogue = ProbeCatalogue::load(data_root() / "schemas" / "probes");
  if (topic == "probes") return probes(catalogue);
  if (topic == "metrics") return metrics(catalogue);
  return suites(catalogue);
}

std::string item_line(const Json& item, const std::string& topic) {
  const std::string name = item[topic == "hardware" ? topic : topic.substr(0, topic.size() - 1)];
  const std::string detail = topic == "metrics"
                                 ? fmt::format("{:<8} {:<7}", item["unit"].get<std::string>(),
                                               item["better"].get<std::string>())
                                 : "";
  return printable(
             fmt::format("  {:<32} {} {}", name, detail, item["description"].get<std::string>())) +
         "\n";
}

std::string list_text(const Json& all) {
  std::string text;
  for (const auto& [topic, items] : all.items()) {
    text += topic + "\n";
    if (topic == "hardware" && all.size() == 1)
      return text + hardware_table(HardwareCatalogue::installed());
    if (topic == "hosts")
      text += hosts_table(items);
    else
      for (const Json& item : items) text += item_line(item, topic);
  }
  return text;
}

void list_product(const ListOptions& options) {
  if (options.topic != "hardware")
    throw Error(ErrorKind::usage, "'list " + options.topic + "' takes no name; only hardware does",
                "for example benchctl list hardware h200-sxm-141gb");
  const auto catalogue = HardwareCatalogue::installed();
  const HardwareEntry* entry = catalogue.find(options.name);
  if (entry == nullptr)
    throw Error(
        ErrorKind::usage,
        "unknown hardware '" + options.name + "'." + did_you_mean(options.name, catalogue.names()),
        "hardware: " + join(catalogue.names(), ", "));
  options.json ? print(hardware_document(catalogue, *entry))
               : print(hardware_details(catalogue, *entry));
}

}  // namespace

void add_list(CLI::App& app, CommandResult&) {
  CLI::App* command = app.add_subcommand(
      "list", "List probes, suites, hosts, metrics, diagnosis rules, bands or hardware");
  command->footer("Example: benchctl list hardware h200-sxm-141gb --json");
  auto options = std::make_shared<ListOptions>();
  add_value(
      *command, "topic", options->topic, join(kTopics, "|"),
      "Choose what to list; rules: of the diagnosis; bands: published figures (default: all)");
  add_value(*command, "name", options->name, "NAME",
            "Show details of one hardware product (default: list all)");
  add_value(*command, "--hosts", options->hosts, "FILE",
            "List the hosts in this hosts file (default: this host)");
  command->add_flag("--json", options->json, "Print JSON (default: text)");
  command->callback([options] {
    const std::string& topic = options->topic;
    if (!topic.empty() && std::ranges::find(kTopics, topic) == kTopics.end())
      throw Error(ErrorKind::usage, "unknown list '" + topic + "'." + did_you_mean(topic, kTopics),
                  "lists: " + join(kTopics, ", "));
    if (!options->name.empty()) return list_product(*options);
    Json all = Json::object();
    for (const std::string& one : kTopics)
      if (topic.empty() || topic == one) all[one] = list_items(one, *options);
    if (!options->json) return print(list_text(all));
    print(topic.empty() ? all : all[topic]);
  });
}

}  // namespace bench
