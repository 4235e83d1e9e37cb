// Jacobi's methods, as loops over the matrix in place: eigenvalues of symmetric matrices, and
// rotations that make the columns of a matrix orthogonal (its singular value decomposition). Both
// are in float64. Batches are independent.
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows jacobi_ops();
namespace {

constexpr int64_t kMostSweeps = 30;  // convergence is quadratic: even large matrices take half

Index leading_sizes(const TensorType& t) { return {t.sizes.begin(), t.sizes.end() - 2}; }

// What both methods share. A sweep meets every pair of columns once, in rounds of pairs that have
// no column in common (a tournament of `size` players, an odd one out where their number is odd).
// A round is a row of steps; each step visits all pairs. A sweep after one without a rotation does
// nothing.
class Tournament {
 public:
  Tournament(Lowering& l, const Node& n, KernelBuilder& k, const Sym& size, Index batch)
      : k_(k), batch_(std::move(batch)), even_(size + mod(size, Sym(2))) {
    Index sizes(batch_sizes(n));
    Index per_pair = sizes;
    per_pair.push_back(floordiv(even_, Sym(2)));
    cosine_ = l.temp(temp_name(l, n, "cosine"), DType::Float64, per_pair);
    sine_ = l.temp(temp_name(l, n, "sine"), DType::Float64, per_pair);
    before_ = l.temp(temp_name(l, n, "before"), DType::Int64, sizes);
    rotations_ = l.temp(temp_name(l, n, "rotations"), DType::Int64, sizes);
    size_ = size;
  }
  static Index batch_sizes(const Node& n) { return leading_sizes(input_type(n)); }

  void start() const {
    k_.store(rotations_, batch_, k_.constant(int64_t{1}, DType::Int64));
    k_.store(before_, batch_, k_.constant(int64_t{1}, DType::Int64));
  }

  // Opens the loops; step 0 is this class's own.
  void open(const Sym& steps) {
    k_.begin_phase(true);
    k_.inner_axis(kMostSweeps);
    Sym round = k_.inner_axis(sym_max(even_ - 1, 0));
    step = k_.inner_axis(steps);
    pair = k_.inner_axis(floordiv(even_, Sym(2)));
    E outer = k_.index(pair) == 0.0;
    E a = where(outer, k_.index(even_ - 1), k_.index(mod(round + pair, even_ - 1)));
    E b = where(outer, k_.index(round), k_.index(mod(round - pair + even_ - 1, even_ - 1)));
    E low = minimum(a, b), high = maximum(a, b);
    E opens = outer && (k_.index(step) == 0.0) && (k_.index(round) == 0.0);
    E now = k_.load(rotations_, batch_);
    k_.store(before_, batch_, now, opens);
    active = (k_.load(before_, batch_) > 0.0) && (high < k_.index(size_));
    k_.store(rotations_, batch_, like(now, 0), opens);
    p = k_.value_of(low);
    q = k_.value_of(high);
  }

  E at_step(const Sym& s) const { return active && (k_.index(step) == k_.index(s)); }
  E in_steps(const Sym& first, const Sym& end) const {
    return active && (k_.index(step) >= k_.index(first)) && (k_.index(step) < k_.index(end));
  }

  // Sets the rotation of the pair that takes `product` to 0, where `rotates`; none elsewhere.
  void set_angle(E p_square, E q_square, E product, E rotates, E on) const {
    E theta = (q_square - p_square) / (where(rotates, product, 1.0) * 2.0);
    E size = 1.0 / (abs(theta) + sqrt(theta * theta + 1.0));
    E tangent = where(theta < 0.0, -size, size), cosine = 1.0 / sqrt(tangent * tangent + 1.0);
    Index at = pair_index();
    k_.store(cosine_, at, where(rotates, cosine, 1.0), on);
    k_.store(sine_, at, where(rotates, cosine * tangent, 0.0), on);
    E count = k_.load(rotations_, batch_);
    k_.store(rotations_, batch_, count + cast(rotates, DType::Int64), on);
  }

  // Rotates the elements at two places of a buffer; `zero_p` and `zero_q` become exactly 0.
  void rotate(loops::BufferId buffer, const Index& at_p, const Index& at_q, E on, E zero_p = {},
              E zero_q = {}) const {
    E none = k_.constant(0.0, DType::Float64);
    E sine = k_.load(sine_, pair_index(), on, none);
    on = on && (sine != 0.0);
    E cosine = k_.load(cosine_, pair_index(), on, none);
    E x = k_.load(buffer, at_p, on, none), y = k_.load(buffer, at_q, on, none);
    E new_p = cosine * x - sine * y, new_q = sine * x + cosine * y;
    if (zero_p.k != nullptr) new_p = where(zero_p, 0.0, new_p);
    if (zero_q.k != nullptr) new_q = where(zero_q, 0.0, new_q);
    k_.store(buffer, at_p, new_p, on);
    k_.store(buffer, at_q, new_q, on);
  }

  Index pair_index() const { return with({pair}); }
  Index with(std::initializer_list<Sym> more) const {
    Index at = batch_;
    at.insert(at.end(), more.begin(), more.end());
    return at;
  }

  Sym step, pair, p, q;  // p < q, columns
  E active;              // this sweep is needed and the pair exists

 private:
  KernelBuilder& k_;
  Index batch_;
  Sym even_, size_;
  loops::BufferId cosine_, sine_, before_, rotations_;
};

// A buffer becomes the identity.
void store_identity(KernelBuilder& k, loops::BufferId v, const Index& b, const Sym& size) {
  k.begin_phase();
  Sym i = k.inner_axis(size), j = k.inner_axis(size);
  Index at = b;
  at.insert(at.end(), {i, j});
  k.store(v, at, cast(k.index(i) == k.index(j), DType::Float64));
}

// Copies A and yields the accumulator of its largest magnitude.
int store_matrix(Lowering& l, KernelBuilder& k, Value* self, loops::BufferId a, const Index& b) {
  const Index& sizes = self->type.sizes;
  k.begin_phase();
  Index at = b;
  at.push_back(k.inner_axis(sizes[sizes.size() - 2]));
  at.push_back(k.inner_axis(sizes.back()));
  E x = l.load(k, self, at);
  k.store(a, at, x);
  return k.accumulate(Prim::maximum, abs(x));
}

// ---- A = V D V^T: (D in the diagonal of a matrix, V), for symmetric A

Types eigen_types(const Node& n) {
  const TensorType& t = input_type(n);
  TensorType result = contiguous_type(DType::Float64, t.sizes, t.device);
  return {result, result};
}

void lower_eigen(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  const Sym& size = self->type.sizes.back();
  loops::BufferId a = l.output(n, 0), v = l.output(n, 1);
  KernelBuilder k(l, l.unique_kernel_name("symmetric_eigen"));
  Index b = k.axes(leading_sizes(self->type));
  Tournament t(l, n, k, size, b);
  t.start();
  int largest = store_matrix(l, k, self, a, b);
  store_identity(k, v, b, size);
  t.open(size * 2 + 2);
  // Step 1: angles. Then a step for each row of A and V, then one for each column of A.
  E none = k.constant(0.0, DType::Float64), on = t.at_step(1);
  auto at = [&](const Sym& i, const Sym& j) { return k.load(a, t.with({i, j}), on, none); };
  E product = at(t.p, t.q), limit = k.result(largest) * double_arg(n, "tol");
  t.set_angle(at(t.p, t.p), at(t.q, t.q), product, on && (abs(product) > limit), on);
  Sym row = t.step - 2, column = t.step - 2 - size;
  E rows = t.in_steps(2, size + 2), columns = t.in_steps(size + 2, size * 2 + 2);
  t.rotate(a, t.with({row, t.p}), t.with({row, t.q}), rows);
  t.rotate(v, t.with({row, t.p}), t.with({row, t.q}), rows);
  t.rotate(a, t.with({t.p, column}), t.with({t.q, column}), columns,
           k.index(column) == k.index(t.q), k.index(column) == k.index(t.p));
  l.finish(k, n);
}

// ---- B = A V with orthogonal columns, V orthogonal: (B, V)

Types columns_types(const Node& n) {
  const TensorType& t = input_type(n);
  Index square = t.sizes;
  square[square.size() - 2] = square.back();
  return {contiguous_type(DType::Float64, t.sizes, t.device),
          contiguous_type(DType::Float64, square, t.device)};
}

// Step 1 clears the products of the pairs, a step for each row adds to them, then angles, then a
// step for each row of B and for each row of V.
void lower_columns(Lowering& l, const Node& n) {
  Value* self = self_of(n);
  const Index& sizes = self->type.sizes;
  const Sym &rows = sizes[sizes.size() - 2], &size = sizes.back();
  loops::BufferId a = l.output(n, 0), v = l.output(n, 1);
  Index products = leading_sizes(self->type);
  products.insert(products.end(), {floordiv(size + 1, Sym(2)), Sym(3)});
  loops::BufferId dots = l.temp(temp_name(l, n, "dots"), DType::Float64, products);
  KernelBuilder k(l, l.unique_kernel_name("orthogonal_columns"));
  Index b = k.axes(leading_sizes(self->type));
  Tournament t(l, n, k, size, b);
  t.start();
  store_matrix(l, k, self, a, b);
  store_identity(k, v, b, size);
  t.open(rows * 2 + size + 3);
  E none = k.constant(0.0, DType::Float64), clears = t.at_step(1);
  E adds = t.in_steps(2, rows + 2), on = t.at_step(rows + 2);
  Sym row = t.step - 2;
  E x = k.load(a, t.with({row, t.p}), adds, none), y = k.load(a, t.with({row, t.q}), adds, none);
  E sums[3], terms[3] = {x * x, y * y, x * y};
  for (int64_t i = 0; i < 3; ++i) {
    Index at = t.with({t.pair, Sym(i)});
    sums[i] = k.load(dots, at, adds || on, none);
    k.store(dots, at, where(clears, 0.0, sums[i] + terms[i]), adds || clears);
  }
  E rotates = on && (abs(sums[2]) > sqrt(sums[0]) * sqrt(sums[1]) * double_arg(n, "tol"));
  t.set_angle(sums[0], sums[1], sums[2], rotates, on);
  Sym moved = t.step - 3 - rows, of_v = moved - rows;
  t.rotate(a, t.with({moved, t.p}), t.with({moved, t.q}), t.in_steps(rows + 3, rows * 2 + 3));
  t.rotate(v, t.with({of_v, t.p}), t.with({of_v, t.q}),
           t.in_steps(rows * 2 + 3, rows * 2 + size + 3));
  l.finish(k, n);
}

}  // namespace

Rows jacobi_ops() {
  return {
      loops_op("aotc.symmetric_eigen(Tensor A, float tol) -> (Tensor, Tensor)", LoopsKind::Scan,
               eigen_types, lower_eigen),
      loops_op("aotc.orthogonal_columns(Tensor A, float tol) -> (Tensor, Tensor)", LoopsKind::Scan,
               columns_types, lower_columns),
  };
}

}  // namespace aotc
