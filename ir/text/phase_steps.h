// The order in which one iteration of a phase does its work: expressions that the phase needs, in
// id order, and each accumulator as soon as what feeds it is known. The stores come after all of
// them.
#pragma once
#include <vector>

#include "ir/loops.h"

namespace aotc::loops {

struct PhaseStep {
  bool feeds = false;  // feed accumulator `index`; else evaluate expression `index`
  int index = -1;
};

// Ids that are out of range are left out, so that broken kernels can be looked at.
std::vector<PhaseStep> phase_steps(const Kernel& k, size_t phase);
// The expressions that e reads: operands, guard, otherwise, and "%n" in its index expressions.
std::vector<ExprId> operands(const Expr& e);
// n for a symbol "%n", else -1.
ExprId expr_of_symbol(const std::string& symbol);
// What the phase's accumulators and stores (phase 0: the kernel's check or host value too) start
// from; entries may be -1.
std::vector<ExprId> phase_roots(const Kernel& k, size_t phase);

}  // namespace aotc::loops
