#include "results/localisation/device_names.h"

#include <sstream>

#include "core/text.h"
#include "results/json_fields.h"

namespace bench {

Devices devices_in(const Json& part) {
  Devices devices;
  std::istringstream words(text_field(part, "device"));
  for (std::string word; std::getline(words, word, ',');) devices.push_back(word);
  return devices;
}

std::string device_words(const Devices& devices) { return join(devices, ","); }

Devices first_gpus(int ranks) {
  Devices devices;
  for (int i = 0; i < ranks; ++i) devices.push_back("cuda:" + std::to_string(i));
  return devices;
}

}  // namespace bench
