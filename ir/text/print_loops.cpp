// Prints level 2. Expressions stand in the first phase that needs them, under their ids. Never
// throws.
#include <set>

#include "ir/text/format.h"
#include "ir/text/phase_steps.h"
#include "ir/text/print_graph.h"
#include "ir/text/text.h"

namespace aotc {

using namespace loops;

namespace text {
namespace {

std::string expr_text(ExprId id) { return "%" + std::to_string(id); }

std::string axes_text(const std::vector<Axis>& axes) {
  std::string s;
  for (const Axis& a : axes)
    s += (s.empty() ? " (" : ", ") + name_text(a.name) + " < " + a.extent.str();
  return s.empty() ? s : s + ")";
}

const char* kind_name(KernelKind k) {
  switch (k) {
    case KernelKind::Loops:
      return "kernel";
    case KernelKind::Check:
      return "check";
    case KernelKind::Template:
      return "template";
    case KernelKind::Host:
      return "host";
    case KernelKind::Copy:
      return "copy";
    case KernelKind::Control:
      return "control";
    case KernelKind::Transfer:
      return "transfer";
    case KernelKind::Wait:
      return "wait";
  }
  return "kernel";
}

std::string home_text(const Buffer& b) {
  std::string s;
  switch (b.home) {
    case Home::Input:
      s = "input ";
      break;
    case Home::Storage:
      s = "storage ";
      break;
    case Home::Output:
      s = "output ";
      break;
    case Home::Temp:
      return b.index < 0 ? "temp" : "temp " + std::to_string(b.index);
  }
  return s + std::to_string(b.index);
}

class LoopsPrinter {
 public:
  explicit LoopsPrinter(const LoopProgram& p) : p_(p) { name_buffers(); }

  std::string print() {
    line(0, "loops {");
    for (size_t i = 0; i < p_.buffers.size(); ++i) buffer(i);
    for (const Kernel& k : p_.kernels) kernel(k);
    if (!p_.write_backs.empty() || !p_.output_buffers.empty() || !p_.output_views.empty())
      out_ += "\n";
    for (const WriteBackInfo& w : p_.write_backs) write_back(w);
    for (const OutputView& v : p_.output_views) output_view(v);
    for (size_t i = 0; i < p_.output_buffers.size(); ++i)
      line(1, fmt::format("output {} = {}", i, buffer_name(p_.output_buffers[i])));
    line(0, "}");
    return out_;
  }

 private:
  void line(size_t depth, const std::string& text, const Source& source = {}) {
    out_ += with_source(std::string(depth * 2, ' ') + text, source) + "\n";
  }

  // Text refers to buffers by name: one that is taken gets the buffer's number.
  void name_buffers() {
    std::set<std::string> used;
    for (const Buffer& b : p_.buffers) {
      std::string name = b.name;
      if (used.contains(name)) name += "." + std::to_string(names_.size());
      while (!used.insert(name).second) name += "_";
      names_.push_back(name_text(name));
    }
  }

  std::string buffer_name(BufferId id) const {
    if (id < 0) return "none";
    return id < static_cast<int>(names_.size()) ? names_[static_cast<size_t>(id)] : "none";
  }

  void buffer(size_t i) {
    const Buffer& b = p_.buffers[i];
    std::string s = fmt::format("buffer {}: {}[{}]", names_[i], name(b.dtype), list_text(b.sizes));
    if (b.strides.size() != b.sizes.size() || !has_plain_strides(b.sizes, b.strides))
      s += "{" + list_text(b.strides) + "}";
    s += device_text(b.device) + " = " + home_text(b);
    line(1, b.offset.is(0) ? s : s + " + " + b.offset.str());
  }

  void kernel(const Kernel& k) {
    kernel_ = &k;
    printed_.clear();
    out_ += "\n";
    if (k.kind == KernelKind::Control) return control(k);
    line(1, fmt::format("{} {}{}{} {{", kind_name(k.kind), name_text(k.name), axes_text(k.axes),
                        k.device == Device{} ? "" : " " + device_text(k.device)));
    for (const Origin& o : k.origins)
      line(2, fmt::format("from {} {}", name_text(o.op), name_text(o.node)), o.source);
    if (k.matmul) matmul(*k.matmul);
    if (k.sort) sort(*k.sort);
    unused_exprs();
    bool plain = k.phases.size() == 1 && k.phases[0].axes.empty() && !k.phases[0].ordered;
    for (size_t i = 0; i < k.phases.size(); ++i) phase(i, plain ? 2 : 3);
    if (k.phases.empty()) effects(2);
    line(1, "}");
  }

  void control(const Kernel& k) {
    std::string s = fmt::format("control {}: {}", name_text(k.name), aotc::name(k.control));
    if (k.control == Control::For) s += " " + name_text(k.symbol) + " <";
    if (k.control == Control::For || k.control == Control::If || k.control == Control::Test)
      s += " " + k.bound.str();
    line(1, s, k.origins.empty() ? Source{} : k.origins[0].source);
  }

  void unused_exprs() {
    std::set<ExprId> used;
    for (size_t i = 0; i < kernel_->phases.size(); ++i)
      for (const PhaseStep& s : phase_steps(*kernel_, i))
        if (!s.feeds) used.insert(s.index);
    for (size_t e = 0; e < kernel_->exprs.size(); ++e)
      if (!used.contains(static_cast<ExprId>(e))) expr(static_cast<ExprId>(e), 2);
  }

  void phase(size_t index, size_t depth) {
    const Phase& p = kernel_->phases[index];
    if (depth == 3) line(2, "phase" + axes_text(p.axes) + (p.ordered ? " ordered" : ""));
    for (const PhaseStep& s : phase_steps(*kernel_, index)) {
      if (s.feeds)
        accumulator(s.index, depth);
      else
        expr(s.index, depth);
    }
    for (const Store& s : p.stores) {
      std::string guard = s.guard < 0 ? "" : " if " + expr_text(s.guard);
      line(depth, fmt::format("store {}[{}] {} {}{}", buffer_name(s.buffer), list_text(s.at),
                              s.accumulate ? "+=" : "=", expr_text(s.value), guard));
    }
    if (index == 0) effects(depth);
  }

  // What a check requires, what a host kernel defines.
  void effects(size_t depth) {
    const Kernel& k = *kernel_;
    if (k.condition >= 0 || k.report >= 0 || !k.message.empty()) {
      std::string report = k.report < 0 ? "" : "report " + expr_text(k.report) + ", ";
      line(depth,
           fmt::format("require {}, {}{}", expr_text(k.condition), report, quoted(k.message)));
    }
    if (!k.symbol.empty()) line(depth, fmt::format("set {} = %0", name_text(k.symbol)));
  }

  void accumulator(int id, size_t depth) {
    if (id < 0 || id >= static_cast<int>(kernel_->accumulators.size())) return;
    const Accumulator& a = kernel_->accumulators[static_cast<size_t>(id)];
    std::string s = fmt::format("acc{}: {} = {}({}) from {}", id, name(a.dtype),
                                prim_name(a.combine), expr_text(a.value), to_text(a.identity));
    if (a.ordered) s += " ordered";
    if (a.companion >= 0) s += fmt::format(" position acc{}", a.companion);
    line(depth, s);
  }

  void expr(ExprId id, size_t depth) {
    if (!printed_.insert(id).second) return;
    const Expr& e = kernel_->exprs[static_cast<size_t>(id)];
    line(depth, fmt::format("{}: {} = {}", expr_text(id), name(e.dtype), definition(e)));
  }

  std::string definition(const Expr& e) const {
    switch (e.kind) {
      case ExprKind::Constant:
        return to_text(e.constant);
      case ExprKind::Index:
        return "index " + e.index.str();
      case ExprKind::Accumulator:
        return fmt::format("acc{}", e.accumulator);
      case ExprKind::Load: {
        std::string s = fmt::format("load {}[{}]", buffer_name(e.buffer), list_text(e.at));
        if (e.guard >= 0) s += " if " + expr_text(e.guard);
        return e.otherwise < 0 ? s : s + " else " + expr_text(e.otherwise);
      }
      case ExprKind::Apply:
        break;
    }
    std::string s;
    for (ExprId a : e.args) s += (s.empty() ? "" : ", ") + expr_text(a);
    return fmt::format("{}({})", prim_name(e.prim), s);
  }

  void matmul(const Matmul& m) {
    line(2, fmt::format("matmul {}, batch [{}], m = {}, n = {}, k = {}, alpha = {}, beta = {}",
                        name(m.dtype), list_text(m.batch_sizes), m.m.str(), m.n.str(), m.k.str(),
                        double_text(m.alpha), double_text(m.beta)));
    matmul_operand("a", m.a);
    matmul_operand("b", m.b);
    matmul_operand("c", m.c);
    if (m.d.buffer >= 0) matmul_operand("d", m.d);
  }

  void matmul_operand(const char* role, const MatmulOperand& o) {
    line(2,
         fmt::format("{} = {} at {}, batch [{}], row = {}, col = {}", role, buffer_name(o.buffer),
                     o.offset.str(), list_text(o.batch), o.row.str(), o.col.str()));
  }

  void sort(const Sort& s) {
    const std::string within = s.within < 0 ? "" : fmt::format(", within = {}", s.within);
    line(2, fmt::format("sort [{}], dim = {}{}, count = {}{}", list_text(s.sizes), s.dim, within,
                        s.count.str(), s.descending ? ", descending" : ""));
    line(2, fmt::format("x = {} at {}, strides [{}]", buffer_name(s.x), s.offset.str(),
                        list_text(s.strides)));
    if (s.values >= 0) line(2, "values = " + buffer_name(s.values));
    if (s.indices >= 0) line(2, "indices = " + buffer_name(s.indices));
  }

  void write_back(const WriteBackInfo& w) {
    std::string s = fmt::format("write back {}: {} = {}", w.write_back, buffer_name(w.target),
                                buffer_name(w.value));
    if (!w.kernel.empty()) s += ", kernel " + name_text(w.kernel);
    if (w.direct) s += ", direct";
    line(1, w.reason.empty() ? s : s + ", " + quoted(w.reason));
  }

  void output_view(const OutputView& v) {
    std::string s = fmt::format("view {} of input {} at {}, strides [{}]", v.output, v.input,
                                v.offset.str(), list_text(v.strides));
    if (v.simple) s += ", simple";
    if (!v.steps.empty()) s += ", steps [" + list_text(v.steps) + "]";
    if (!v.starts.empty()) s += ", starts [" + list_text(v.starts) + "]";
    line(1, s);
  }

  const LoopProgram& p_;
  const Kernel* kernel_ = nullptr;
  std::vector<std::string> names_;
  std::set<ExprId> printed_;
  std::string out_;
};

}  // namespace
}  // namespace text

std::string print(const LoopProgram& program) {
  std::string graph = program.graph ? print(*program.graph) + "\n" : "";
  return graph + text::LoopsPrinter(program).print();
}

}  // namespace aotc
