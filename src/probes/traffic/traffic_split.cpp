#include "probes/traffic/traffic_split.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "core/error.h"
#include "core/text.h"

namespace bench {

TrafficPlace traffic_place(const TrafficSplit& split, int rank, int ranks) {
  const int of_copy = split.ranks_of_copy();
  if (ranks % of_copy != 0)
    throw Error(ErrorKind::input,
                fmt::format("{} ranks are not a multiple of tp {} x cp {} x pp {} = {} ranks",
                            ranks, split.tensor, split.context, split.pipeline, of_copy),
                fmt::format("use a multiple of {} ranks", of_copy));
  TrafficPlace place{.rank = rank, .ranks = ranks, .copies = ranks / of_copy};
  if (place.copies * split.context % split.expert != 0)
    throw Error(ErrorKind::input,
                fmt::format("experts cannot be divided by ep {} over dp {} x cp {} ranks",
                            split.expert, place.copies, split.context),
                "use an ep that divides dp x cp");
  place.tensor = rank % split.tensor;
  place.context = rank / split.tensor % split.context;
  place.copy = rank / split.tensor / split.context % place.copies;
  place.stage = rank / split.tensor / split.context / place.copies;
  return place;
}

int group_size(TrafficGroup group, const TrafficSplit& split, const TrafficPlace& place) {
  const int token_ranks = place.copies * split.context;
  switch (group) {
    case TrafficGroup::all:
      return place.ranks;
    case TrafficGroup::tensor:
      return split.tensor;
    case TrafficGroup::pipeline:
      return split.pipeline;
    case TrafficGroup::data:
      return token_ranks;
    case TrafficGroup::context:
      return split.context;
    case TrafficGroup::expert:
      return split.expert;
    case TrafficGroup::expert_data:
      return token_ranks / split.expert;
  }
  return 1;
}

int group_number(TrafficGroup group, const TrafficSplit& split, const TrafficPlace& place) {
  const int token_rank = place.token_rank(split);
  const int part = place.stage * split.tensor + place.tensor;  // of the model
  switch (group) {
    case TrafficGroup::all:
      return 0;
    case TrafficGroup::tensor:
      return place.rank / split.tensor;
    case TrafficGroup::pipeline:
      return token_rank * split.tensor + place.tensor;
    case TrafficGroup::data:
      return part;
    case TrafficGroup::context:
      return part * place.copies + place.copy;
    case TrafficGroup::expert:
      return part * place.ranks + token_rank / split.expert;
    case TrafficGroup::expert_data:
      return part * place.ranks + token_rank % split.expert;
  }
  return 0;
}

int rank_in_group(TrafficGroup group, const TrafficSplit& split, const TrafficPlace& place) {
  const int token_rank = place.token_rank(split);
  switch (group) {
    case TrafficGroup::all:
      return place.rank;
    case TrafficGroup::tensor:
      return place.tensor;
    case TrafficGroup::pipeline:
      return place.stage;
    case TrafficGroup::data:
      return token_rank;
    case TrafficGroup::context:
      return place.context;
    case TrafficGroup::expert:
      return token_rank % split.expert;
    case TrafficGroup::expert_data:
      return token_rank / split.expert;
  }
  return 0;
}

std::string split_text(const TrafficSplit& split, int copies) {
  std::vector<std::string> words;
  const auto add = [&](const char* key, int value) {
    if (value > 1) words.push_back(fmt::format("{}={}", key, value));
  };
  add("tp", split.tensor);
  if (split.sequence_parallel && split.tensor > 1) words.emplace_back("sp=1");
  add("cp", split.context);
  add("pp", split.pipeline);
  add("dp", copies);
  add("ep", split.expert);
  if (split.zero > 0) words.push_back(fmt::format("zero={}", split.zero));
  if (split.pipeline > 1) words.emplace_back(training::to_string(split.schedule));
  return join(words, ",");
}

}  // namespace bench
