// How the ranks of a training share its model and its samples: `tp` neighbouring ranks divide
// matrices, `cp` ranks the tokens of each sample, `pp` stages (of `vp` chunks) divide layers, and
// what is left are data-parallel copies of the model, each with other samples. Of these, `ep`
// neighbours divide the experts: each has some of them, and a copy of everything else. Rank =
// ((stage x copies + copy) x cp + context rank) x tp + tensor rank, the order of Megatron-LM: ranks
// that exchange most are closest.
#pragma once

#include <memory>

#include "devices/group.h"
#include "training/engine/model_part.h"
#include "training/engine/pipeline.h"

namespace bench::training {

struct ModelSplit {
  int tensor = 1;    // tp
  int pipeline = 1;  // pp
  PipelineSchedule schedule = PipelineSchedule::one_forward_one_backward;
  bool sequence_parallel = false;  // needs tensor > 1
  /// Copies share parameters, gradients and optimizer state: each has a shard of them, and gathers
  /// parameters for a pass (ZeRO-2: for both together, ZeRO-3: for each).
  bool shard_parameters = false;
  bool keep_gathered = false;
  int context = 1;  // cp
  int chunks = 1;   // vp: of each stage
  int expert = 1;   // ep

  int ranks_of_model() const { return tensor * context * pipeline * expert; }
  /// Whether ranks need each other within a pass.
  bool divides_model() const { return ranks_of_model() > 1 || shard_parameters; }
};

/// How many copies of a model so many ranks hold, of which each `ep` neighbours share one set of
/// experts. Throws Error(input) if the ranks are not a multiple of those of a model.
int copies_of_model(const ModelSplit& split, int ranks);
/// The part that one of them has. Throws like copies_of_model().
ModelPart part_of_rank(const ModelSplit& split, int rank, int ranks);

class ModelRanks {
 public:
  /// `all` must outlive this object. Call on every rank. Throws like copies_of_model(), and
  /// Error(environment) if a model is divided over ranks that cannot exchange its parts.
  ModelRanks(Group& all, const ModelSplit& split);
  ModelRanks(const ModelRanks&) = delete;
  ModelRanks& operator=(const ModelRanks&) = delete;

  const ModelPart& part() const { return part_; }
  /// Which copy of the model this rank belongs to, and how many there are.
  int copy() const { return copy_of(data().rank()); }
  int copies() const { return data().size() / part_.context.ranks; }
  /// That of a rank of data().
  int copy_of(int data_rank) const { return data_rank / part_.context.ranks; }
  /// Whether losses of this rank count: each token's on one rank of a copy's last stage.
  bool counts_losses() const { return part_.is_last_stage() && part_.tensor_rank == 0; }

  Group& all() const { return all_; }
  /// The ranks that have the same part of the model: of other copies, and those with other tokens
  /// of the same samples, by copy and then context rank.
  Group& data() const { return data_ ? *data_ : all_; }
  /// Those of them that also have the same parameters: this rank alone if copies have shards; not
  /// those with other experts.
  Group& replicas() const { return replicas_ ? *replicas_ : data(); }
  /// The ranks of this copy, by stage, context rank and tensor rank; this rank alone if it has a
  /// whole model.
  Group& model() const { return *model_; }
  /// The ranks of this copy and stage that have the same tokens.
  Group& tensor() const { return *tensor_; }
  /// The ranks of this copy with the same part of the model and other tokens.
  Group& context() const { return *context_; }
  /// The ranks of neighbouring copies that together have all experts, in the order of their parts.
  Group& experts() const { return *experts_; }
  /// To the neighbouring stages; null without a pipeline.
  StageLinks* links() const { return links_.get(); }

 private:
  Group& all_;
  ModelPart part_;
  std::unique_ptr<Group> data_, model_, tensor_, context_, experts_, replicas_;
  std::unique_ptr<Group> back_;  // model() once more, for gradients between stages of chunks
  std::unique_ptr<StageLinks> links_;
};

}  // namespace bench::training
