// A workload: a model's graph, its samples, its recipe, and the quality it reaches. The trainer
// uses only this interface; to add a workload, implement it and add its name to workload.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "core/json.h"
#include "devices/group.h"
#include "training/engine/graph.h"
#include "training/engine/lane.h"
#include "training/engine/model_part.h"
#include "training/optimizers/optimizer.h"
#include "training/sources/random.h"

namespace bench::training {

/// An optimizer's options by the keys of MLPerf's log, without learning rates:
/// {"opt_name": "adamw", "opt_adamw_beta_1": 0.9, ...}
Json mllog_options(const AdamwOptions& options);
Json mllog_options(const SgdOptions& options);

class PictureSource;

/// The data of a training: generated samples or files, and their number.
struct DataChoice {
  std::vector<std::filesystem::path> train = {};  // empty: samples are generated
  std::vector<std::filesystem::path> evaluation = {};
  int vocabulary = 0;           // of tokens; 0: from the files
  std::int64_t table_rows = 0;  // per table of click logs; 0: from files or preset
  std::uint64_t samples = 0;    // number of distinct training samples; 0: all
  /// Folder that keeps generated files for later runs; empty: none, they last as long as the run.
  std::filesystem::path cache = {};
  /// Opens picture files, for whoever can decode them; absent: nobody can.
  std::function<std::unique_ptr<PictureSource>(const DataChoice&)> open_pictures = {};

  bool from_files() const { return !train.empty(); }
  /// Whether training samples repeat in epochs.
  bool is_finite() const { return from_files() || samples > 0; }
};

struct LlmShape;
class Rollouts;
class SparseTables;

/// The training settings of a preset. A schedule never depends on the training's progress; a run
/// ends at its horizon, or at the first evaluation that meets the target.
struct Recipe {
  std::int64_t batch = 0;    // samples of a step, over all ranks
  std::int64_t horizon = 0;  // steps
  Schedule schedule = {};
  double clip = 0.0;  // largest gradient norm, 0: unlimited
  /// The gap at or below which a run has converged; none for data with an unknown floor.
  std::optional<double> target = 0.0;
  std::int64_t evaluation_every = 0;    // steps
  std::int64_t evaluation_samples = 0;  // the first ones of the evaluation split
  // Most samples that a lane processes at once, on a CPU and on a GPU; 0: all of its part.
  std::int64_t micro_batch = 0, device_micro_batch = 0;
  std::string target_source = {};  // how the target was found; "" if it is provisional
};

/// Of a larger preset, whose target is still to be found: a cosine of this peak, warm-up and floor
/// over the whole horizon, gradients clipped at 1, evaluations on 1024 samples every fortieth of
/// the horizon, one sample at once.
Recipe large_recipe(std::int64_t batch, std::int64_t horizon, Schedule schedule);

/// Quality of a model on the evaluation samples: the gap to the best that any model can reach on
/// these samples; lower is better, and 0 is perfect. For data with an unknown law
/// (Workload::knows_floor) it is the gap to a bound that no model can pass: no loss, an AUC of 1.
struct Quality {
  double gap = 0.0;
  double native = 0.0;                                     // the usual metric: nats per token, AUC
  double floor = 0.0;                                      // the native value of a gap of 0
  std::vector<std::pair<std::string, double>> parts = {};  // by name
};

/// Accumulates the quality over evaluation samples, on one rank.
class Evaluation {
 public:
  virtual ~Evaluation() = default;
  /// Counts the first `count` samples of a micro-batch after forward(); `first` is the number of
  /// the first one. One thread at a time.
  virtual void add(const Lane& lane, std::uint64_t first, std::int64_t count) = 0;
  /// Over the samples of all ranks. Call on every rank; all get the same result.
  virtual Quality finish(Group& group) = 0;
};

class Workload {
 public:
  virtual ~Workload() = default;
  virtual std::string name() const = 0;    // "llm"
  virtual std::string preset() const = 0;  // "tiny"
  virtual const Recipe& recipe() const = 0;

  /// What throughput counts, "token" or "sample", and how many a sample is.
  virtual std::string item() const = 0;
  virtual std::int64_t items_per_sample() const = 0;
  /// Forward and backward, by the convention of MFU (docs/training.md).
  virtual double flops_per_sample() const = 0;

  virtual Model model(std::int64_t samples, Dtype dtype, bool recompute) const = 0;
  /// The part of the model that one rank has. Throws Error(input) for a part that is not the whole
  /// if the workload cannot be divided, or not so.
  virtual Model model_part(const ModelPart& part, std::int64_t samples, Dtype dtype,
                           bool recompute) const;
  /// The model whose evaluation judges the base of a workload that adapts one, before it is
  /// adapted: its parameters are those of the base.
  virtual Model unadapted_model(std::int64_t samples, Dtype dtype, bool recompute) const {
    return model(samples, dtype, recompute);
  }
  virtual std::unique_ptr<Optimizer> optimizer() const = 0;
  /// mllog_options() of the dense parameters, and options that depend on the workload.
  virtual Json optimizer_options() const { return Json::object(); }
  /// Key by which MLPerf's log has the native metric once more, for checks of the open division; ""
  /// if eval_accuracy suffices.
  virtual std::string metric_key() const { return ""; }
  /// What MLPerf's log counts as samples, of each sample: of a prompt its answers.
  virtual std::int64_t logged_samples() const { return 1; }
  /// Opens or generates what samples are read from, before the clock starts; otherwise the
  /// first read() does.
  virtual void prepare() const {}
  /// Writes samples first, first + 1, ... into the inputs of a micro-batch; thread-safe.
  virtual void read(Split split, std::uint64_t first, const Model& model,
                    const Lane& lane) const = 0;
  /// Of the data that read() would write for these samples; ranks compare it.
  virtual std::uint64_t checksum(Split split, std::uint64_t first, std::int64_t count) const = 0;
  /// Of what the source gives for one sample, whatever its number, where inputs have more than
  /// that; ranks find repeated samples by it. None: the inputs say it.
  virtual std::optional<std::uint64_t> source_hash(Split, std::uint64_t /*sample*/) const {
    return {};
  }
  virtual std::unique_ptr<Evaluation> evaluation(const Model& model) const = 0;

  /// {"kind": "files" or "generated", "files", "evaluation_files", "samples",
  /// "evaluation_samples"}; null if samples never repeat.
  virtual Json data() const { return nullptr; }
  /// Whether training samples repeat in epochs.
  virtual bool repeats() const { return false; }
  /// Whether a gap of 0 is the best attainable quality, and not only a bound.
  virtual bool knows_floor() const { return true; }

  /// Gaps of simpler models by name, as reference lines of the curve.
  virtual std::vector<std::pair<std::string, double>> baselines() const { return {}; }

  /// Of a language model whose parameters are those of make_llm(); null for others.
  virtual const LlmShape* llm_shape() const { return nullptr; }

  /// Whether it needs KernelSet::experts.
  virtual bool routes_to_experts() const { return false; }

  /// Parameters outside the graph, of which a step touches a few rows; null if there are none.
  virtual SparseTables* tables() { return nullptr; }
  /// Answers that the model generates to train on them; null if samples do not depend on it.
  virtual Rollouts* rollouts() { return nullptr; }
  virtual const Rollouts* rollouts() const { return nullptr; }
};

/// `sequence`: tokens of a sample, 0 for the preset's. Throws Error(input) for an unknown name or
/// preset, listing the known ones, for a sequence if the workload has none, and like the sources
/// for `data`.
std::unique_ptr<Workload> make_workload(const std::string& name, const std::string& preset,
                                        std::uint64_t seed, std::int64_t sequence = 0,
                                        const DataChoice& data = {});
/// The workload that pretrains the model which this one adapts, on the same length of sequences;
/// null if the workload trains from initial values. Throws like make_workload().
std::unique_ptr<Workload> make_base_workload(const std::string& name, const std::string& preset,
                                             std::int64_t sequence = 0);
std::vector<std::string> workload_names();

}  // namespace bench::training
