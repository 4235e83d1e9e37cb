// Level 2, scalars: a program of loop kernels over buffers. Stages 4 to 6 (`loops`, `fused`,
// `plan`).
//
// Semantics. Buffers hold elements of one dtype. Kernels run in order; within a kernel the
// iterations of `axes` are independent (any order, in parallel), and for each of them the phases
// run in order. A phase runs its own `axes` as loops (row-major order); each iteration evaluates
// its expressions, feeds the accumulators and performs the stores. Accumulators start at their
// identity when the phase starts, and later phases of the same outer iteration read their final
// value. Reassociation is allowed only inside an accumulator (and only if it is not `ordered`). An
// expression is evaluated at most once per iteration and has no effect; a load with a false guard
// reads nothing and yields `otherwise`. Arithmetic is that of the scalar primitives (scalar.def).
// Index expressions are Sym over axes, program symbols, and "%n": the (integer) value of expression
// n.
#pragma once
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "ir/control.h"
#include "ir/graph.h"
#include "ir/scalar.h"

namespace aotc::loops {

enum class Home : uint8_t { Input, Storage, Temp, Output };  // where a buffer's memory comes from

struct Buffer {
  std::string name;
  DType dtype = DType::Float32;
  std::vector<Sym> sizes, strides;  // elements
  Sym offset;                       // elements from the start of its home
  Home home = Home::Temp;
  int index = -1;  // Input: graph input; Storage: archive storage; Output: position
  Device device;
};

using BufferId = int;
using ExprId = int;

struct Axis {
  std::string name;
  Sym extent;
};

enum class ExprKind : uint8_t { Constant, Index, Load, Apply, Accumulator };

// One scalar value. `dtype` is the type of the value.
struct Expr {
  ExprKind kind = ExprKind::Constant;
  DType dtype = DType::Float32;
  ScalarValue constant;      // Constant
  Sym index;                 // Index: an int64 value
  BufferId buffer = -1;      // Load
  std::vector<Sym> at;       // Load: one per buffer dimension
  ExprId guard = -1;         // Load: -1, or a bool expression
  ExprId otherwise = -1;     // Load with guard
  Prim prim{};               // Apply
  std::vector<ExprId> args;  // Apply
  int accumulator = -1;      // Accumulator: the final value of kernel.accumulators[accumulator]
};

// A reduction over the axes of the phase that feeds it.
struct Accumulator {
  Prim combine{};  // an associative primitive with identity; commutative unless ordered
  DType dtype = DType::Float32;
  ScalarValue identity;
  int phase = -1;        // the phase that feeds it
  ExprId value = -1;     // what each iteration contributes
  bool ordered = false;  // strictly left to right
  // argmax/argmin: the accumulator is the pair (best value, its position); combine is maximum or
  // minimum, and `companion` is the accumulator of the position (int64). First position wins, NaN
  // wins over numbers.
  int companion = -1;
};

struct Store {
  BufferId buffer = -1;
  std::vector<Sym> at;
  ExprId value = -1;
  ExprId guard = -1;        // -1, or a bool expression: store only if true
  bool accumulate = false;  // buffer += value, in iteration order
};

struct Phase {
  std::vector<Axis> axes;
  bool ordered =
      false;  // stores may hit one element twice, or feed each other: iterate strictly in order
  std::vector<Store> stores;
  std::vector<int> accumulators;  // fed here
};

// What a kernel computes, for comments and explain: one entry per graph node.
struct Origin {
  std::string op, node;
  Source source;
};

// Transfer: a whole copy between devices of two buffers with the same dense layout. Wait: the host
// may now touch what transfers have brought it; the call fails there if a check on the device has.
enum class KernelKind : uint8_t { Loops, Check, Template, Host, Copy, Control, Transfer, Wait };

// A matrix product with run-time strides (templates/matmul.h); operand views are (buffer, strides).
struct MatmulOperand {
  BufferId buffer = -1;
  Sym offset;              // elements from the buffer's first element
  std::vector<Sym> batch;  // strides of the batch dimensions
  Sym row, col;            // strides
};
struct Matmul {
  std::vector<Sym> batch_sizes;
  Sym m, n, k;
  MatmulOperand a, b, c, d;  // d.buffer -1: none
  double alpha = 1, beta = 0;
  DType dtype = DType::Float32;
};

// Elements in order along dimension `dim`: `indices` gets the place in x of the element that is
// number j, for j < count, `values` that element. Equal elements keep their order; -0 equals 0; NaN
// comes last, first when descending. The results have the sizes of x but for `count`, in any
// layout. If `within` is a dimension, what is sorted is entries that extend along it, the results
// lack it, the first elements that differ tell the order, and there are no values.
struct Sort {
  std::vector<Sym> sizes;  // of x
  int dim = 0, within = -1;
  Sym count;
  bool descending = false;
  BufferId x = -1;
  Sym offset;                          // elements from the buffer's first element
  std::vector<Sym> strides;            // of x
  BufferId values = -1, indices = -1;  // -1: not asked for

  // The dimensions of x that the results have.
  std::vector<int> result_dims() const;
};

struct Kernel {
  std::string name;  // unique; a C identifier
  KernelKind kind = KernelKind::Loops;
  Device device;
  std::vector<Axis> axes;   // independent iterations
  std::vector<Expr> exprs;  // operands come before their users
  std::vector<Phase> phases;
  std::vector<Accumulator> accumulators;
  std::vector<Origin> origins;
  // Check: the call fails with `message` if `condition` is false in any iteration (phase 0);
  // `report`, if not -1, is the int64 value to show. A check has no stores.
  ExprId condition = -1, report = -1;
  std::string message;
  // Template: one of them
  std::shared_ptr<Matmul> matmul;
  std::shared_ptr<Sort> sort;
  // Host: `symbol` gets the value of expression 0 (evaluated once, no axes).
  std::string symbol;
  // Control: a marker. `bound` is the condition of an if or a test, or the iterations of a for,
  // whose counter is `symbol`.
  aotc::Control control = aotc::Control::None;
  Sym bound;

  ExprId add(Expr e) {
    exprs.push_back(std::move(e));
    return static_cast<ExprId>(exprs.size()) - 1;
  }
};

// buffers[to] (a mutated input or state) gets the content of buffers[from]; done after every kernel
// before it.
struct WriteBackInfo {
  int write_back = -1;  // index into Graph::write_backs
  BufferId target = -1;
  BufferId value = -1;
  std::string kernel;  // the copy kernel; empty once it is proved direct
  bool direct = false;
  std::string reason;
  bool cache_update = false;  // rows at positions of one dimension (kind kv_cache_update)
};

// An output that is a view of an input's storage.
struct OutputView {
  int output = -1;
  int input = -1;  // index into Graph::inputs
  Sym offset;      // elements from the input's first element, in its compiled layout
  std::vector<Sym> strides;
  // The same for any layout of the input, where the input's indices are linear in the output's (a
  // reshape's are not): start of each input dimension plus the sum of steps.
  bool simple = false;
  std::vector<Sym> steps;   // of output dimension i along input dimension d: [i * input rank + d]
  std::vector<Sym> starts;  // per input dimension
};

struct LoopProgram {
  std::shared_ptr<Graph> graph;  // the core graph: signature, symbols, weights
  std::vector<Buffer> buffers;
  std::vector<Kernel> kernels;
  std::vector<WriteBackInfo> write_backs;
  std::vector<OutputView> output_views;
  std::vector<BufferId>
      output_buffers;  // per graph output: its buffer, or -1 (alias, scalar, None)

  Assumptions assumptions(const Kernel& k) const;  // symbols and the kernel's axes
};

// One entry per kernel.
std::vector<aotc::Control> controls_of(const LoopProgram& p);

std::set<BufferId> buffers_read(const Kernel& k);
std::set<BufferId> buffers_written(const Kernel& k);

// Element offset of an access within its home, simplified.
Sym flat_offset(const Buffer& b, const std::vector<Sym>& at);

}  // namespace aotc::loops
