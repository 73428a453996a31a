// How one thread streams an array through a few buffers: the kernel that copies in bulk, and its
// test on the host.
#pragma once

#include <cstddef>

namespace bench {

/// The chunks of block `block` of `blocks`: block, block + blocks, ... below `chunks`.
constexpr std::size_t chunks_of_block(std::size_t chunks, std::size_t blocks, std::size_t block) {
  return block < chunks ? (chunks - block + blocks - 1) / blocks : 0;
}

/// Copies `count` chunks through `buffers` buffers, half of them being filled while the others are
/// emptied. The engine works on its own; chunk i uses buffer i % buffers:
///     load(i)         starts to fill the buffer of chunk i
///     arrived(i)      waits until it is full
///     store(i)        starts to empty it
///     emptied_but<n>  waits until at most the last n stores have not read their buffer
#ifdef __CUDACC__
#pragma nv_exec_check_disable
#endif
template <std::size_t buffers, class Engine>
constexpr void copy_chunks(Engine& engine, std::size_t count) {
  constexpr std::size_t kAhead = buffers / 2;
  static_assert(kAhead > 0 && buffers % 2 == 0);
  for (std::size_t i = 0; i < kAhead && i < count; ++i) engine.load(i);
  for (std::size_t i = 0; i < count; ++i) {
    if (i + kAhead < count) {
      engine.template emptied_but<buffers - kAhead - 1>();
      engine.load(i + kAhead);
    }
    engine.arrived(i);
    engine.store(i);
  }
  engine.template emptied_but<0>();
}

}  // namespace bench
