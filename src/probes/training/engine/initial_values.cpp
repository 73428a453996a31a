#include "probes/training/engine/initial_values.h"

#include "probes/training/kernels/functors/portable.h"
#include "probes/training/sources/random.h"

namespace bench::training {
namespace {

/// FNV-1a: a name's own stream of random numbers.
std::uint64_t name_hash(std::string_view name) {
  std::uint64_t hash = 0xcbf29ce484222325;
  for (const char c : name) hash = (hash ^ static_cast<unsigned char>(c)) * 0x100000001b3;
  return hash;
}

template <class T>
T as(double value) {
  return static_cast<T>(value);
}
template <>
Bf16 as(double value) {
  return Bf16(static_cast<float>(value));  // the same numbers as in f32, rounded
}
template <>
F16 as(double value) {
  return F16(static_cast<float>(value));
}

template <class T>
void fill(const Initial& initial, RandomStream stream, std::int64_t first, View values) {
  for (std::int64_t i = 0; i < values.elements(); ++i)
    values.as<T>()[i] =
        as<T>(initial.kind == Initial::Kind::constant
                  ? initial.value
                  : initial.value * normal(stream, static_cast<std::uint64_t>(first + i)));
}

}  // namespace

void fill_initial(const Initial& initial, std::uint64_t seed, std::string_view name,
                  std::int64_t first, View values) {
  const RandomStream stream = random_stream(seed, name_hash(name));
  if (values.dtype == Dtype::f64)
    fill<double>(initial, stream, first, values);
  else if (values.dtype == Dtype::bf16)
    fill<Bf16>(initial, stream, first, values);
  else if (values.dtype == Dtype::f16)
    fill<F16>(initial, stream, first, values);
  else
    fill<float>(initial, stream, first, values);
}

}  // namespace bench::training
