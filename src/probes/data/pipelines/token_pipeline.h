// Files of tokens (training/sources/token_file.h) to inputs and targets of int64, as nanoGPT's
// loader hands them to PyTorch: for each sequence T inputs, then the T targets, each the token
// after its input.
#pragma once

#include <filesystem>
#include <memory>
#include <vector>

#include "probes/data/pipelines/pipeline.h"

namespace bench::data {

struct TokenOptions {
  int targets = 1024;  // T
  /// Windows that begin anywhere (nanoGPT); else sequence i begins at token i T of its file
  /// (llm.c).
  bool random_windows = true;
  std::uint64_t seed = 1;
};

/// An epoch has as many sequences as the files have without overlap. Throws Error(input) as
/// training::TokenView does, and for a file shorter than one sequence.
std::unique_ptr<Pipeline> token_pipeline(const std::vector<std::filesystem::path>& files,
                                         const TokenOptions& options);

}  // namespace bench::data
