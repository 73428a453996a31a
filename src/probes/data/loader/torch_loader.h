// Runs PyTorch's DataLoader on the same data: scripts/torch_loader.py in a child process, by a
// Python with PyTorch.
#pragma once

#include <optional>
#include <string>

#include "core/units.h"
#include "probes/data/loader/loader.h"

namespace bench::data {

struct TorchWish {
  std::string python = {};    // a path, or a name in PATH
  std::string pipeline = {};  // jpeg_folder or tokens
  std::string data = {};      // the folder, or a file of tokens
  LoaderOptions options = {};
  int size = 224;       // side length of an image in a batch
  int sequence = 1024;  // tokens of a sample
  Seconds time = {};    // of the measurement
};

struct TorchRate {
  std::optional<double> samples_per_cpu_second = {};
  std::string reason = {};   // why there is none
  std::string version = {};  // of PyTorch
};

/// Parses the output of the script, a JSON object; for anything else the reason says what is wrong.
TorchRate read_torch_answer(const std::string& text);

/// Does not throw Error: a failure is returned as the reason.
TorchRate run_torch_loader(const TorchWish& wish);

}  // namespace bench::data
