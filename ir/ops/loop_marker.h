// Loops around the kernels of one op, as markers in the list of kernels (ir/control.h).
#pragma once
#include "ir/lowering.h"

namespace aotc {

inline void emit_marker(Lowering& l, const Node& n, Control c, const Sym& bound = {},
                        const std::string& symbol = "") {
  KernelBuilder k(l, l.unique_kernel_name(name(c)));
  k.kernel().kind = loops::KernelKind::Control;
  k.kernel().control = c;
  k.kernel().bound = bound;
  k.kernel().symbol = symbol;
  l.finish(k, n);
}

// A number that the program finds as it runs.
inline Sym new_symbol(Lowering& l, const std::string& name) {
  l.graph().symbols[name] = {.min = 0, .max = std::nullopt, .unbacked = true};
  return Sym::symbol(name);
}

// The kernels that `body` appends run for 0, 1, ... count - 1.
template <typename Body>
void repeat_kernels(Lowering& l, const Node& n, const Sym& counter, const Sym& count,
                    const Body& body) {
  emit_marker(l, n, Control::For, count, *counter.symbol_name());
  body();
  emit_marker(l, n, Control::EndFor);
}

}  // namespace aotc
