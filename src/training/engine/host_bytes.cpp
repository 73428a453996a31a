#include "training/engine/host_bytes.h"

namespace bench::training {

HostBytes::HostBytes(const NamedView& tensor, Holds holds) : tensor_(tensor) {
  if (!is_copy()) {
    bytes_ = {tensor.view.as<std::byte>(), byte_count(tensor)};
    return;
  }
  copy_.resize(byte_count(tensor));
  bytes_ = copy_;
  if (holds == Holds::contents)
    tensor.memory->download(tensor.view.data, copy_.data(),
                            static_cast<std::int64_t>(copy_.size()));
}

void HostBytes::write_back() const {
  if (is_copy())
    tensor_.memory->upload(copy_.data(), tensor_.view.data,
                           static_cast<std::int64_t>(copy_.size()));
}

}  // namespace bench::training
