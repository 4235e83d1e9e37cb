// Jacobi's methods, in place: eigenvalues of symmetric matrices, and rotations that make the rows
// of a matrix orthogonal (its singular value decomposition). Both are in float64. Batches are
// independent.
#include "ir/ops/index_math.h"
#include "ir/ops/loop_marker.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows jacobi_ops();
namespace {

constexpr int64_t kMostSweeps = 30;  // convergence is quadratic: large matrices take half of them

Index leading_sizes(const TensorType& t) { return {t.sizes.begin(), t.sizes.end() - 2}; }

// A sweep meets every pair of rows once, in rounds of pairs that have no row in common: a
// tournament of `size` players, where an odd one sits out. The pairs of a round rotate
// independently, by the angles that one kernel finds and others apply.
struct Sweeps {
  Sweeps(Lowering& l, const Node& n)
      : l(l),
        n(n),
        batch(leading_sizes(input_type(n))),
        size(input_type(n).sizes[input_type(n).rank() - 2]),
        even(size + mod(size, Sym(2))),
        pairs(floordiv(even, Sym(2))),
        round(new_symbol(l, temp_name(l, n, "round"))) {
    Index per_pair = batch;
    per_pair.push_back(pairs);
    cosine = l.temp(temp_name(l, n, "cosine"), DType::Float64, per_pair);
    sine = l.temp(temp_name(l, n, "sine"), DType::Float64, per_pair);
    taken = l.temp(temp_name(l, n, "taken"), DType::Int64, per_pair);
    count = l.temp(temp_name(l, n, "sweeps"), DType::Int64, {});
    more = l.temp(temp_name(l, n, "more"), DType::Int64, {});
  }
  Lowering& l;
  const Node& n;
  Index batch;
  Sym size, even, pairs, round;
  loops::BufferId cosine, sine;  // of the pairs of this round
  loops::BufferId taken;         // by each place of the rounds, the rotations of this sweep
  loops::BufferId count, more;   // sweeps so far; whether there is another
};

void store_number(const Sweeps& s, loops::BufferId to, const Index& sizes) {
  KernelBuilder k(s.l, s.l.unique_kernel_name("start"));
  k.store(to, k.axes(sizes), k.constant(int64_t{0}, DType::Int64));
  s.l.finish(k, s.n);
}

// Whether a sweep took a rotation and another one is allowed, as a symbol.
Sym another_sweep(const Sweeps& s) {
  KernelBuilder k(s.l, s.l.unique_kernel_name("more_sweeps"));
  Index all = s.batch;
  all.push_back(s.pairs);
  int most = k.accumulate(Prim::maximum, k.load(s.taken, k.inner_axes(all)));
  k.begin_phase();
  E done = k.load(s.count, {}) + 1.0;
  k.store(s.count, {}, done);
  E more = (k.result(most) > 0.0) && (done < static_cast<double>(kMostSweeps));
  k.store(s.more, {}, cast(more, DType::Int64));
  s.l.finish(k, s.n);
  Sym symbol = new_symbol(s.l, temp_name(s.l, s.n, "again"));
  define_size(s.l, s.n, symbol, s.more);
  return symbol;
}

// Repeats the kernels that `play` appends, for each round, until a sweep takes no rotation.
void repeat_sweeps(const Sweeps& s, const std::function<void()>& play) {
  Index per_pair = s.batch;
  per_pair.push_back(s.pairs);
  store_number(s, s.count, {});
  emit_marker(s.l, s.n, Control::While);
  store_number(s, s.taken, per_pair);
  repeat_kernels(s.l, s.n, s.round, sym_max(s.even - 1, 0), play);
  emit_marker(s.l, s.n, Control::Test, another_sweep(s));
  emit_marker(s.l, s.n, Control::EndWhile);
}

// A pair of rows p < q of the round.
struct Pair {
  Sym p, q;
  E exists;
};

Pair pair_of(const Sweeps& s, KernelBuilder& k, const Sym& place) {
  E outer = k.index(place) == 0.0;
  E a = where(outer, k.index(s.even - 1), k.index(mod(s.round + place, s.even - 1)));
  E b = where(outer, k.index(s.round), k.index(mod(s.round - place + s.even - 1, s.even - 1)));
  E low = minimum(a, b), high = maximum(a, b);
  return {k.value_of(low), k.value_of(high), high < k.index(s.size)};
}

Index at_place(Index at, std::initializer_list<Sym> more) {
  at.insert(at.end(), more.begin(), more.end());
  return at;
}

// The rotation that takes `product` to 0, where `rotates`; none elsewhere.
void store_angle(const Sweeps& s, KernelBuilder& k, const Index& at, E p_square, E q_square,
                 E product, E rotates) {
  E theta = (q_square - p_square) / (where(rotates, product, 1.0) * 2.0);
  E size = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0));
  E tangent = where(theta < 0.0, -size, size), cosine = 1.0 / sqrt(tangent * tangent + 1.0);
  k.store(s.cosine, at, where(rotates, cosine, 1.0));
  k.store(s.sine, at, where(rotates, cosine * tangent, 0.0));
  k.store(s.taken, at, k.load(s.taken, at) + cast(rotates, DType::Int64));
}

enum class Pairs : uint8_t { Rows, Columns };

// Rotates the pairs of rows, or of columns, which have `length` elements each. With `annihilates`,
// what the angle takes to 0 becomes exactly 0.
void rotate(const Sweeps& s, loops::BufferId buffer, Pairs what, const Sym& length,
            bool annihilates = false) {
  KernelBuilder k(s.l, s.l.unique_kernel_name("rotate"));
  bool rows = what == Pairs::Rows;
  Index b = k.axes(s.batch);
  // Neighbours in memory come last.
  Sym outer = k.axis(rows ? s.pairs : length), inner = k.axis(rows ? length : s.pairs);
  Sym place = rows ? outer : inner, line = rows ? inner : outer;
  Pair pair = pair_of(s, k, place);
  E none = k.constant(0.0, DType::Float64);
  E sine = k.load(s.sine, at_place(b, {place}), pair.exists, none);
  E on = pair.exists && (sine != 0.0);
  E cosine = k.load(s.cosine, at_place(b, {place}), on, none);
  auto at = [&](const Sym& i) { return rows ? at_place(b, {i, line}) : at_place(b, {line, i}); };
  E x = k.load(buffer, at(pair.p), on, none), y = k.load(buffer, at(pair.q), on, none);
  E new_p = cosine * x - sine * y, new_q = sine * x + cosine * y;
  if (annihilates) {
    new_p = where(k.index(line) == k.index(pair.q), 0.0, new_p);
    new_q = where(k.index(line) == k.index(pair.p), 0.0, new_q);
  }
  k.store(buffer, at(pair.p), new_p, on);
  k.store(buffer, at(pair.q), new_q, on);
  s.l.finish(k, s.n);
}

// A copy of argument 0, and the identity.
void store_start(const Sweeps& s, loops::BufferId a, loops::BufferId v) {
  KernelBuilder copy(s.l, s.l.unique_kernel_name("copy"));
  Index at = copy.axes(input_type(s.n).sizes);
  copy.store(a, at, s.l.load(copy, self_of(s.n), at));
  s.l.finish(copy, s.n);
  KernelBuilder k(s.l, s.l.unique_kernel_name("identity"));
  Index b = k.axes(s.batch);
  Sym i = k.axis(s.size), j = k.axis(s.size);
  k.store(v, at_place(b, {i, j}), cast(k.index(i) == k.index(j), DType::Float64));
  s.l.finish(k, s.n);
}

// ---- A = V^T D V: (D in the diagonal of a matrix, V), for symmetric A

Types eigen_types(const Node& n) {
  const TensorType& t = input_type(n);
  TensorType result = contiguous_type(DType::Float64, t.sizes, t.device);
  return {result, result};
}

loops::BufferId store_largest(const Sweeps& s) {
  loops::BufferId largest = s.l.temp(temp_name(s.l, s.n, "largest"), DType::Float64, s.batch);
  KernelBuilder k(s.l, s.l.unique_kernel_name("largest"));
  Index b = k.axes(s.batch);
  Sym i = k.inner_axis(s.size), j = k.inner_axis(s.size);
  int most = k.accumulate(Prim::maximum, abs(s.l.load(k, self_of(s.n), at_place(b, {i, j}))));
  k.begin_phase();
  k.store(largest, b, k.result(most));
  s.l.finish(k, s.n);
  return largest;
}

void find_eigen_angles(const Sweeps& s, loops::BufferId a, loops::BufferId largest) {
  KernelBuilder k(s.l, s.l.unique_kernel_name("angles"));
  Index b = k.axes(s.batch);
  Sym place = k.axis(s.pairs);
  Pair pair = pair_of(s, k, place);
  E none = k.constant(0.0, DType::Float64);
  auto at = [&](const Sym& i, const Sym& j) {
    return k.load(a, at_place(b, {i, j}), pair.exists, none);
  };
  E product = at(pair.p, pair.q), limit = k.load(largest, b) * double_arg(s.n, "tol");
  store_angle(s, k, at_place(b, {place}), at(pair.p, pair.p), at(pair.q, pair.q), product,
              pair.exists && (abs(product) > limit));
  s.l.finish(k, s.n);
}

void lower_eigen(Lowering& l, const Node& n) {
  Sweeps s(l, n);
  loops::BufferId a = l.output(n, 0), v = l.output(n, 1), largest = store_largest(s);
  store_start(s, a, v);
  repeat_sweeps(s, [&] {
    find_eigen_angles(s, a, largest);
    rotate(s, a, Pairs::Columns, s.size);
    rotate(s, a, Pairs::Rows, s.size, true);
    rotate(s, v, Pairs::Rows, s.size);
  });
}

// ---- B = V A with orthogonal rows, V orthogonal: (B, V)

Types orthogonal_types(const Node& n) {
  const TensorType& t = input_type(n);
  Index square = t.sizes;
  square.back() = square[square.size() - 2];
  return {contiguous_type(DType::Float64, t.sizes, t.device),
          contiguous_type(DType::Float64, square, t.device)};
}

// From the lengths of two rows and their product.
void find_row_angles(const Sweeps& s, loops::BufferId a, const Sym& columns) {
  KernelBuilder k(s.l, s.l.unique_kernel_name("angles"));
  Index b = k.axes(s.batch);
  Sym place = k.axis(s.pairs), i = k.inner_axis(columns);
  Pair pair = pair_of(s, k, place);
  E none = k.constant(0.0, DType::Float64);
  E x = k.load(a, at_place(b, {pair.p, i}), pair.exists, none),
    y = k.load(a, at_place(b, {pair.q, i}), pair.exists, none);
  int sums[] = {k.accumulate(Prim::add, x * x), k.accumulate(Prim::add, y * y),
                k.accumulate(Prim::add, x * y)};
  k.begin_phase();
  E p_square = k.result(sums[0]), q_square = k.result(sums[1]), product = k.result(sums[2]);
  E rotates = abs(product) > sqrt(p_square) * sqrt(q_square) * double_arg(s.n, "tol");
  store_angle(s, k, at_place(b, {place}), p_square, q_square, product, rotates);
  s.l.finish(k, s.n);
}

void lower_orthogonal(Lowering& l, const Node& n) {
  Sweeps s(l, n);
  const Sym& columns = input_type(n).sizes.back();
  loops::BufferId a = l.output(n, 0), v = l.output(n, 1);
  store_start(s, a, v);
  repeat_sweeps(s, [&] {
    find_row_angles(s, a, columns);
    rotate(s, a, Pairs::Rows, columns);
    rotate(s, v, Pairs::Rows, s.size);
  });
}

}  // namespace

Rows jacobi_ops() {
  return {
      loops_op("aotc.symmetric_eigen(Tensor A, float tol) -> (Tensor, Tensor)", LoopsKind::Scan,
               eigen_types, lower_eigen),
      loops_op("aotc.orthogonal_rows(Tensor A, float tol) -> (Tensor, Tensor)", LoopsKind::Scan,
               orthogonal_types, lower_orthogonal),
  };
}

}  // namespace aotc
