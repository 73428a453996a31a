// The backward pass of attention: blocks of keys outside, queries inside, so that the gradients of
// a block of keys and values are summed in one place; probabilities are recomputed from log_sum.
#pragma once

#include "probes/training/backends/host/attention_host.h"

namespace bench::training::BENCH_ISA {

template <class T>
void Attention<T>::backward(const AttentionShape& shape, const AttentionBackward& what) {
  sum_rows(shape, what);
  const HeadOf<T> heads{shape};
  const Index group = shape.heads / shape.kv_heads;
  const Index padded = round_up<T>(shape.head_dim);
  for (Index s = 0; s < what.packed.rows / shape.sequence; ++s)
    for (Index kv = 0; kv < shape.kv_heads; ++kv) {
      held_ = -1;
      for (Index k0 = 0; k0 < shape.sequence; k0 += kKeyBlock) {
        hold(shape, heads.key(what.packed.as<T>(), s, kv), heads.value(what.packed.as<T>(), s, kv),
             k0);
        turn(values_, shape.head_dim, values_turned_);
        std::memset(key_gradient_, 0, sizeof(T) * static_cast<std::size_t>(kKeyBlock * padded));
        std::memset(value_gradient_, 0, sizeof(T) * static_cast<std::size_t>(kKeyBlock * padded));
        for (Index h = kv * group; h < (kv + 1) * group; ++h) backward_block(shape, what, s, h, k0);
        put_key_gradients(shape, what, s, kv, k0);
      }
    }
}

/// workspace = row sums of output x output_gradient by head, shared by the rows of the softmax.
template <class T>
void Attention<T>::sum_rows(const AttentionShape& shape, const AttentionBackward& what) {
  for (Index i = 0; i < what.packed.rows; ++i)
    for (Index h = 0; h < shape.heads; ++h) {
      const Index at = i * what.output.columns + h * shape.head_dim;
      const T *o = what.output.as<T>() + at, *g = what.output_gradient.as<T>() + at;
      what.workspace.as<T>()[i * shape.heads + h] =
          row_sum<T>(shape.head_dim, [=](auto lane) { return lane(o) * lane(g); });
    }
}

template <class T>
void Attention<T>::backward_block(const AttentionShape& shape, const AttentionBackward& what,
                                  Index sequence, Index head, Index k0) {
  const HeadOf<T> heads{shape};
  const Index padded = round_up<T>(shape.head_dim), dim = shape.head_dim;
  const Index wide = what.output.columns, row = sequence * shape.sequence;
  const Head<T> upper{what.output_gradient.as<T>() + row * wide + head * dim, wide, false};
  T* gradient = what.packed_gradient.as<T>() + heads.at(sequence, head);
  const T scale = scale_of(shape);
  for (Index q0 = shape.causal ? k0 / kQueryBlock * kQueryBlock : 0; q0 < shape.sequence;
       q0 += kQueryBlock) {
    const Index count = std::min(kQueryBlock, shape.sequence - q0);
    copy_rows(heads.query(what.packed.as<T>(), sequence, head), q0, count, kQueryBlock, dim, scale,
              queries_);
    copy_rows(upper, q0, count, kQueryBlock, dim, T{1}, upper_);
    const Index at = (row + q0) * shape.heads + head;
    const bool add = what.add || k0 > 0;  // every query starts with the first block of keys
    for (Index r = 0; r < count; r += kQueryStrip) {
      T* strip = result_ + r * padded;
      std::memset(strip, 0, sizeof(T) * static_cast<std::size_t>(kQueryStrip * padded));
      backward_strip(shape, q0, r, k0, what.log_sum.as<T>() + at, what.workspace.as<T>() + at,
                     padded);
    }
    for (Index i = 0; i < count; ++i) {
      T* to = gradient + (q0 + i) * heads.width;
      for (Index d = 0; d < dim; ++d) to[d] = (add ? to[d] : T{}) + scale * result_[i * padded + d];
    }
  }
}

template <class T>
void Attention<T>::backward_strip(const AttentionShape& shape, Index q0, Index r, Index k0,
                                  const T* log_sum, const T* row_sums, Index padded) {
  const Index width = round_up<T>(visible(shape, q0 + r + kQueryStrip - 1, k0));
  if (width == 0) return;
  const Operand<T> query{queries_ + r * padded, padded}, upper{upper_ + r * padded, padded};
  block_product<T, false>(kQueryStrip, width, shape.head_dim, query, {keys_turned_, kKeyBlock},
                          {nullptr, 0, nullptr}, scores_, kKeyBlock);
  block_product<T, false>(kQueryStrip, width, shape.head_dim, upper, {values_turned_, kKeyBlock},
                          {nullptr, 0, nullptr}, slopes_, kKeyBlock);
  for (Index i = 0; i < kQueryStrip; ++i) {
    T *p = scores_ + i * kKeyBlock, *d = slopes_ + i * kKeyBlock;
    const bool there = q0 + r + i < shape.sequence;
    const Index seen = there ? visible(shape, q0 + r + i, k0) : 0;
    const T log_of = there ? log_sum[(r + i) * shape.heads] : T{};
    const T shared = there ? row_sums[(r + i) * shape.heads] : T{};
    for (Index j = 0; j < width; j += kWidth<T>) {
      const Vec<T> s = first_lanes<T>(load<T>(p + j), seen - j, T{-1e30});
      const Vec<T> probability = exponential(s - log_of);
      store<T>(p + j, probability);
      store<T>(d + j, probability * (load<T>(d + j) - shared));
    }
  }
  T* result = result_ + r * padded;
  const Operand<T> share{scores_, kKeyBlock}, slope{slopes_, kKeyBlock};
  block_product<T, false>(kQueryStrip, padded, width, slope, {keys_, padded},
                          {result, padded, nullptr}, result, padded);
  block_product<T, true>(width, padded, kQueryStrip, slope, query, {key_gradient_, padded, nullptr},
                         key_gradient_, padded);
  block_product<T, true>(width, padded, kQueryStrip, share, upper,
                         {value_gradient_, padded, nullptr}, value_gradient_, padded);
}

template <class T>
void Attention<T>::put_key_gradients(const AttentionShape& shape, const AttentionBackward& what,
                                     Index sequence, Index kv, Index k0) {
  const HeadOf<T> heads{shape};
  const Index padded = round_up<T>(shape.head_dim);
  const Index count = std::min(kKeyBlock, shape.sequence - k0);
  const auto put = [&](Head<T> head, Index position, const T* from) {
    const T* row = head.row(position);
    if (!row) return;
    T* to = what.packed_gradient.as<T>() + (row - what.packed.as<T>());
    for (Index d = 0; d < shape.head_dim; ++d)
      to[d] = (what.add ? to[d] : T{}) + (from ? from[d] : T{});
  };
  Head<T> key = heads.key(what.packed.as<T>(), sequence, kv);
  const Head<T> value = heads.value(what.packed.as<T>(), sequence, kv);
  for (Index j = 0; j < count; ++j) {
    put(key, k0 + j, key_gradient_ + j * padded);
    put(value, k0 + j, value_gradient_ + j * padded);
  }
  // No query sees the last key of a shifted head.
  const bool last = k0 + count == shape.sequence;
  if (!last || !key.shifted) return;
  key.shifted = false;
  put(key, shape.sequence - 1, nullptr);
}

}  // namespace bench::training::BENCH_ISA
