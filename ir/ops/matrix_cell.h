// What rows share that change matrices in place: elements, batches, conditions.
#pragma once
#include "ir/ops/require.h"
#include "ir/ops/scalar_math.h"

namespace aotc {

inline Index batch_sizes(const TensorType& t) { return {t.sizes.begin(), t.sizes.end() - 2}; }

inline Index with(Index at, std::initializer_list<Sym> more) {
  at.insert(at.end(), more.begin(), more.end());
  return at;
}

inline void require_matrix(const Node& n, std::string_view arg) {
  require_rank(n, arg, 2);
  DType t = dtype_of(n, arg);
  require(n, t == DType::Float32 || t == DType::Float64,
          "'{}' is {}, expected float32 or float64; cast it first", arg, name(t));
}

// An element of a buffer that the kernel changes, read and written where a condition holds.
struct Cell {
  KernelBuilder& k;
  loops::BufferId buffer;
  Index at;
  E value(E when) const {
    DType t = k.lowering().program().buffers[static_cast<size_t>(buffer)].dtype;
    return k.load(buffer, at, when, k.constant(int64_t{0}, t));
  }
  void set(E v, E when) const { k.store(buffer, at, v, when); }
};

inline E equals(KernelBuilder& k, const Sym& a, const Sym& b) { return k.index(a) == k.index(b); }

}  // namespace aotc
