#include "probes/data/loader/batch_check.h"

namespace bench::data {

std::uint64_t wrong_in_batch(const Pipeline& pipeline, const Loader& loader, const Batch& batch) {
  const auto worker = pipeline.worker();
  const auto places = loader.places(batch.number);
  std::vector<std::byte> bytes(batch.data.size());
  std::vector<std::int64_t> labels(batch.labels.size());
  std::vector<std::uint64_t> samples;
  for (const SamplePlace& place : places) samples.push_back(place.sample);
  Effort effort;
  StageClock clock;
  clock.begin(effort);
  worker->make(places.front().epoch, samples, {bytes, labels}, clock);
  std::uint64_t wrong = 0;
  for (std::size_t i = 0; i < bytes.size(); ++i) wrong += bytes[i] != batch.data[i] ? 1 : 0;
  for (std::size_t i = 0; i < labels.size(); ++i) wrong += labels[i] != batch.labels[i] ? 1 : 0;
  return wrong;
}

}  // namespace bench::data
