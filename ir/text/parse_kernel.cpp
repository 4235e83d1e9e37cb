// Reads kernels. Expressions and accumulators may carry any numbers in the text; they are numbered
// anew, in the same order and without gaps.
#include "ir/text/parse_kernel.h"

#include "ir/text/format.h"
#include "ir/text/phase_steps.h"

namespace aotc::text {

using namespace loops;

namespace {

std::optional<KernelKind> kernel_kind(const std::string& w) {
  if (w == "kernel") return KernelKind::Loops;
  if (w == "check") return KernelKind::Check;
  if (w == "template") return KernelKind::Template;
  if (w == "host") return KernelKind::Host;
  if (w == "copy") return KernelKind::Copy;
  if (w == "transfer") return KernelKind::Transfer;
  return std::nullopt;
}

// Numbers as written -> consecutive numbers, and where each is used.
class Numbering {
 public:
  bool define(int id) { return new_ids_.emplace(id, 0).second; }
  int use(int id, size_t position) {
    uses_.emplace_back(id, position);
    return id;
  }
  void renumber(const Reader& in, const char* what) {
    int next = 0;
    for (auto& [id, to] : new_ids_) to = next++;
    for (auto [id, position] : uses_)
      if (!new_ids_.contains(id))
        in.fail_at(position, fmt::format("{}{} is not defined", what, id));
  }
  int operator()(int id) const { return id < 0 ? id : new_ids_.at(id); }
  const std::map<int, int>& ids() const { return new_ids_; }

 private:
  std::map<int, int> new_ids_;
  std::vector<std::pair<int, size_t>> uses_;
};

class KernelParser {
 public:
  KernelParser(Reader& in, const BufferNames& buffers) : in_(in), buffers_(buffers) {
    kernel_.phases.emplace_back();
  }

  Kernel parse() {
    header();
    for (;;) {
      if (!in_.next_line()) in_.fail("the kernel has no closing '}'");
      if (in_.accept("}")) break;
      statement();
    }
    in_.end_of_line();
    renumber();
    return std::move(kernel_);
  }

 private:
  Phase& phase() { return kernel_.phases.back(); }

  void header() {
    kernel_.kind = *kernel_kind(in_.word("a kind of kernel"));
    kernel_.name = in_.name("the kernel's name");
    if (in_.accept("(")) kernel_.axes = axes();
    if (in_.accept("@")) kernel_.device = in_.device();
    in_.expect("{");
    in_.end_of_line();
  }

  std::vector<Axis> axes() {
    std::vector<Axis> list;
    in_.list(")", [&] {
      Axis a;
      a.name = in_.name("an axis");
      in_.expect("<");
      a.extent = sym(",)");
      list.push_back(std::move(a));
    });
    return list;
  }

  void statement() {
    std::string w = in_.peek_word();
    if (in_.peek() == '%') return expr();
    if (is_accumulator(w)) return accumulator();
    if (in_.accept_word("from")) return origin();
    if (in_.accept_word("phase")) return begin_phase();
    if (in_.accept_word("store")) return store();
    if (in_.accept_word("require")) return require();
    if (in_.accept_word("matmul")) return matmul();
    if (in_.accept_word("sort")) return sort();
    if (in_.accept_word("set")) return set_symbol();
    if (w == "a" || w == "b" || w == "c" || w == "d") return matmul_operand();
    if (w == "x" || w == "values" || w == "indices") return sort_operand();
    in_.fail(
        "expected a statement: from, phase, %N, accN, store, require, set, matmul, a, b, c, d, "
        "sort, x, values, indices or '}'");
  }

  void origin() {
    Origin o;
    o.op = in_.name("an op");
    o.node = in_.name("a node's name");
    o.source = in_.end_of_line();
    kernel_.origins.push_back(std::move(o));
  }

  void begin_phase() {
    if (phases_seen_++ > 0)
      kernel_.phases.emplace_back();
    else if (!phase().stores.empty() || !phase().accumulators.empty())
      in_.fail("a kernel with a line 'phase' has nothing before its first phase");
    if (in_.accept("(")) phase().axes = axes();
    phase().ordered = in_.accept_word("ordered");
    in_.end_of_line();
  }

  // ---- numbered things

  static bool is_accumulator(const std::string& w) {
    return w.size() > 3 && w.starts_with("acc") && w.find_first_not_of("0123456789", 3) == w.npos;
  }

  ExprId expr_id() {
    size_t begin = in_.mark();
    in_.expect("%");
    int64_t id = in_.integer("an expression's number");
    if (id < 0 || id > kMaxId) in_.fail_at(begin, "the number is out of range");
    return static_cast<ExprId>(id);
  }
  ExprId expr_use() {
    size_t begin = in_.mark();
    return exprs_.use(expr_id(), begin);
  }

  int accumulator_id() {
    size_t begin = in_.mark();
    std::string w = in_.word("an accumulator, like acc0");
    if (!is_accumulator(w) || w.size() > 9)
      in_.fail_at(begin, "expected an accumulator, like acc0");
    return std::stoi(w.substr(3));
  }
  int accumulator_use() {
    size_t begin = in_.mark();
    return accumulators_.use(accumulator_id(), begin);
  }

  // An expression whose "%n" count as uses.
  Sym sym(std::string_view stops) {
    size_t begin = in_.mark();
    Sym s = in_.sym(stops);
    for (const std::string& name : s.symbols())
      if (ExprId e = expr_of_symbol(name); e >= 0) exprs_.use(e, begin);
    return s;
  }
  std::vector<Sym> syms() {
    std::vector<Sym> items;
    in_.expect("[");
    in_.list("]", [&] { items.push_back(sym(",]")); });
    return items;
  }

  // ---- expressions

  void expr() {
    size_t begin = in_.mark();
    ExprId id = expr_id();
    if (!exprs_.define(id)) in_.fail_at(begin, fmt::format("%{} is defined twice", id));
    in_.expect(":");
    Expr e;
    e.dtype = in_.dtype();
    in_.expect("=");
    definition(e);
    in_.end_of_line();
    kernel_.exprs.push_back(std::move(e));
    order_.push_back(id);
  }

  void definition(Expr& e) {
    std::string w = in_.peek_word();
    size_t begin = in_.mark();
    if (is_accumulator(w)) {
      e.kind = ExprKind::Accumulator;
      e.accumulator = accumulator_use();
    } else if (in_.accept_word("load")) {
      load(e);
    } else if (in_.accept_word("index")) {
      e.kind = ExprKind::Index;
      e.index = sym("");
    } else if (!w.empty() && in_.accept_word(w) && in_.accept("(")) {
      apply(e, w, begin);
    } else {
      in_.rewind(begin);
      e.constant = scalar("", e.dtype);
    }
  }

  ScalarValue scalar(std::string_view stops, DType dtype) {
    size_t begin = in_.mark();
    std::string text = in_.raw_expression(stops);
    auto v = scalar_from_text(text, dtype);
    if (!v) in_.fail_at(begin, fmt::format("'{}' is no {} value", text, name(dtype)));
    return *v;
  }

  void load(Expr& e) {
    e.kind = ExprKind::Load;
    e.buffer = parse_buffer_name(in_, buffers_);
    e.at = syms();
    if (in_.accept_word("if")) e.guard = expr_use();
    if (in_.accept_word("else")) e.otherwise = expr_use();
  }

  void apply(Expr& e, const std::string& primitive, size_t begin) {
    auto p = prim_from_name(primitive);
    if (!p) in_.fail_at(begin, fmt::format("unknown primitive '{}'", primitive));
    e.kind = ExprKind::Apply;
    e.prim = *p;
    in_.list(")", [&] { e.args.push_back(expr_use()); });
  }

  // ---- effects

  void accumulator() {
    size_t begin = in_.mark();
    int id = accumulator_id();
    if (!accumulators_.define(id)) in_.fail_at(begin, fmt::format("acc{} is defined twice", id));
    Accumulator a;
    in_.expect(":");
    a.dtype = in_.dtype();
    in_.expect("=");
    begin = in_.position();
    std::string primitive = in_.word("a primitive");
    auto p = prim_from_name(primitive);
    if (!p) in_.fail_at(begin, fmt::format("unknown primitive '{}'", primitive));
    a.combine = *p;
    in_.expect("(");
    a.value = expr_use();
    in_.expect(")");
    in_.expect_word("from");
    a.identity = scalar(" ", a.dtype);
    a.ordered = in_.accept_word("ordered");
    if (in_.accept_word("position")) a.companion = accumulator_use();
    in_.end_of_line();
    a.phase = static_cast<int>(kernel_.phases.size()) - 1;
    kernel_.accumulators.push_back(a);
    accumulator_order_.push_back(id);
    phase().accumulators.push_back(id);
  }

  void store() {
    Store s;
    s.buffer = parse_buffer_name(in_, buffers_);
    s.at = syms();
    s.accumulate = in_.accept("+=");
    if (!s.accumulate) in_.expect("=");
    s.value = expr_use();
    if (in_.accept_word("if")) s.guard = expr_use();
    in_.end_of_line();
    phase().stores.push_back(std::move(s));
  }

  void require() {
    kernel_.condition = expr_use();
    in_.expect(",");
    if (in_.accept_word("report")) {
      kernel_.report = expr_use();
      in_.expect(",");
    }
    kernel_.message = in_.string("the message");
    in_.end_of_line();
  }

  void set_symbol() {
    kernel_.symbol = in_.name("a symbol");
    in_.expect("=");
    size_t begin = in_.mark();
    if (expr_use() != 0) in_.fail_at(begin, "a host kernel's value is expression %0");
    in_.end_of_line();
  }

  // ---- templates

  // ", NAME =" before a value.
  void expect_field(const char* name) {
    in_.expect(",");
    in_.expect_word(name);
    in_.expect("=");
  }
  std::vector<Sym> batch() {
    in_.expect(",");
    in_.expect_word("batch");
    return syms();
  }

  void matmul() {
    Matmul m;
    m.dtype = in_.dtype();
    m.batch_sizes = batch();
    expect_field("m");
    m.m = sym(",");
    expect_field("n");
    m.n = sym(",");
    expect_field("k");
    m.k = sym(",");
    expect_field("alpha");
    m.alpha = in_.number("a factor");
    expect_field("beta");
    m.beta = in_.number("a factor");
    in_.end_of_line();
    kernel_.matmul = std::make_shared<Matmul>(std::move(m));
  }

  void matmul_operand() {
    if (!kernel_.matmul) in_.fail("an operand needs a line 'matmul' above it");
    Matmul& m = *kernel_.matmul;
    std::string role = in_.word("an operand");
    MatmulOperand& o = role == "a" ? m.a : role == "b" ? m.b : role == "c" ? m.c : m.d;
    in_.expect("=");
    o.buffer = parse_buffer_name(in_, buffers_);
    in_.expect_word("at");
    o.offset = sym(",");
    o.batch = batch();
    expect_field("row");
    o.row = sym(",");
    expect_field("col");
    o.col = sym(",");
    in_.end_of_line();
  }

  void sort() {
    Sort s;
    s.sizes = syms();
    expect_field("dim");
    s.dim = static_cast<int>(in_.integer("a dimension"));
    in_.expect(",");
    if (in_.accept_word("within")) {
      in_.expect("=");
      s.within = static_cast<int>(in_.integer("a dimension"));
      in_.expect(",");
    }
    in_.expect_word("count");
    in_.expect("=");
    s.count = sym(",");
    if (in_.accept(",")) {
      in_.expect_word("descending");
      s.descending = true;
    }
    in_.end_of_line();
    kernel_.sort = std::make_shared<Sort>(std::move(s));
  }

  void sort_operand() {
    if (!kernel_.sort) in_.fail("an operand needs a line 'sort' above it");
    const std::string role = in_.word("an operand");
    in_.expect("=");
    const BufferId buffer = parse_buffer_name(in_, buffers_);
    Sort& s = *kernel_.sort;
    (role == "x" ? s.x : role == "values" ? s.values : s.indices) = buffer;
    if (role == "x") {
      in_.expect_word("at");
      s.offset = sym(",");
      in_.expect(",");
      in_.expect_word("strides");
      s.strides = syms();
    }
    in_.end_of_line();
  }

  // ---- numbers without gaps

  void renumber() {
    exprs_.renumber(in_, "%");
    accumulators_.renumber(in_, "acc");
    std::vector<Expr> exprs(order_.size());
    for (size_t i = 0; i < order_.size(); ++i)
      exprs[static_cast<size_t>(exprs_(order_[i]))] = renumbered(std::move(kernel_.exprs[i]));
    kernel_.exprs = std::move(exprs);
    std::vector<Accumulator> accumulators(accumulator_order_.size());
    for (size_t i = 0; i < accumulator_order_.size(); ++i) {
      Accumulator a = kernel_.accumulators[i];
      a.value = exprs_(a.value);
      a.companion = accumulators_(a.companion);
      accumulators[static_cast<size_t>(accumulators_(accumulator_order_[i]))] = a;
    }
    kernel_.accumulators = std::move(accumulators);
    for (Phase& p : kernel_.phases) renumber(p);
    for (Axis& a : kernel_.axes) a.extent = renumbered(a.extent);
    kernel_.condition = exprs_(kernel_.condition);
    kernel_.report = exprs_(kernel_.report);
  }

  void renumber(Phase& p) {
    for (Axis& a : p.axes) a.extent = renumbered(a.extent);
    for (int& a : p.accumulators) a = accumulators_(a);
    for (Store& s : p.stores) {
      s.value = exprs_(s.value);
      s.guard = exprs_(s.guard);
      for (Sym& at : s.at) at = renumbered(at);
    }
  }

  Expr renumbered(Expr e) const {
    for (ExprId& a : e.args) a = exprs_(a);
    e.guard = exprs_(e.guard);
    e.otherwise = exprs_(e.otherwise);
    e.accumulator = accumulators_(e.accumulator);
    e.index = renumbered(e.index);
    for (Sym& s : e.at) s = renumbered(s);
    return e;
  }

  Sym renumbered(const Sym& s) const {
    bool changes = false;
    for (const std::string& name : s.symbols()) {
      ExprId e = expr_of_symbol(name);
      changes |= e >= 0 && exprs_(e) != e;
    }
    if (!changes) return s;
    return s.substitute([&](const std::string& name) -> std::optional<Sym> {
      ExprId e = expr_of_symbol(name);
      if (e < 0) return std::nullopt;
      return Sym::symbol("%" + std::to_string(exprs_(e)));
    });
  }

  static constexpr int64_t kMaxId = 100'000'000;
  Reader& in_;
  const BufferNames& buffers_;
  Kernel kernel_;
  int phases_seen_ = 0;
  Numbering exprs_, accumulators_;
  std::vector<int> order_,
      accumulator_order_;  // numbers as written, in the order of kernel_.exprs etc.
};

}  // namespace

bool is_kernel_word(const std::string& word) { return kernel_kind(word).has_value(); }

BufferId parse_buffer_name(Reader& in, const BufferNames& buffers) {
  size_t begin = in.mark();
  std::string name = in.name("a buffer");
  auto it = buffers.find(name);
  if (it == buffers.end()) in.fail_at(begin, fmt::format("buffer '{}' is not defined above", name));
  return it->second;
}

Kernel parse_kernel(Reader& in, const BufferNames& buffers) {
  return KernelParser(in, buffers).parse();
}

}  // namespace aotc::text
