// A Sym compiled for many evaluations: a sum of slot multiples, and a small stack program for what
// is not affine.
#pragma once
#include <cstdint>
#include <functional>
#include <vector>

#include "ir/sym.h"

namespace aotc::interp {

class SymProgram {
 public:
  SymProgram() = default;
  // `slot_of` names the place of each symbol's value in the array that run() gets.
  SymProgram(const Sym& s, const std::function<int(const std::string&)>& slot_of);

  // Throws UserError on overflow of int64 or division by zero.
  int64_t run(const int64_t* slots) const;

 private:
  enum class Op : uint8_t { Push, Slot, Add, Mul, Apply };
  struct Instruction {
    Op op;
    int64_t value;  // Push: the number, Slot: the slot
    SymOp function;
  };
  struct Multiple {
    int64_t factor;
    int slot;
  };
  using SlotOf = std::function<int(const std::string&)>;
  void emit(Op op, int64_t value = 0);
  void emit_function(SymOp f);
  void emit_sum(const Sym& s, const SlotOf& slot_of);
  void emit_term(const Sym::Term& t, const SlotOf& slot_of);
  int64_t run_code(const int64_t* slots) const;

  int64_t constant_ = 0;
  std::vector<Multiple> multiples_;
  std::vector<Instruction> code_;  // its result is added
  int depth_ = 0, max_depth_ = 0;
};

}  // namespace aotc::interp
