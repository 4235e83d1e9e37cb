// From graph nodes to loop kernels. Lowering holds where each value lives (a buffer seen through an
// index map); KernelBuilder builds one kernel; E and Elements let an op row write scalar formulas
// as formulas.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "ir/loops.h"
#include "ir/ops/op.h"

namespace aotc {

// A scalar expression of the kernel under construction.
struct E {
  KernelBuilder* k = nullptr;
  loops::ExprId id = -1;
  DType dtype() const;
};

// A formula met an element type that one of its primitives has no function for. Whoever lowers a
// node catches it and names the node.
class UnsupportedType : public UserError {
 public:
  using UserError::UserError;
};

// The index into a broadcast operand of these sizes, at position `index` of the result.
std::vector<Sym> broadcast_index(const std::vector<Sym>& sizes, const std::vector<Sym>& index);

class KernelBuilder {
 public:
  KernelBuilder(Lowering& lowering, std::string name);

  Sym axis(const Sym& extent);  // an independent axis
  std::vector<Sym> axes(const std::vector<Sym>& extents);
  void begin_phase(bool ordered = false);  // further stores, accumulators and inner axes go here
  Sym inner_axis(const Sym& extent);
  std::vector<Sym> inner_axes(const std::vector<Sym>& extents);

  E constant(double v, DType dtype);
  E constant(int64_t v, DType dtype);
  E boolean(bool v);
  E intern_constant(const ScalarValue& v);
  E complex_constant(double real, double imag, DType dtype);
  E index(const Sym& s);    // int64; float64 for a float
  Sym value_of(E integer);  // an index expression that is this (int64) value
  E apply(Prim p, std::vector<E> args, DType result);
  E load(loops::BufferId buffer, std::vector<Sym> at, E guard = {}, E otherwise = {});
  // The final value, in a later phase; in an ordered phase, the value so far (this iteration
  // included).
  int accumulate(Prim combine, E value, bool ordered = false);
  // First position of the best value: (value accumulator, int64 position accumulator).
  std::pair<int, int> accumulate_best(Prim combine, E value, E position);
  E result(int accumulator);
  void store(loops::BufferId buffer, std::vector<Sym> at, E value, E guard = {},
             bool accumulate = false);

  const loops::Expr& expr(E e) const { return kernel_.exprs[e.id]; }
  loops::Kernel& kernel() { return kernel_; }
  Lowering& lowering() { return lowering_; }

 private:
  E intern(loops::Expr e);
  Lowering& lowering_;
  loops::Kernel kernel_;
  std::map<std::string, loops::ExprId> interned_;
};

// Arithmetic in the common type of the operands (which must agree; cast first).
E operator+(E a, E b);
E operator-(E a, E b);
E operator*(E a, E b);
E operator/(E a, E b);
E operator-(E a);
E operator+(E a, double b);
E operator-(E a, double b);
E operator*(E a, double b);
E operator/(E a, double b);
E operator-(double a, E b);
E operator/(double a, E b);
E operator<(E a, E b);
E operator<=(E a, E b);
E operator>(E a, E b);
E operator>=(E a, E b);
E operator==(E a, E b);
E operator!=(E a, E b);
E operator&&(E a, E b);
E operator||(E a, E b);
E operator!(E a);
E unary(Prim p, E a);
E binary(Prim p, E a, E b);
E where(E condition, E a, E b);
E cast(E a, DType to);
E like(E a, double value);  // a constant of a's type

// What a pointwise row sees: the elements of its arguments at one output position, in the compute
// type.
class Elements {
 public:
  Elements(KernelBuilder& k, const Node& n, const std::vector<Sym>& index, DType common,
           DType compute)
      : k(k), node(n), index(index), common(common), compute(compute) {}
  E operator[](int i);  // argument i (tensor or scalar) in the compute type
  E operator[](std::string_view name);
  E raw(int i);  // a tensor argument in its own type
  bool is_none(std::string_view name) const { return arg_is_none(node, name); }
  bool is_one(std::string_view name) const;  // a Python scalar that is 1
  E number(double v);                        // a constant of the compute type
  KernelBuilder& k;
  const Node& node;
  const std::vector<Sym>& index;
  DType common, compute;
};

// Where a value's elements are: buffer[map(index)].
struct Place {
  loops::BufferId buffer = -1;
  std::function<std::vector<Sym>(const std::vector<Sym>&)> map;  // null: identity
};

class Lowering {
 public:
  Lowering(std::shared_ptr<Graph> graph);
  loops::LoopProgram& program() { return program_; }
  Graph& graph() { return *program_.graph; }

  void lower_node(const Node& n);
  void add_write_backs_and_outputs();

  // For op rows.
  E load(KernelBuilder& k, Value* v, const std::vector<Sym>& index, E guard = {}, E otherwise = {});
  Place place(Value* v);
  void set_place(Value* v, Place p) { places_[v] = std::move(p); }
  // A new contiguous buffer for output i of n.
  loops::BufferId output(const Node& n, int i = 0);
  loops::BufferId temp(const std::string& name, DType dtype, std::vector<Sym> sizes);
  void finish(KernelBuilder& k, const Node& n);  // appends the kernel, with n as its origin
  // A kernel that fails the call with `message` (op and Python line are added) unless condition
  // holds everywhere on `extents`; `report` yields the offending value.
  void check(const Node& n, const std::vector<Sym>& extents, const std::string& message,
             const std::function<E(KernelBuilder&, const std::vector<Sym>&, E& report)>& condition);
  // The value as strided memory (buffer, offset, strides), copied to a temporary when its map is
  // not affine.
  struct Strided {
    loops::BufferId buffer;
    Sym offset;
    std::vector<Sym> strides;
  };
  Strided strided(const Node& n, Value* v);
  // Copies v to a contiguous buffer of its own.
  loops::BufferId materialize(Value* v, const std::string& name, const Node& n);
  // A kernel that stores src over the region of `target` that `map` (from src's index) names.
  void copy_into(const Node& n, Value* src, loops::BufferId target,
                 const std::function<std::vector<Sym>(const std::vector<Sym>&)>& map);
  void control(const Node& n, Control c);  // a marker
  std::string unique_kernel_name(const std::string& base);
  // Kernel-independent simplification with the symbols' ranges.
  Sym simplify(const Sym& s) const { return assumptions_.simplify(s); }
  const Assumptions& assumptions() const { return assumptions_; }

 private:
  void lower_core_node(const Node& n);
  void lower_scalar(const Node& n, const ScalarMeaning& m);
  void lower_reduce(const Node& n, const ReduceMeaning& m);
  loops::BufferId input_buffer(Value* v);
  // Where what the kernel stores lives; else (a check, a value for the host) where it reads.
  Device device_of(const loops::Kernel& k) const;
  // The output as a view of its input's storage; nullopt if it is none that strides can express.
  std::optional<loops::OutputView> output_view(const OutputAlias& a);
  loops::LoopProgram program_;
  Assumptions assumptions_;
  Device device_;  // of the node being lowered
  std::map<Value*, Place> places_;
  std::map<std::string, int> kernel_names_;
};

// Stage 4: a kernel per op; views are index maps; every write-back is an explicit copy.
loops::LoopProgram lower(CoreGraph graph);

}  // namespace aotc
