#include "training/parallel/error_feedback.h"

#include "core/error.h"
#include "devices/collectives.h"
#include "devices/host_clock.h"

namespace bench::training {
namespace {

Group& with_collectives(Group& group) {
  if (group.collectives() == nullptr)
    throw Error(ErrorKind::environment, no_collectives(group),
                "train with one rank or start the ranks over MPI");
  return group;
}

}  // namespace

ErrorFeedback::ErrorFeedback(Replica& replica, Group& group, const ExchangeMethod& method,
                             std::int64_t bucket_bytes, SumOrder order)
    : replica_(replica),
      compressor_(make_compressor(
          method, {with_collectives(group), replica.kernels(), replica.pool(), bucket_bytes, order},
          row_tensors(replica.plan()), replica.gradients().dtype)),
      residual_(kept_bytes(method, replica.gradients().elements(), replica.gradients().dtype),
                "residual of the gradient exchange") {}

View ErrorFeedback::residual() const {
  const View row = replica_.gradients();
  return {residual_.data(), 1, row.elements(), row.dtype};
}

void ErrorFeedback::exchange() {
  const Seconds begin = steady_now();
  replica_.kernels().elementwise->add(replica_.gradients(), residual(), residual());
  compressor_->exchange(residual(), replica_.gradients());
  total_ = steady_now() - begin;
}

std::vector<NamedView> ErrorFeedback::state() const {
  std::vector<NamedView> state = {{"exchange/residual", residual(), nullptr}};
  for (const NamedView& of_compressor : compressor_->state())
    state.push_back({"exchange/" + of_compressor.name, of_compressor.view, nullptr});
  return state;
}

}  // namespace bench::training
