// Jacobi's methods, as loops over the matrix in place: eigenvalues of symmetric matrices, and
// rotations that make the columns of a matrix orthogonal (its singular value decomposition). Both
// are in float64. Batches are independent.
#include "ir/ops/index_math.h"
#include "ir/ops/scalar_math.h"
#include "ir/ops/tensor_expr.h"

namespace aotc {
Rows jacobi_ops();
namespace {

constexpr int64_t kMostSweeps = 30;  // convergence is quadratic: large matrices take half of them

Index leading_sizes(const TensorType& t) { return {t.sizes.begin(), t.sizes.end() - 2}; }

// The rotations of a method: those of a round, how many the last sweep over a matrix took and how
// many this one has, how many sweeps there were, and whether there is another.
struct Rotations {
  Rotations(Lowering& l, const Node& n, const Sym& size) : batch(leading_sizes(input_type(n))) {
    Index per_pair = batch;
    per_pair.push_back(floordiv(size + 1, Sym(2)));
    cosine = l.temp(temp_name(l, n, "cosine"), DType::Float64, per_pair);
    sine = l.temp(temp_name(l, n, "sine"), DType::Float64, per_pair);
    before = l.temp(temp_name(l, n, "before"), DType::Int64, batch);
    taken = l.temp(temp_name(l, n, "taken"), DType::Int64, batch);
    sweeps = l.temp(temp_name(l, n, "sweeps"), DType::Int64, {});
    more = l.temp(temp_name(l, n, "more"), DType::Int64, {});
  }
  Index batch;
  loops::BufferId cosine, sine, before, taken, sweeps, more;
};

void emit_marker(Lowering& l, const Node& n, Control c, const Sym& bound = {}) {
  KernelBuilder k(l, l.unique_kernel_name(name(c)));
  k.kernel().kind = loops::KernelKind::Control;
  k.kernel().control = c;
  k.kernel().bound = bound;
  l.finish(k, n);
}

// Repeats the kernels that `sweep` appends until a sweep takes no rotation.
void repeat_sweeps(Lowering& l, const Node& n, const Rotations& r,
                   const std::function<void()>& sweep) {
  KernelBuilder first(l, l.unique_kernel_name("no_sweeps"));
  first.store(r.sweeps, {}, first.constant(int64_t{0}, DType::Int64));
  l.finish(first, n);
  emit_marker(l, n, Control::While);
  sweep();
  KernelBuilder k(l, l.unique_kernel_name("more_sweeps"));
  Index at = k.inner_axes(r.batch);
  int most = k.accumulate(Prim::maximum, k.load(r.taken, at));
  k.begin_phase();
  E done = k.load(r.sweeps, {}) + 1.0;
  k.store(r.sweeps, {}, done);
  E more = (k.result(most) > 0.0) && (done < static_cast<double>(kMostSweeps));
  k.store(r.more, {}, cast(more, DType::Int64));
  l.finish(k, n);
  const std::string symbol = "sweeps_" + n.name;
  l.graph().symbols[symbol] = {.min = 0, .max = 1, .unbacked = true};
  define_size(l, n, Sym::symbol(symbol), r.more);
  emit_marker(l, n, Control::Test, Sym::symbol(symbol));
  emit_marker(l, n, Control::EndWhile);
}

// What both methods share. A sweep meets every pair of columns once, in rounds of pairs that have
// no column in common (a tournament of `size` players, an odd one out where their number is odd).
// A round is a row of steps; each step visits all pairs. A sweep after one without a rotation does
// nothing.
class Tournament {
 public:
  Tournament(KernelBuilder& k, const Rotations& r, const Sym& size, Index batch)
      : k_(k), batch_(std::move(batch)), even_(size + mod(size, Sym(2))), size_(size), r_(r) {}

  // Opens the loops; step 0 is this class's own.
  void open(const Sym& steps) {
    k_.begin_phase(true);
    Sym round = k_.inner_axis(sym_max(even_ - 1, 0));
    step = k_.inner_axis(steps);
    pair = k_.inner_axis(floordiv(even_, Sym(2)));
    E outer = k_.index(pair) == 0.0;
    E a = where(outer, k_.index(even_ - 1), k_.index(mod(round + pair, even_ - 1)));
    E b = where(outer, k_.index(round), k_.index(mod(round - pair + even_ - 1, even_ - 1)));
    E low = minimum(a, b), high = maximum(a, b);
    E opens = outer && (k_.index(step) == 0.0) && (k_.index(round) == 0.0);
    E now = k_.load(r_.taken, batch_);
    k_.store(r_.before, batch_, now, opens);
    active = (k_.load(r_.before, batch_) > 0.0) && (high < k_.index(size_));
    k_.store(r_.taken, batch_, like(now, 0), opens);
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
    k_.store(r_.cosine, at, where(rotates, cosine, 1.0), on);
    k_.store(r_.sine, at, where(rotates, cosine * tangent, 0.0), on);
    E count = k_.load(r_.taken, batch_);
    k_.store(r_.taken, batch_, count + cast(rotates, DType::Int64), on);
  }

  // Rotates the elements at two places of a buffer; `zero_p` and `zero_q` become exactly 0.
  void rotate(loops::BufferId buffer, const Index& at_p, const Index& at_q, E on, E zero_p = {},
              E zero_q = {}) const {
    E none = k_.constant(0.0, DType::Float64);
    E sine = k_.load(r_.sine, pair_index(), on, none);
    on = on && (sine != 0.0);
    E cosine = k_.load(r_.cosine, pair_index(), on, none);
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
  const Rotations& r_;
};

// A buffer becomes the identity.
void store_identity(KernelBuilder& k, loops::BufferId v, const Index& b, const Sym& size) {
  k.begin_phase();
  Sym i = k.inner_axis(size), j = k.inner_axis(size);
  Index at = b;
  at.insert(at.end(), {i, j});
  k.store(v, at, cast(k.index(i) == k.index(j), DType::Float64));
}

// A kernel that copies A, makes V the identity, and notes A's largest magnitude where asked.
void start_sweeps(Lowering& l, const Node& n, const Rotations& r, loops::BufferId a,
                  loops::BufferId v, loops::BufferId largest = -1) {
  Value* self = self_of(n);
  const Index& sizes = self->type.sizes;
  KernelBuilder k(l, l.unique_kernel_name("before_sweeps"));
  Index b = k.axes(r.batch);
  k.store(r.taken, b, k.constant(int64_t{1}, DType::Int64));
  store_identity(k, v, b, sizes.back());
  k.begin_phase();
  Index at = b;
  at.push_back(k.inner_axis(sizes[sizes.size() - 2]));
  at.push_back(k.inner_axis(sizes.back()));
  E x = l.load(k, self, at);
  k.store(a, at, x);
  if (largest >= 0) {
    int most = k.accumulate(Prim::maximum, abs(x));
    k.begin_phase();
    k.store(largest, b, k.result(most));
  }
  l.finish(k, n);
}

// ---- A = V D V^T: (D in the diagonal of a matrix, V), for symmetric A

Types eigen_types(const Node& n) {
  const TensorType& t = input_type(n);
  TensorType result = contiguous_type(DType::Float64, t.sizes, t.device);
  return {result, result};
}

// Step 1: angles. Then a step for each row of A and V, then one for each column of A.
void lower_eigen_sweep(Lowering& l, const Node& n, const Rotations& r, loops::BufferId a,
                       loops::BufferId v, loops::BufferId largest) {
  const Sym& size = input_type(n).sizes.back();
  KernelBuilder k(l, l.unique_kernel_name("symmetric_eigen"));
  Index b = k.axes(r.batch);
  Tournament t(k, r, size, b);
  t.open(size * 2 + 2);
  E none = k.constant(0.0, DType::Float64), on = t.at_step(1);
  auto at = [&](const Sym& i, const Sym& j) { return k.load(a, t.with({i, j}), on, none); };
  E product = at(t.p, t.q), limit = k.load(largest, b) * double_arg(n, "tol");
  t.set_angle(at(t.p, t.p), at(t.q, t.q), product, on && (abs(product) > limit), on);
  Sym row = t.step - 2, column = t.step - 2 - size;
  E rows = t.in_steps(2, size + 2), columns = t.in_steps(size + 2, size * 2 + 2);
  t.rotate(a, t.with({row, t.p}), t.with({row, t.q}), rows);
  t.rotate(v, t.with({row, t.p}), t.with({row, t.q}), rows);
  t.rotate(a, t.with({t.p, column}), t.with({t.q, column}), columns,
           k.index(column) == k.index(t.q), k.index(column) == k.index(t.p));
  l.finish(k, n);
}

void lower_eigen(Lowering& l, const Node& n) {
  Rotations r(l, n, input_type(n).sizes.back());
  loops::BufferId a = l.output(n, 0), v = l.output(n, 1),
                  largest = l.temp(temp_name(l, n, "largest"), DType::Float64, r.batch);
  start_sweeps(l, n, r, a, v, largest);
  repeat_sweeps(l, n, r, [&] { lower_eigen_sweep(l, n, r, a, v, largest); });
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
void lower_columns_sweep(Lowering& l, const Node& n, const Rotations& r, loops::BufferId a,
                         loops::BufferId v, loops::BufferId dots) {
  const Index& sizes = input_type(n).sizes;
  const Sym &rows = sizes[sizes.size() - 2], &size = sizes.back();
  KernelBuilder k(l, l.unique_kernel_name("orthogonal_columns"));
  Tournament t(k, r, size, k.axes(r.batch));
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

void lower_columns(Lowering& l, const Node& n) {
  Rotations r(l, n, input_type(n).sizes.back());
  Index products = r.batch;
  products.insert(products.end(), {floordiv(input_type(n).sizes.back() + 1, Sym(2)), Sym(3)});
  loops::BufferId a = l.output(n, 0), v = l.output(n, 1),
                  dots = l.temp(temp_name(l, n, "dots"), DType::Float64, products);
  start_sweeps(l, n, r, a, v);
  repeat_sweeps(l, n, r, [&] { lower_columns_sweep(l, n, r, a, v, dots); });
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
