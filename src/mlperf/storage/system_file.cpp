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
      {{"solution", "usable_capacity_tib"}},
      {{"solution", "availability"}, {"available", "preview", "RDI"}},
      {{"deployment"}, {"onprem", "cloud"}},
  };
  return fields;
}

constexpr std::array kChassis = {"cpu_model", "cpu_qty", "cpu_cores", "memory_capacity"};

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

  void nodes() {
    const Json& nodes = value_at(system_, {"product_nodes"});
    const bool remote =
        text_at(system_, {"solution", "architecture", "storage_location"}) == "remote";
    if (on_premises() && remote && (!nodes.is_array() || nodes.empty()))
      missing("product_nodes: storage that is remote and on premises has nodes");
    for (const char* kind : {"product_nodes", "clients"}) {
      const Json& list = value_at(system_, {kind});
      if (!list.is_array()) continue;
      for (std::size_t i = 0; i < list.size(); ++i)
        chassis(list[i], fmt::format("{}[{}]", kind, i), std::string_view(kind) == "product_nodes");
    }
  }

  /// Nodes and switches of the product; clients do not count.
  void rack_units() {
    if (!on_premises()) return;
    const auto told = number_at(system_, {"total_rack_units"});
    if (!told) return missing("total_rack_units");
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
    if (sum > 0.0 && differ(sum, *told, kRounding))
      subject_.add("2.1.7", file_.path, "total_rack_units is not the sum of nodes and switches",
                   shown(sum), shown(*told));
  }

 private:
  void missing(const std::string& what) {
    subject_.add("2.1.7", file_.path, "a field is missing: " + what);
  }
  bool on_premises() const { return text_at(system_, {"deployment"}) == "onprem"; }

  void chassis(const Json& node, const std::string& name, bool product) {
    if (!number_at(node, {"quantity"})) missing(name + ".quantity");
    for (const char* key : kChassis)
      if (value_at(node, {"chassis", key}).is_null()) missing(name + ".chassis." + key);
    if (product && on_premises() && !number_at(node, {"chassis", "rack_units"}))
      missing(name + ".chassis.rack_units");
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
  std::vector<std::string> denied;
  for (const char* name : {"simultaneous_write", "simultaneous_read"})
    if (flag_at(system, {"solution", "capabilities", name}) == false) denied.emplace_back(name);
  if (!denied.empty() && !subject.run.empty())
    subject.add("4.7.4", description.path,
                "a checkpointing was run, and the description denies that hosts share the system",
                join(denied, " and ") + " true", "false");
}

}  // namespace bench::mlperf::storage
