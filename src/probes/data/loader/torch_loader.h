// The same data through PyTorch's DataLoader, in the same minutes: scripts/torch_loader.py, run as
// a child by a Python that has PyTorch.
#pragma once

#include <optional>
#include <string>

#include "core/units.h"
#include "probes/data/loader/loader.h"

namespace bench::data {

struct TorchWish {
  std::string python = {};    // a path, or a name that is looked up in PATH
  std::string pipeline = {};  // jpeg_folder or tokens
  std::string data = {};      // the folder, or a file of tokens
  LoaderOptions options = {};
  int size = 224;       // sides of an image in a batch
  int sequence = 1024;  // tokens of a sample
  Seconds time = {};    // of measuring
};

struct TorchRate {
  std::optional<double> samples_per_cpu_second = {};
  std::string reason = {};   // why there is none
  std::string version = {};  // of PyTorch
};

/// What the script prints, one object in JSON. The reason says what was wrong with anything else.
TorchRate read_torch_answer(const std::string& text);

/// Throws nothing: whatever does not work is the reason.
TorchRate run_torch_loader(const TorchWish& wish);

}  // namespace bench::data
