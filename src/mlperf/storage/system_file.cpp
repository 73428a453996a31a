#include "mlperf/storage/system_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

#include "core/text.h"

namespace bench::mlperf::storage {
namespace {

/// A field that must be there, with the values that it may have; none: any but null.
struct Field {
  std::vector<const char*> path;
  std::vector<const char*> values = {};
};

const std::vector<Field>& solution_fields() {
  static const std::vector<Field> fields = {
      {{"solution", "friendly_description"}},
      {{"solution", "architecture", "storage_location"}, {"remote", "local", "remote_and_local"}},
      {{"solution", "architecture", "benchmark_API"}, {"file", "object"}},
      {{"solution", "architecture", "product_API"}, {"file", "object", "block"}},
      {{"solution", "architecture", "client_footprint"}, {"open_source", "closed_source", "n/a"}},
      {{"solution", "architecture", "client_installation"}, {"in_box", "installable", "n/a"}},
      {{"solution", "capabilities", "multi_host"}},
      {{"solution", "capabilities", "simultaneous_write"}},
      {{"solution", "capabilities", "simultaneous_read"}},
      {{"solution", "capabilities", "remap_time_in_seconds"}},
      {{"solution", "usable_capacity_tib"}},
      {{"solution", "availability"}, {"available", "preview", "RDI"}},
      {{"deployment"}, {"onprem", "cloud"}},
  };
  return fields;
}

constexpr std::array kChassis = {"model_name", "cpu_model", "cpu_qty", "cpu_cores",
                                 "memory_capacity"};
constexpr std::array kPowerSupply = {"unit_count", "inlet_voltage", "nameplate_power_watts",
                                     "efficiency"};

const Json& follow(const Json& json, const std::vector<const char*>& path) {
  static const Json null;
  const Json* at = &json;
  for (const char* key : path) {
    if (!at->is_object() || !at->contains(key)) return null;
    at = &at->at(key);
  }
  return *at;
}

class SystemCheck {
 public:
  SystemCheck(Subject& subject, const JsonFile& file, const Json& system)
      : subject_(subject), file_(file), system_(system) {}

  void fields() {
    for (const Field& field : solution_fields()) {
      const Json& value = follow(system_, field.path);
      const std::string name = join({field.path.begin(), field.path.end()}, ".");
      if (value.is_null()) {
        missing(name);
        continue;
      }
      if (field.values.empty()) continue;
      const std::string text = text_of(value);
      if (std::ranges::find(field.values, text) == field.values.end())
        subject_.add("2.1.7", file_.path, name + " has another value than it may",
                     join({field.values.begin(), field.values.end()}, ", "), brief(text));
    }
  }

  /// Fields that depend on each other.
  void pairs() {
    const auto footprint = text_at(system_, {"solution", "architecture", "client_footprint"});
    const auto installation = text_at(system_, {"solution", "architecture", "client_installation"});
    if (footprint && installation && (*footprint == "n/a") != (*installation == "n/a"))
      subject_.add("2.1.7", file_.path,
                   "client_footprint and client_installation are n/a together or not at all",
                   brief(*footprint), brief(*installation));
    const auto written = flag_at(system_, {"solution", "capabilities", "simultaneous_write"});
    const auto read = flag_at(system_, {"solution", "capabilities", "simultaneous_read"});
    const auto remap = number_at(system_, {"solution", "capabilities", "remap_time_in_seconds"});
    if (written && read && remap && (*written && *read) != (*remap == 0.0))
      subject_.add("2.1.7", file_.path,
                   "remap_time_in_seconds must be 0 exactly if hosts may both read and write at "
                   "the same time",
                   *written && *read ? "0" : "above 0", shown(*remap));
  }

  void nodes() {
    if (lacks_nodes()) missing("product_nodes: storage that is remote and on premises has nodes");
    const Json& clients = value_at(system_, {"clients"});
    if (!clients.is_array() || clients.empty()) missing("clients");
    for (const char* kind : {"product_nodes", "clients"}) {
      const Json& list = value_at(system_, {kind});
      if (!list.is_array()) continue;
      for (std::size_t i = 0; i < list.size(); ++i) node(list[i], fmt::format("{}[{}]", kind, i));
    }
    const Json& switches = value_at(system_, {"product_switches"});
    if (on_premises() && switches.is_array())
      for (std::size_t i = 0; i < switches.size(); ++i)
        power(value_at(switches[i], {"power"}), fmt::format("product_switches[{}].power", i));
  }

  /// Nodes and switches of the product; clients do not count.
  void rack_units() {
    if (!on_premises()) return;
    const auto told = number_at(system_, {"total_rack_units"});
    if (!told) return missing("total_rack_units");
    if (lacks_nodes()) return;
    double sum = 0.0;
    for (const char* kind : {"product_nodes", "product_switches"}) {
      const Json& list = value_at(system_, {kind});
      if (!list.is_array()) continue;
      for (const Json& one : list) {
        auto units = number_at(one, {"chassis", "rack_units"});
        if (!units) units = number_at(one, {"rack_units"});
        if (!units) return;
        sum += *units *
               number_at(one, {"quantity"}).value_or(number_at(one, {"unit_count"}).value_or(1.0));
      }
    }
    constexpr double kRounding = 1e-9;
    if (differ(sum, *told, kRounding))
      subject_.add("2.1.7", file_.path, "total_rack_units is not the sum of nodes and switches",
                   shown(sum), shown(*told));
  }

 private:
  void missing(const std::string& what) {
    subject_.add("2.1.7", file_.path, "a field is missing: " + what);
  }
  bool on_premises() const { return text_at(system_, {"deployment"}) == "onprem"; }

  /// Nodes of storage that is elsewhere on premises, which its power and rack units come from.
  bool lacks_nodes() const {
    const Json& nodes = value_at(system_, {"product_nodes"});
    return on_premises() && (!nodes.is_array() || nodes.empty()) &&
           text_at(system_, {"solution", "architecture", "storage_location"}) == "remote";
  }

  void node(const Json& node, const std::string& name) {
    if (!number_at(node, {"quantity"})) missing(name + ".quantity");
    for (const char* key : kChassis)
      if (value_at(node, {"chassis", key}).is_null()) missing(name + ".chassis." + key);
    for (const char* key : {"name", "version"})
      if (value_at(node, {"operating_system", key}).is_null())
        missing(name + ".operating_system." + key);
    if (!on_premises()) return;
    if (!number_at(node, {"chassis", "rack_units"})) missing(name + ".chassis.rack_units");
    power(value_at(node, {"chassis", "power"}), name + ".chassis.power");
  }

  void power(const Json& power, const std::string& name) {
    if (!power.is_object()) return missing(name);
    const Json& supplies = value_at(power, {"psus_configured"});
    if (!supplies.is_array() || supplies.empty()) return missing(name + ".psus_configured");
    double count = 0.0;
    for (std::size_t i = 0; i < supplies.size(); ++i) {
      for (const char* key : kPowerSupply)
        if (value_at(supplies[i], {key}).is_null())
          missing(fmt::format("{}.psus_configured[{}].{}", name, i, key));
      count += number_at(supplies[i], {"unit_count"}).value_or(0.0);
    }
    const auto active = number_at(power, {"min_psus_active"});
    if (!active)
      missing(name + ".min_psus_active");
    else if (*active > count)
      subject_.add("2.1.7", file_.path, name + " needs more power supplies than there are",
                   "at most " + shown(count), shown(*active));
  }

  Subject& subject_;
  const JsonFile& file_;
  const Json& system_;
};

}  // namespace

void check_system_file(Subject& subject, const JsonFile& file, const std::string& name) {
  if (file.state == FileState::wrong) {
    subject.add("2.1.7", file.path, "the file is no YAML: " + brief(file.problem));
    return;
  }
  check_json(subject, file);
  if (!file.ok()) return;
  const Json& system = value_at(file.value, {"system_under_test"});
  if (!system.is_object()) {
    subject.add("2.1.7", file.path, "a field is missing: system_under_test");
    return;
  }
  const Json& told = value_at(system, {"solution", "submission_name"});  // a number if it looks so
  if (text_of(told) != name)
    subject.add("2.1.8", file.path, "submission_name is not the name of the file", printable(name),
                told.is_null() ? "none" : brief(text_of(told)));
  SystemCheck check(subject, file, system);
  check.fields();
  check.pairs();
  check.nodes();
  check.rack_units();
}

void check_clients(Subject& subject, const LoadedLeaf& run, const Json& description) {
  const Json& system = value_at(description, {"system_under_test"});
  const Json& clients = value_at(system, {"clients"});
  const auto hosts = number_at(run.summary(), {"num_hosts"});
  if (!clients.is_array() || clients.empty() || !hosts || !(*hosts >= 1.0)) return;
  double described = 0.0;
  for (const Json& one : clients) {
    const auto quantity = number_at(one, {"quantity"});
    if (!quantity) return;
    described += *quantity;
  }
  if (described != *hosts)
    subject.add("2.1.9", run.files.summary.path,
                "another number of hosts took part than the system has clients", shown(described),
                shown(*hosts));
  if (*hosts > 1.0 && flag_at(system, {"solution", "capabilities", "multi_host"}) == false)
    subject.add("2.1.9", run.files.summary.path,
                "several hosts took part, and the description says that the system serves one");
  const auto memory = numbers_at(run.summary(), {"host_memory_GB"});
  const auto each = number_at(clients.front(), {"chassis", "memory_capacity"});
  if (clients.size() != 1 || !memory || memory->empty() || !each || !(*each > 0.0)) return;
  const double mean = mean_of(*memory) * static_cast<double>(memory->size()) / *hosts;
  constexpr double kAllowed = 0.1;
  if (std::abs(mean - *each) > kAllowed * *each)
    subject.add("2.1.9", run.files.summary.path,
                "the hosts have another memory than the description says", shown(*each) + " GiB",
                shown(mean) + " GiB");
}

void check_sharing(Subject& subject, const JsonFile& description) {
  const Json& system = value_at(description.value, {"system_under_test"});
  const auto flag = [&](const char* name) {
    return flag_at(system, {"solution", "capabilities", name});
  };
  // Split invocations give the time to remap storage, and one host needs no other.
  if (subject.run.size() != 1 || flag("multi_host") == false) return;
  std::vector<std::string> denied;
  for (const char* name : {"simultaneous_write", "simultaneous_read"})
    if (flag(name) == false) denied.emplace_back(name);
  if (!denied.empty())
    subject.add("4.7.4", description.path,
                "a checkpointing wrote and read in one invocation, and the description says that "
                "hosts cannot do so at the same time",
                join(denied, " and ") + " true", "false");
}

}  // namespace bench::mlperf::storage
