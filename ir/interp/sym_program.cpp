// Compiling and running index expressions.
#include "ir/interp/sym_program.h"

#include <algorithm>

#include "ir/error.h"
#include "ir/sym_float.h"

namespace aotc::interp {
namespace {

int64_t add(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_add_overflow(a, b, &r)) user_error("an index overflows 64 bits: {} + {}", a, b);
  return r;
}

int64_t multiply(int64_t a, int64_t b) {
  int64_t r;
  if (__builtin_mul_overflow(a, b, &r)) user_error("an index overflows 64 bits: {} * {}", a, b);
  return r;
}

}  // namespace

SymProgram::SymProgram(const Sym& s, const SlotOf& slot_of) {
  bool any = false;
  for (const Sym::Term& t : s.terms()) {
    if (t.factors.empty()) {
      constant_ = t.coefficient;
    } else if (t.factors.size() == 1 && t.factors[0]->op == SymOp::Symbol) {
      multiples_.push_back({t.coefficient, slot_of(t.factors[0]->name)});
    } else {
      emit_term(t, slot_of);
      if (any) emit(Op::Add);
      any = true;
    }
  }
}

void SymProgram::emit(Op op, int64_t value) {
  code_.push_back({op, value, SymOp::Symbol});
  if (op == Op::Push || op == Op::Slot)
    max_depth_ = std::max(max_depth_, ++depth_);
  else
    --depth_;
}

void SymProgram::emit_function(SymOp f) {
  code_.push_back({Op::Apply, 0, f});
  depth_ -= arity(f) - 1;
}

void SymProgram::emit_sum(const Sym& s, const SlotOf& slot_of) {
  if (s.terms().empty()) return emit(Op::Push, 0);
  for (size_t i = 0; i < s.terms().size(); ++i) {
    emit_term(s.terms()[i], slot_of);
    if (i) emit(Op::Add);
  }
}

void SymProgram::emit_term(const Sym::Term& t, const SlotOf& slot_of) {
  bool scaled = t.coefficient != 1 || t.factors.empty();
  if (scaled) emit(Op::Push, t.coefficient);
  for (size_t i = 0; i < t.factors.size(); ++i) {
    const Sym::Atom& f = *t.factors[i];
    if (f.op == SymOp::Symbol) {
      emit(Op::Slot, slot_of(f.name));
    } else if (f.op == SymOp::Float) {
      emit(Op::Push, float_bits(std::strtod(f.name.c_str(), nullptr)));
    } else {
      for (const Sym& a : f.args) emit_sum(a, slot_of);
      emit_function(f.op);
    }
    if (i || scaled) emit(Op::Mul);
  }
}

int64_t SymProgram::run_code(const int64_t* slots) const {
  constexpr int kInline = 16;
  int64_t small[kInline];
  std::vector<int64_t> large;
  int64_t* stack = small;
  if (max_depth_ > kInline) {
    large.resize(static_cast<size_t>(max_depth_));
    stack = large.data();
  }
  int64_t* top = stack;  // one past the topmost value
  for (const Instruction& i : code_) {
    if (i.op == Op::Push) {
      *top++ = i.value;
    } else if (i.op == Op::Slot) {
      *top++ = slots[i.value];
    } else if (i.op == Op::Apply) {
      top -= arity(i.function) - 1;
      top[-1] = apply(i.function, top - 1);
    } else {
      --top;
      top[-1] = i.op == Op::Add ? add(top[-1], top[0]) : multiply(top[-1], top[0]);
    }
  }
  return top[-1];
}

int64_t SymProgram::run(const int64_t* slots) const {
  int64_t sum = constant_;
  for (const Multiple& m : multiples_) sum = add(sum, multiply(m.factor, slots[m.slot]));
  return code_.empty() ? sum : add(sum, run_code(slots));
}

}  // namespace aotc::interp
