#include "probes/procedures/data_loader_transfer.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "core/order_statistics.h"
#include "probes/data/loader/rates.h"
#include "probes/data/loader/slots.h"
#include "probes/procedures/data_loader_series.h"

namespace bench {

Seconds Transfer::exposed_by(Seconds step) const {
  if (!uploads) return {};
  return overlapped && locked ? Seconds{std::max(0.0, time.value - step.value)} : time;
}

LoopStep Transfer::with(LoopStep step) const {
  step.uploads = uploads.get();
  step.overlapped = overlapped;
  return step;
}

Transfer make_transfer(State& state, const DataLoaderSetup& setup,
                       const data::LoaderOptions& options) {
  Transfer transfer;
  const std::string wish = state.text("transfer");
  if (wish == "none") return transfer;
  transfer.overlapped = wish == "overlapped";
  Copies* copies = state.device().copies();
  if (copies == nullptr) {
    transfer.reason = "the device shares host memory: no transfer needed";
    return transfer;
  }
  data::SlotsWish one;
  one.bytes = options.batch_size * setup.pipeline->sample_bytes();
  one.locked = options.pin_memory;
  one.copies = copies;
  UploadsOffer offer = copies->uploads(one.bytes);
  transfer.uploads = std::move(offer.uploads);
  transfer.reason = offer.reason;
  if (!transfer.uploads) return transfer;
  const data::Slots batch(one);
  transfer.locked = options.pin_memory && batch.obstacle().empty();
  const std::vector<double> seconds = data::transfer_times(*transfer.uploads, batch.data(0));
  transfer.time = {median(seconds)};
  state.values("transfer_time", seconds, loader_params(options));
  return transfer;
}

}  // namespace bench
