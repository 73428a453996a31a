// A kind of host in a few lines, as the reference for differences.
#include <fmt/format.h>

#include "core/text.h"
#include "results/json_fields.h"
#include "results/topology/topology_output.h"

namespace bench {
namespace {

/// "" if unknown or absent.
std::string text_at(const Shape& shape, const std::string& path) {
  const Json& value = value_at(shape, path);
  return value.is_null() || value == "none" || is_unreadable_trait(value) ? ""
                                                                          : value_text(path, value);
}

/// A label shared by all devices of a group is printed once.
std::string text_of_group(const Shape& shape, const std::string& path) {
  const Json& value = value_at(shape, path);
  if (!is_counts(value) || value.size() != 1) return text_at(shape, path);
  const std::string label = value.begin().key();
  return label == "none" || label == "alone" ? "" : label;
}

void add(std::vector<std::string>& parts, const std::string& value, const std::string& after = "") {
  if (!value.empty()) parts.push_back(value + after);
}

std::string machine_line(const Shape& shape) {
  std::vector<std::string> parts;
  add(parts, text_at(shape, "machine/vendor"));
  add(parts, text_at(shape, "machine/product"));
  const std::string bios = text_at(shape, "machine/bios_version");
  const std::string kernel = text_at(shape, "software/kernel");
  std::string line = join(parts, " ");
  if (!bios.empty()) line += (line.empty() ? "" : ", ") + ("BIOS " + bios);
  if (!kernel.empty()) line += (line.empty() ? "" : ", ") + ("Linux " + kernel);
  return line;
}

std::string processor_line(const Shape& shape) {
  std::vector<std::string> parts;
  add(parts, fmt::format("{} x {}", text_at(shape, "processor/packages"),
                         text_at(shape, "processor/model")));
  add(parts, text_at(shape, "processor/cores"), " cores");
  add(parts, text_at(shape, "processor/hardware_threads"), " hardware threads");
  add(parts, text_at(shape, "memory/total_bytes"));
  add(parts, text_at(shape, "numa/count"),
      value_at(shape, "numa/count") == 1 ? " NUMA node" : " NUMA nodes");
  add(parts, text_at(shape, "memory/modules"));
  return join(parts, ", ");
}

std::string group_line(const Shape& shape, const std::string& group) {
  std::vector<std::string> parts;
  for (const char* trait :
       {"/model", "/link", "/numa", "/switch", "/port", "/speed", "/firmware", "/ib_firmware"})
    add(parts, text_of_group(shape, group + trait));
  const std::string head = text_at(shape, group + "/count") + " x " + group;
  return parts.empty() ? head : head + ": " + join(parts, " | ");
}

}  // namespace

std::vector<std::string> summary_of(const Shape& shape) {
  std::vector<std::string> lines;
  add(lines, machine_line(shape));
  if (shape.contains("processor/packages")) lines.push_back(processor_line(shape));
  for (const auto& [path, trait] : shape) {
    const auto group = path.substr(0, path.rfind('/'));
    if (path.ends_with("/count") && group.find('/') != std::string::npos)
      lines.push_back(group_line(shape, group));
  }
  const std::string driver = text_at(shape, "software/nvidia_driver");
  if (!driver.empty()) lines.push_back("NVIDIA driver " + driver);
  return lines;
}

}  // namespace bench
