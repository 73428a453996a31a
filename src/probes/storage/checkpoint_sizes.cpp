#include "probes/storage/checkpoint_sizes.h"

#include "core/error.h"
#include "core/text.h"

namespace bench::storage {

const std::vector<ModelSize>& model_sizes() {
  static const std::vector<ModelSize> sizes = {{"8b", 8e9, 16e9, 105e9},
                                               {"70b", 70e9, 140e9, 912e9},
                                               {"405b", 405e9, 810e9, 5.29e12},
                                               {"1t", 1e12, 2e12, 18e12}};
  return sizes;
}

double checkpoint_bytes(const std::string& model, const std::string& state) {
  std::vector<std::string> names;
  for (const ModelSize& size : model_sizes()) {
    if (size.name == model) return state == "full" ? size.full_bytes : size.weights_bytes;
    names.push_back(size.name);
  }
  throw Error(ErrorKind::input,
              "unknown model '" + printable(model) + "'." + did_you_mean(model, names),
              "use one of: " + join(names, ", "));
}

}  // namespace bench::storage
