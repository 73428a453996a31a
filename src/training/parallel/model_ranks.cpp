#include "training/parallel/model_ranks.h"

#include <fmt/format.h>

#include <span>

#include "core/error.h"
#include "devices/collectives.h"

namespace bench::training {
namespace {

/// Over the messages of the ranks of one model. Where the last stage sends to the first one, two
/// stages may send each other activations and gradients, in any order: those go through `back`.
class MessageLinks final : public StageLinks {
 public:
  MessageLinks(Group& model, Group& back, const ModelPart& part)
      : activations_(*model.collectives()),
        gradients_(*back.collectives()),
        next_((model.rank() + part.tensor_ranks * part.context.ranks) % model.size()),
        previous_((model.rank() + model.size() - part.tensor_ranks * part.context.ranks) %
                  model.size()) {}

  void send_to_next(View x) override { activations_.send(bytes_of(x), next_); }
  void receive_from_previous(View x) override { activations_.receive(bytes_of(x), previous_); }
  void send_to_previous(View x) override { gradients_.send(bytes_of(x), previous_); }
  void receive_from_next(View x) override { gradients_.receive(bytes_of(x), next_); }

 private:
  Collectives& activations_;
  Collectives& gradients_;
  int next_, previous_;
};

}  // namespace

int copies_of_model(const ModelSplit& split, int ranks) {
  const int of_model = split.ranks_of_model();
  if (ranks % of_model != 0)
    throw Error(
        ErrorKind::input,
        fmt::format(
            "{} ranks cannot hold models divided over tp {} x cp {} x pp {} x ep {} = {} ranks",
            ranks, split.tensor, split.context, split.pipeline, split.expert, of_model),
        fmt::format("use a multiple of {} ranks", of_model));
  return ranks / of_model * split.expert;
}

ModelPart part_of_rank(const ModelSplit& split, int rank, int ranks) {
  const int copies = copies_of_model(split, ranks);
  ModelPart part;
  part.tensor_rank = rank % split.tensor;
  part.tensor_ranks = split.tensor;
  part.context = {rank / split.tensor % split.context, split.context};
  part.stage = rank / split.tensor / split.context / copies;
  part.stages = split.pipeline;
  part.chunks = split.chunks;
  part.sequence_parallel = split.sequence_parallel && split.tensor > 1;
  const int copy = rank / split.tensor / split.context % copies;
  part.expert_rank = copy % split.expert;
  part.expert_ranks = split.expert;
  if (!split.shard_parameters) return part;
  part.shards = copies * split.context;
  part.shard = rank / split.tensor % part.shards;
  part.keep_gathered = split.keep_gathered;
  return part;
}

ModelRanks::ModelRanks(Group& all, const ModelSplit& split)
    : all_(all), part_(part_of_rank(split, all.rank(), all.size())) {
  if (part_.is_whole()) {
    model_ = make_self_group();
    tensor_ = make_self_group();
    context_ = make_self_group();
    experts_ = make_self_group();
    return;
  }
  if (Collectives* collectives = all.collectives();
      collectives == nullptr || !collectives->sends_messages())
    throw Error(ErrorKind::environment,
                fmt::format("ranks joined by {} cannot divide a model", all.library()),
                "start the ranks over MPI, or train whole models");
  const int copy = all.rank() / split.tensor / split.context % copies_of_model(split, all.size());
  const int place = part_.stage * split.tensor + part_.tensor_rank;
  data_ = all.subgroup(place);
  model_ = all.subgroup(copy);
  tensor_ = model_->subgroup(part_.stage * split.context + part_.context.rank);
  context_ = model_->subgroup(place);
  experts_ = data_->subgroup(copy / split.expert * split.context + part_.context.rank);
  if (split.shard_parameters) replicas_ = make_self_group();
  if (split.expert > 1) replicas_ = data_->subgroup(part_.expert_rank);
  if (split.chunks > 1) back_ = all.subgroup(copy);
  if (split.pipeline > 1)
    links_ = std::make_unique<MessageLinks>(*model_, back_ ? *back_ : *model_, part_);
}

}  // namespace bench::training
