// Editing loop kernels: rebuilding their expressions, asking what they touch.
#pragma once
#include <functional>
#include <map>
#include <set>
#include <string>

#include "ir/loops.h"

namespace aotc::loops {

// Whether two buffers may occupy the same memory: the same home. (Different inputs that overlap at
// call time are staged or refused by the run time.)
bool same_memory(const LoopProgram& p, BufferId a, BufferId b);
bool reads_memory_of(const LoopProgram& p, const Kernel& k, BufferId b);
bool writes_memory_of(const LoopProgram& p, const Kernel& k, BufferId b);
// The symbols of the program that the kernel's sizes and indices use.
std::set<std::string> symbols_used(const LoopProgram& p, const Kernel& k);
// True if b writes what a reads or writes, or reads what a writes, or one defines a symbol that the
// other uses, or one is a control flow marker: their order matters.
bool conflict(const LoopProgram& p, const Kernel& a, const Kernel& b);

// The kernel's axes and those of the phase.
std::vector<Axis> axes_around(const Kernel& k, const Phase& phase);
// Adds what a kernel computes too, each once; in front for what it computes first.
void add_origins(Kernel& k, const std::vector<Origin>& origins, bool in_front);

// The expressions that a phase evaluates.
std::set<ExprId> expressions_of(const Kernel& k, const Phase& phase);

// `k` is exactly: to[i] = from[i] over the whole of both.
bool is_whole_copy(const LoopProgram& p, const Kernel& k, BufferId from, BufferId to);
// The store of a kernel that computes one element per iteration and feeds nothing else; nullptr for
// other kernels.
const Store* elementwise_store(const Kernel& k);
// Each element of the buffer is stored, by the iteration that has its index.
bool covers_buffer(const LoopProgram& p, const Kernel& k, const Store& s);
// `wanted`, with a number if a kernel has that name.
std::string unique_kernel_name(const LoopProgram& p, const std::string& wanted);
// All kernels and write-backs use `to` in place of `from`.
void replace_buffer(LoopProgram& p, BufferId from, BufferId to);

// Names of the axes and values that an expression depends on, directly and through its operands.
std::set<std::string> axes_of(const Kernel& k, ExprId e);

// Proves that no two iterations of `axes` have the same index `at`.
bool visits_once(const std::vector<Sym>& at, const std::vector<Axis>& axes);

// Proves that no iteration of a has the index `at` that an iteration of b has as `other`, in one
// buffer: they differ in some dimension, always in the same way.
bool never_meet(const LoopProgram& p, const Kernel& a, const std::vector<Sym>& at, const Kernel& b,
                const std::vector<Sym>& other);

// Copies expressions into a new kernel body, renaming as told; equal expressions become one.
class BodyBuilder {
 public:
  explicit BodyBuilder(Kernel& out) : out_(out) {}
  // Copies expression `id` of `from` with everything it needs. `axes` replaces axis names; `loads`
  // may yield the value of a load instead (after its index was rewritten).
  using LoadHook = std::function<ExprId(const Expr& load)>;
  struct Context {
    const Kernel* from = nullptr;
    std::map<std::string, Sym> axes = {};
    std::map<int, int> accumulators = {};
    ExprId guard = -1;  // in `out`: loads happen only if it holds
    LoadHook load_hook = {};
    std::map<ExprId, ExprId> done = {};
  };
  ExprId copy(Context& c, ExprId id);
  Sym rewrite(Context& c, const Sym& s);
  ExprId add(Expr e);

 private:
  ExprId converted_back(const Expr& e) const;

  Kernel& out_;
  std::map<std::string, ExprId> interned_;
};

// Drops phases that neither store nor feed an accumulator, unless all are such.
void remove_empty_phases(Kernel& k);
// Drops expressions that nothing uses, and shares equal ones.
void remove_dead_expressions(Kernel& k);
// Puts `index` in place of an axis everywhere.
void substitute_axis(Kernel& k, const std::string& axis, const Sym& index);
// Simplifies all index expressions with the kernel's ranges.
void simplify_indices(const LoopProgram& p, Kernel& k);
// Removes kernels whose only effect is on temporaries that nobody reads, repeatedly.
void remove_dead_kernels(LoopProgram& p);
int count_readers(const LoopProgram& p, BufferId b);

}  // namespace aotc::loops
