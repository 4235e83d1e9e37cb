// kernels.cpp of a program: one function per loop kernel. Each begins with the ops and Python lines
// that it computes, takes plain pointers and sizes, and hands ranges of its independent iterations
// to parallel_for.
#include <algorithm>
#include <set>

#include "codegen/cuda/emit_cuda.h"
#include "codegen/emit.h"
#include "codegen/emit_body.h"
#include "codegen/kernel_edit.h"
#include "codegen/passes.h"
#include "codegen/source_library.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

std::string pointer_name(const LoopProgram& p, BufferId b) {
  const Buffer& buffer = p.buffers[static_cast<size_t>(b)];
  std::string s;
  for (char c : buffer.name) s += std::isalnum(static_cast<unsigned char>(c)) ? c : '_';
  // Suffixes keep user names apart from our own (axes, symbols, values, C++ keywords).
  return fmt::format("{}_{}", s, b);
}

KernelParameters parameters_of(const LoopProgram& p, const ScheduledKernel& s) {
  KernelParameters out;
  const Kernel& k = s.kernel;
  // In the order of use, so that kernels that differ only in names have equal parameters.
  auto add = [&](std::vector<BufferId>& list, BufferId b) {
    if (s.launch && s.launch->chip_buffers.contains(b)) return;
    if (std::find(list.begin(), list.end(), b) == list.end()) list.push_back(b);
  };
  for (const Expr& e : k.exprs)
    if (e.kind == ExprKind::Load)
      add(is_scalar_argument(p, k, e) ? out.values : out.buffers, e.buffer);
  for (const Phase& ph : k.phases)
    for (const Store& st : ph.stores) add(out.buffers, st.buffer);
  std::set<std::string> symbols = symbols_used(p, k);
  for (const std::string& n : s.work.symbols())
    if (p.graph->symbols.contains(n)) symbols.insert(n);
  out.symbols.assign(symbols.begin(), symbols.end());
  out.parallel = !s.launch && k.kind != KernelKind::Check && k.kind != KernelKind::Host &&
                 !s.outer_count.is(1);
  return out;
}

bool runs_on_host(const ScheduledKernel& s) {
  const KernelKind kind = s.kernel.kind;
  return !s.launch && !is_template(s.kernel) && kind != KernelKind::Control &&
         kind != KernelKind::Transfer && kind != KernelKind::Wait;
}

std::string comment_for(const Kernel& k) {
  std::string text = fmt::format("// {}\n", k.name);
  std::set<std::string> seen;
  for (const Origin& o : k.origins) {
    std::string line = fmt::format("//   {}  {}  {}", o.op, o.source.str(), o.source.text);
    for (char& c : line)
      if (c == '\n' || c == '\r') c = ' ';
    while (line.ends_with("\\") || line.ends_with(" ")) line.pop_back();
    if (seen.insert(line).second) text += line + "\n";
  }
  return text;
}

namespace {

constexpr int64_t kParallelWork = 60000;  // scalar operations that pay for waking a thread

class KernelEmitter {
 public:
  // `comment`: whole lines; `canonical`: see KernelBody.
  KernelEmitter(const LoopProgram& p, const ScheduledKernel& s, bool canonical, std::string comment)
      : p_(p),
        s_(s),
        k_(s.kernel),
        name_(canonical ? "kernel" : k_.name),
        comment_(std::move(comment)),
        params_(parameters_of(p, s)),
        written_(buffers_written(k_)),
        body_(p, s, canonical) {}

  std::string text(StoreTable& stores) {
    if (k_.kind == KernelKind::Check) return check(stores);
    if (k_.kind == KernelKind::Host) return host();
    return loops(stores);
  }

 private:
  std::string parameter_list() const {
    std::vector<std::string> list;
    for (BufferId b : params_.buffers)
      list.push_back(fmt::format("{}{}* {}", written_.contains(b) ? "" : "const ",
                                 cpp_type(p_.buffers[static_cast<size_t>(b)].dtype),
                                 body_.pointer(b)));
    for (const std::string& s : params_.symbols) list.push_back("int64_t " + s);
    if (params_.parallel) {
      list.push_back("void* parallel_context");
      list.push_back("ParallelFor parallel_for");
    }
    return fmt::format("{}", fmt::join(list, ", "));
  }

  std::set<std::string> written_names() const {
    std::set<std::string> names;
    for (BufferId b : written_) names.insert(body_.pointer(b));
    return names;
  }

  // What is done from `begin` to `end`.
  std::string range_work() {
    if (s_.range_is_inner) return body_.phases();
    return fmt::format("for (int64_t position = begin; position < end; ++position) {{\n{}{}}}\n",
                       body_.axes_from(k_.axes, "position"), body_.phases());
  }

  std::string loops(StoreTable& stores) {
    stores[name_] = written_names();
    if (!params_.parallel) {
      std::string inner = s_.range_is_inner ? fmt::format("const int64_t begin = 0, end = {};\n",
                                                          body_.index(s_.outer_count))
                                            : "";
      std::string axes;
      for (const Axis& a : k_.axes) axes += fmt::format("const int64_t {} = 0;\n", a.name);
      return fmt::format("{}extern \"C\" void {}({}) {{\n{}{}{}}}\n\n", comment_, name_,
                         parameter_list(), inner, axes, body_.phases());
    }
    stores[name_ + "_range"] = written_names();
    std::string members, unpack, values;
    for (BufferId b : params_.buffers) {
      std::string type = fmt::format("{}{}*", written_.contains(b) ? "" : "const ",
                                     cpp_type(p_.buffers[static_cast<size_t>(b)].dtype));
      std::string n = body_.pointer(b);
      members += fmt::format("{} {};\n", type, n);
      unpack += fmt::format("{} {} = arguments->{};\n", type, n, n);
      values += n + ", ";
    }
    const std::string work = range_work();
    const std::set<std::string> read = identifiers_in(work);
    for (const std::string& s : params_.symbols) {
      if (!read.contains(s)) continue;  // only the number of iterations depends on it
      members += fmt::format("int64_t {};\n", s);
      unpack += fmt::format("const int64_t {} = arguments->{};\n", s, s);
      values += s + ", ";
    }
    std::string text = fmt::format("struct {}_arguments {{\n{}}};\n\n", name_, members);
    text += fmt::format(
        "{}static void {}_range(void* argument, int64_t begin, int64_t end) {{\nconst "
        "{}_arguments* arguments = (const {}_arguments*)argument;\n{}{}}}\n\n",
        comment_, name_, name_, name_, unpack, work);
    text += fmt::format("extern \"C\" void {}({}) {{\n{}_arguments arguments = {{{}}};\n", name_,
                        parameter_list(), name_, values);
    text += fmt::format("const int64_t count = {};\n", body_.index(s_.outer_count));
    text += fmt::format("const int64_t work = {};\n", body_.index(s_.work));
    text += fmt::format("if (work < {}) {{ {}_range(&arguments, 0, count); return; }}\n",
                        2 * kParallelWork, name_);
    text += fmt::format(
        "const int64_t grain = 1 + count / (1 + work / {});\nparallel_for(parallel_context, count, "
        "grain, {}_range, &arguments);\n}}\n\n",
        kParallelWork, name_);
    return text;
  }

  // Returns 1 and sets *report at the first iteration whose condition fails.
  std::string check(StoreTable& stores) {
    stores[name_] = {"report"};
    std::string params = parameter_list();
    std::string text = fmt::format("{}extern \"C\" int32_t {}({}{}int64_t* report) {{\n", comment_,
                                   name_, params, params.empty() ? "" : ", ");
    for (const Axis& a : k_.axes) text += body_.loop_head(a, "0", body_.index(a.extent)) + "{\n";
    std::set<ExprId> needed;
    body_.need(k_.condition, needed);
    body_.need(k_.report, needed);
    text += body_.declarations(needed, false);
    text += fmt::format("if (!{}) {{\n*report = {};\nreturn 1;\n}}\n", body_.value(k_.condition),
                        k_.report < 0 ? "0" : body_.value(k_.report));
    for (size_t i = 0; i < k_.axes.size(); ++i) text += "}\n";
    return text + "return 0;\n}\n\n";
  }

  std::string host() {
    std::set<ExprId> needed;
    ExprId root = static_cast<ExprId>(k_.exprs.size()) - 1;
    body_.need(root, needed);
    std::string text =
        fmt::format("{}extern \"C\" int64_t {}({}) {{\n", comment_, name_, parameter_list());
    text += body_.declarations(needed, false);
    return text + fmt::format("return {};\n}}\n\n", body_.value(root));
  }

  const LoopProgram& p_;
  const ScheduledKernel& s_;
  const Kernel& k_;
  const std::string name_, comment_;
  const KernelParameters params_;
  const std::set<BufferId> written_;
  KernelBody body_;
};

}  // namespace

std::string canonical_text(const LoopProgram& p, const ScheduledKernel& k) {
  if (k.launch) return cuda_text(p, k, true, false, "");
  StoreTable ignored;
  return KernelEmitter(p, k, true, "").text(ignored);
}

SourceFile kernels_file(const Plan& plan, const std::vector<ScheduledKernel>& kernels,
                        const EmitOptions& options, StoreTable& stores) {
  std::map<std::string, std::string> comments;  // by function
  for (const ScheduledKernel& s : kernels)
    if (runs_on_host(s)) comments[s.function] += comment_for(s.kernel);
  std::string body;
  for (const ScheduledKernel& s : kernels) {
    if (!runs_on_host(s) || s.function != s.kernel.name) continue;
    body += KernelEmitter(plan.program, s, false, comments[s.function]).text(stores);
  }
  std::string scalars = SourceLibrary(scalar_library_text()).needed_by(body);
  const std::string head = fmt::format(
      "// Kernels of {}, generated by aotc. Each names the ops and Python lines that it computes.\n"
      "{}\nnamespace aotc {{\n\n{}\n",
      options.name, kernel_prologue_text(), scalars);
  return {"kernels.cpp", head + body + "}  // namespace aotc\n", head.size()};
}

}  // namespace aotc
