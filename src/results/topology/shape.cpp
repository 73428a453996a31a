#include "results/topology/shape.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "core/text.h"
#include "results/json_fields.h"
#include "results/topology/shape_parts.h"

namespace bench {
namespace {

constexpr std::size_t kLongestText = 300;
constexpr double kAlike = 0.01;
constexpr std::int64_t kMostCaches = 1'000'000;

Json plain(const Json& value) {
  if (value.is_string()) return value.get<std::string>().substr(0, kLongestText);
  if (value.is_number() || value.is_boolean() || is_unreadable_trait(value)) return value;
  return nullptr;
}

void put(Shape& shape, const std::string& path, const Json& value) {
  const Json kept = plain(value);
  if (!kept.is_null()) shape[path].value = kept;
}

/// Every member of a part below one path; the path itself where the whole is unreadable.
void put_all(Shape& shape, const std::string& path, const Json& part) {
  if (is_unreadable_trait(part)) return put(shape, path, part);
  if (!part.is_object()) return;
  for (const auto& [name, value] : part.items()) put(shape, path + "/" + name, value);
}

void add_settings(Shape& shape, const Json& settings) {
  const std::string mitigation = "mitigation.";
  if (is_unreadable_trait(settings)) put(shape, "mitigation", settings);
  if (is_unreadable_trait(settings) || !settings.is_object())
    return put_all(shape, "setting", settings);
  for (const auto& [name, value] : settings.items())
    put(shape,
        name.starts_with(mitigation) ? "mitigation/" + name.substr(mitigation.size())
                                     : "setting/" + name,
        value);
}

void add_software(Shape& shape, const Json& software) {
  put_all(shape, "software", software);
  put_all(shape, "module", field(software, "modules"));
}

std::string module_label(const Json& module) {
  std::string label = format(Bytes{number_field(module, "size_bytes", 0.0)}) + " " +
                      text_field(module, "type", "of unknown type");
  if (const double rate = number_field(module, "transfers_per_s", 0.0); rate > 0.0)
    label += fmt::format(" {:.0f} MT/s", rate / 1e6);
  return label;
}

void add_memory(Shape& shape, const Json& facts) {
  const Json kernel = field(facts, "memory_by_kernel_bytes");
  put(shape, "memory/total_bytes",
      kernel.is_number() ? kernel : field(facts, "memory_by_library_bytes"));
  const Json& modules = field(facts, "memory_modules");
  if (modules.is_string()) {  // "unreadable: why"
    const auto text = modules.get<std::string>();
    const auto why = text.starts_with("unreadable: ") ? text.substr(12) : text;
    put(shape, "memory/modules", {{"unreadable", why.substr(0, kLongestText)}});
  }
  for (const Json& module : array_field(facts, "memory_modules"))
    count_device(shape, "memory/modules", module_label(module), text_field(module, "slot"));
  const Json& nodes = array_field(facts, "numa");
  if (!nodes.empty()) put(shape, "numa/count", nodes.size());
  for (const Json& node : nodes) {
    const std::string path = fmt::format("numa/{}/", integer_field(node, "index", -1));
    put(shape, path + "memory_bytes", field(node, "memory_bytes"));
    put(shape, path + "hardware_threads", field(node, "hardware_threads"));
  }
}

void add_caches(Shape& shape, const Json& facts) {
  for (const Json& cache : array_field(facts, "caches"))
    count_device(shape, "cache/" + text_field(cache, "name", "unnamed"),
                 fmt::format("{} shared by {} hardware threads",
                             format(Bytes{number_field(cache, "size_bytes", 0.0)}),
                             integer_field(cache, "shared_by")),
                 "", std::clamp<std::int64_t>(integer_field(cache, "count", 1), 1, kMostCaches));
}

/// Profiles give the star a meaning.
void free_of_stars(Shape& shape) {
  for (auto trait = shape.begin(); trait != shape.end();) {
    const auto next = std::next(trait);
    if (trait->first.find('*') != std::string::npos) {
      auto node = shape.extract(trait);
      std::ranges::replace(node.key(), '*', '?');
      shape.insert(std::move(node));
    }
    trait = next;
  }
}

bool ends_with_any(const std::string& path, std::initializer_list<const char*> ends) {
  return std::ranges::any_of(ends, [&](const char* end) { return path.ends_with(end); });
}

}  // namespace

bool is_unreadable_trait(const Json& value) {
  return value.is_object() && value.size() == 1 && field(value, "unreadable").is_string();
}

bool is_counts(const Json& value) { return value.is_object() && !is_unreadable_trait(value); }

double total(const Json& value) {
  double sum = 0.0;
  if (is_counts(value))
    for (const auto& [label, count] : value.items())
      if (count.is_number()) sum += count.get<double>();
  return sum;
}

void count_device(Shape& shape, const std::string& path, const Json& label, const std::string& who,
                  std::int64_t times) {
  Trait& trait = shape[path];
  if (is_unreadable_trait(trait.value)) return;
  if (is_unreadable_trait(label)) {
    trait.value = label;
    trait.who.clear();
    return;
  }
  const std::string text =
      label.is_string() ? label.get<std::string>().substr(0, kLongestText) : excerpt(label);
  if (!trait.value.is_object()) trait.value = Json::object();
  trait.value[text] = integer_field(trait.value, text.c_str(), 0) + times;
  if (!who.empty()) trait.who[text].push_back(who);
}

Shape shape_of(const Json& facts) {
  Shape shape;
  add_devices(shape, facts);
  put_all(shape, "machine", field(facts, "machine"));
  put_all(shape, "processor", field(facts, "processor"));
  add_software(shape, field(facts, "software"));
  add_settings(shape, field(facts, "settings"));
  put_all(shape, "kernel_option", field(facts, "kernel_options"));
  add_memory(shape, facts);
  add_caches(shape, facts);
  free_of_stars(shape);
  return shape;
}

Aspect aspect_of(const std::string& path) {
  for (const char* part : {"setting/", "mitigation/", "kernel_option/"})
    if (path.starts_with(part)) return Aspect::setting;
  if (path.starts_with("software/") || path.starts_with("module/")) return Aspect::version;
  if (ends_with_any(path, {"/firmware", "/driver", "/vbios", "/bios_version", "/bios_date",
                           "/microcode", "/ib_firmware"}))
    return Aspect::version;
  if (ends_with_any(path, {"/link", "/speed", "/port", "/state"})) return Aspect::link;
  if (ends_with_any(path, {"/numa", "/switch"})) return Aspect::place;
  return ends_with_any(path, {"/mtu"}) ? Aspect::setting : Aspect::part;
}

const Json& value_at(const Shape& shape, const std::string& path) {
  static const Json none;
  if (const auto found = shape.find(path); found != shape.end()) return found->second.value;
  for (auto end = path.rfind('/'); end != std::string::npos && end > 0;
       end = path.rfind('/', end - 1)) {
    const auto above = shape.find(path.substr(0, end));
    if (above != shape.end() && is_unreadable_trait(above->second.value))
      return above->second.value;
  }
  return none;
}

bool same_value(const std::string& path, const Json& a, const Json& b) {
  if (!a.is_number() || !b.is_number() || !path.ends_with("_bytes")) return a == b;
  return std::abs(a.get<double>() - b.get<double>()) <= kAlike * std::abs(a.get<double>());
}

std::string value_text(const std::string& path, const Json& value) {
  if (value.is_null()) return "nothing";
  if (is_unreadable_trait(value)) return "unreadable: " + text_field(value, "unreadable");
  if (value.is_number() && path.ends_with("_bytes")) return format(Bytes{value.get<double>()});
  if (value.is_string()) return value.get<std::string>();
  if (!is_counts(value)) return dump(value);
  std::vector<std::string> parts;
  for (const auto& [label, count] : value.items()) parts.push_back(dump(count) + " x " + label);
  return join(parts, "; ");
}

}  // namespace bench
