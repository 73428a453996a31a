// The base of a workload that adapts a trained model: trained by the trainer itself before the
// clock starts, as MLPerf provides a checkpoint, or read from a file in which an earlier run kept
// it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "training/trainer/trainer.h"

namespace bench::training {

/// A parameter's values in host memory.
struct PretrainedTensor {
  std::string name;
  std::int64_t rows = 0, columns = 0;
  Dtype dtype = Dtype::f32;
  std::vector<std::byte> bytes = {};

  NamedView view() { return {name, {bytes.data(), rows, columns, dtype}}; }
};

/// A trained model, equal on all ranks.
struct Pretrained {
  std::vector<PretrainedTensor> tensors = {};
  std::uint64_t hash = 0;           // of all values
  double gap = 0.0;                 // on its own evaluation samples, at the end of its training
  double unadapted = 0.0;           // on those of the workload that adapts it
  double seconds = 0.0;             // of its training's steps; 0 if read from a file
  bool read = false;                // from a file
  std::filesystem::path file = {};  // that has it; empty: none
  std::string problem = {};         // why a file could not be read or written
};

/// Trains `base` by `options` (recipe, lanes, type, exchange; the rest is ignored) on all ranks of
/// the group, and judges it on the evaluation samples of `task`, which has the same inputs. With a
/// folder `cache`, rank 0 reads the base from a file there if it has one for the same recipe, model
/// and samples, and keeps a new one there; a file that is damaged or cannot be written is no
/// error. Throws Error(internal) if a check of the base's training fails, and like Trainer.
Pretrained pretrain(Workload& base, Workload& task, const TrainerOptions& options,
                    const std::filesystem::path& cache, const KernelFactory& kernels, Group& group);

/// Sets the parameters to the base's values of the same names. Throws Error(internal), naming the
/// parameter, if a frozen one has none, or if one has another shape or type.
void set_base_parameters(const Pretrained& base, Replica& replica);

}  // namespace bench::training
