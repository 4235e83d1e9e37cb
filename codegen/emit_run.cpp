// Text of a program's `run`.
#include "codegen/emit_run.h"

#include <algorithm>
#include <set>

#include "codegen/cpp_text.h"
#include "codegen/emit_signature.h"
#include "codegen/emit_template.h"
#include "codegen/kernel_edit.h"
#include "ir/template_kernel.h"

namespace aotc {

using namespace loops;

namespace {

// Element types that program.cpp does not know are passed as opaque pointers (extern "C": same
// symbol).
std::string pointer_type(DType t) {
  bool plain = is_bool(t) || is_integer(t) || t == DType::Float32 || t == DType::Float64;
  return plain ? cpp_type(t) : "void";
}

class RunEmitter {
 public:
  RunEmitter(const Plan& plan, const std::vector<ScheduledKernel>& kernels, const CudaSources& cuda,
             const WeightLayout& weights, Sizes& sizes)
      : plan_(plan),
        p_(plan.program),
        g_(*plan.program.graph),
        kernels_(kernels),
        cuda_(cuda),
        weights_(weights),
        sizes_(sizes),
        assumptions_(g_.assumptions()),
        templates_(
            p_, [this](const Sym& s) { return index(s); }, [this](BufferId b) { return home(b); }),
        launches_(
            cuda, p_, [this](const Sym& s) { return index(s); },
            [this](BufferId b) { return home(b); }, templates_) {}

  RunText make() {
    out_.scratch_slots = plan_.host.scratch_slots;
    std::string body;
    const Kernel* product = nullptr;  // of the group that the next kernel is in
    for (const ScheduledKernel& s : kernels_) {
      if (s.kernel.kind == KernelKind::Control) {
        body += marker(s.kernel);
        continue;
      }
      if (runs_on_host(s) && s.function == s.kernel.name) out_.declarations += declaration(s);
      if (s.in_group && s.kernel.matmul) {  // its consumer launches it
        product = &s.kernel;
        continue;
      }
      body += step(s) + fmt::format("step_done(frame, {});\n", out_.steps.size());
      out_.steps.push_back(step_row(launched(s, product)));
      product = nullptr;
    }
    const bool uses_frame = body.find("frame") != std::string::npos;
    std::string head;
    for (const auto& [n, info] : g_.symbols)
      if (!info.unbacked)
        head += fmt::format("[[maybe_unused]] const int64_t {} = frame->symbols[{}];\n", n,
                            symbol_index(g_, n));
    if (!uses_frame && head.empty()) head = "(void)frame;\n";
    out_.run = "int32_t run(AotcFrame* frame) {\n" + head + body + "return 0;\n}\n\n";
    return std::move(out_);
  }

 private:
  const Buffer& buffer(BufferId id) const { return p_.buffers[static_cast<size_t>(id)]; }
  std::string index(const Sym& s) const { return cpp_index(s, assumptions_); }

  // ---- kernels

  std::string marker(const Kernel& k) const {
    switch (k.control) {
      case Control::If:
        return fmt::format("if ({}) {{\n", index(k.bound));
      case Control::Else:
        return "} else {\n";
      case Control::While:
        return "for (;;) {\n";
      case Control::Test:
        return fmt::format("if (!({})) break;\n", index(k.bound));
      case Control::For:
        return fmt::format("for (int64_t {0} = 0; {0} < {1}; ++{0}) {{\n", k.symbol,
                           index(k.bound));
      default:
        return "}\n";
    }
  }

  std::string step(const ScheduledKernel& s) {
    const Kernel& k = s.kernel;
    if (k.kind == KernelKind::Wait) return "if (frame->wait(frame)) return 1;\n";
    if (k.kind == KernelKind::Transfer) return transfer(k);
    if (!(k.device == Device{})) return "// " + k.name + "\n" + launch(s);
    if (is_template(k)) return template_call(k);
    if (k.kind == KernelKind::Host) return host_call(s);
    if (k.kind != KernelKind::Check)
      return (s.function == k.name ? "" : "// " + k.name + "\n") + call(s) + ";\n";
    return fmt::format("if ({}) {{\n{}frame->failure.has_value = {};\nreturn 1;\n}}\n", call(s),
                       failure(k.message), k.report >= 0 ? 1 : 0);
  }

  std::string launch(const ScheduledKernel& s) const {
    if (s.product) return launches_.product(*s.product, &s);
    return s.kernel.matmul ? launches_.product(*s.kernel.matmul, nullptr) : launches_.loops(s);
  }

  // The kernel with the origins of the product that it takes.
  static Kernel launched(const ScheduledKernel& s, const Kernel* product) {
    Kernel k = s.kernel;
    if (product) add_origins(k, product->origins, true);
    return k;
  }

  std::string transfer(const Kernel& k) const {
    const BufferId from = k.exprs.at(0).buffer, to = k.phases.at(0).stores.at(0).buffer;
    const auto device = [&](BufferId b) {
      return buffer(b).device == Device{} ? "AOTC_HOST" : "AOTC_GPU";
    };
    const Sym bytes = product(buffer(to).sizes) * Sym(element_size(buffer(to).dtype));
    return fmt::format("// {}\nif (frame->transfer(frame, {}, {}, {}, {}, {})) return 1;\n", k.name,
                       templates_.pointer(to, Sym(0), true), device(to),
                       templates_.pointer(from, Sym(0), false), device(from), index(bytes));
  }

  // Each op and line once, in the order of the graph.
  static std::string step_row(const Kernel& k) {
    std::vector<std::string> ops, lines;
    auto add = [](std::vector<std::string>& list, const std::string& text) {
      if (!text.empty() && std::ranges::find(list, text) == list.end()) list.push_back(text);
    };
    for (const Origin& o : k.origins) {
      add(ops, o.op);
      if (!o.source.file.empty()) add(lines, o.source.str());
    }
    return fmt::format("{{{}, {}, {}}}", cpp_string(k.name),
                       cpp_string(fmt::format("{}", fmt::join(ops, ", "))),
                       cpp_string(fmt::format("{}", fmt::join(lines, ", "))));
  }

  static std::string failure(const std::string& message) {
    return fmt::format("frame->failure.message = {};\n", cpp_string(message));
  }

  std::string declaration(const ScheduledKernel& s) const {
    const KernelParameters params = parameters_of(p_, s);
    const std::set<BufferId> written = buffers_written(s.kernel);
    std::vector<std::string> list;
    for (BufferId b : params.buffers)
      list.push_back(fmt::format("{}{}* {}", written.contains(b) ? "" : "const ",
                                 pointer_type(buffer(b).dtype), pointer_name(p_, b)));
    for (const std::string& n : params.symbols) list.push_back("int64_t " + n);
    if (params.parallel)
      list.insert(list.end(), {"void* parallel_context", "AotcParallelFor parallel_for"});
    if (s.kernel.kind == KernelKind::Check) list.push_back("int64_t* report");
    const char* result = s.kernel.kind == KernelKind::Check  ? "int32_t"
                         : s.kernel.kind == KernelKind::Host ? "int64_t"
                                                             : "void";
    return fmt::format("extern \"C\" {} {}({});\n", result, s.kernel.name, fmt::join(list, ", "));
  }

  std::string home(BufferId id) const {
    const Buffer& b = buffer(id);
    switch (b.home) {
      case Home::Input:
        return fmt::format("frame->inputs[{}]", user_position(g_, b.index));
      case Home::Storage:
        return fmt::format("frame->storages[{}]", weights_.storage_index(b.index));
      case Home::Output:
        return fmt::format("frame->outputs[{}]", b.index);
      case Home::Temp:
        if (plan_.scratch_slot.contains(id)) return slot_name(plan_.scratch_slot.at(id), b.device);
        return fmt::format("(frame->{} + {})", b.device == Device{} ? "arena" : "device_arena",
                           index(plan_.arena_offset.at(id)));
    }
    internal_error("unknown home");
  }

  std::string call(const ScheduledKernel& s) const {
    const KernelParameters params = parameters_of(p_, s);
    const std::set<BufferId> written = buffers_written(s.kernel);
    std::vector<std::string> args;
    for (BufferId b : params.buffers)
      args.push_back(fmt::format("({}{}*){}", written.contains(b) ? "" : "const ",
                                 pointer_type(buffer(b).dtype), home(b)));
    for (const std::string& n : params.symbols) args.push_back(n);
    if (params.parallel)
      args.insert(args.end(), {"frame->parallel_context", "frame->parallel_for"});
    if (s.kernel.kind == KernelKind::Check) args.push_back("&frame->failure.value");
    return fmt::format("{}({})", s.function, fmt::join(args, ", "));
  }

  // ---- values that the program reads from its data

  // Reads a symbol, checks its range, then obtains everything whose size is known by now.
  std::string host_call(const ScheduledKernel& s) {
    const std::string& n = s.kernel.symbol;
    if (std::ranges::find(known_, n) != known_.end()) return same_value(s);
    known_.push_back(n);
    std::string text = fmt::format("const int64_t {} = {};\nframe->symbols[{}] = {};\n", n, call(s),
                                   symbol_index(g_, n), n);
    text += range_check(s.kernel, n, g_.symbols.at(n));
    std::string memory = data_dependent_memory();
    const std::string function = "sizes_after_" + n;
    const std::string definition = sizes_.function(function, known_);
    out_.functions += definition;
    return text + (definition.empty() ? "" : sizes_.call(function)) + memory;
  }

  // Another value that the program says is the same symbol.
  std::string same_value(const ScheduledKernel& s) const {
    const std::string& n = s.kernel.symbol;
    const std::string where =
        s.kernel.origins.empty() ? "" : s.kernel.origins[0].source.str() + ": ";
    return fmt::format(
        "if (const int64_t value = {}; value != {}) {{\n{}frame->failure.value = value;\n"
        "frame->failure.has_value = 1;\nreturn 1;\n}}\n",
        call(s), n, failure(where + "two sizes that the program takes for equal differ"));
  }

  std::string range_check(const Kernel& k, const std::string& n, const SymbolInfo& info) const {
    std::vector<std::string> wrong;
    if (info.min && *info.min != INT64_MIN) wrong.push_back(fmt::format("{} < {}", n, *info.min));
    if (info.max && *info.max != INT64_MAX) wrong.push_back(fmt::format("{} > {}", n, *info.max));
    if (wrong.empty()) return "";
    const std::string where = k.origins.empty() ? "" : k.origins[0].source.str() + ": ";
    const std::string message = fmt::format("{}the value must be in [{}, {}]", where,
                                            info.min ? std::to_string(*info.min) : "-inf",
                                            info.max ? std::to_string(*info.max) : "inf");
    return fmt::format(
        "if ({}) {{\n{}frame->failure.value = {};\nframe->failure.has_value = 1;\nreturn 1;\n}}\n",
        fmt::join(wrong, " || "), failure(message), n);
  }

  // All of it comes right after the value that decides its size: a call can fail there, and
  // write-backs know.
  std::string data_dependent_memory() {
    std::string text;
    for (size_t i = 0; i < p_.output_buffers.size(); ++i) {
      const BufferId b = p_.output_buffers[i];
      if (b < 0 || buffer(b).home != Home::Output ||
          !becomes_known(buffer(b).sizes, "output" + std::to_string(i)))
        continue;
      for (const Sym& s : buffer(b).sizes) sizes_(s);
      for (const Sym& s : buffer(b).strides) sizes_(s);
      text += fmt::format("if (!frame->obtain_output(frame, {})) return 1;\n", i);
    }
    for (const auto& [b, slot] : plan_.scratch_slot) {
      const Sym bytes = plan_.scratch_bytes.at(b);
      if (!becomes_known({bytes}, slot_name(slot, buffer(b).device))) continue;
      text +=
          scratch(slot, fmt::format("frame->extents[{}]", sizes_.entry(bytes)), buffer(b).device);
    }
    for (const ScheduledKernel& s : kernels_) {
      if (!is_template(s.kernel) || !(s.kernel.device == Device{}) ||
          !becomes_known(scratch_sizes(s.kernel), s.kernel.name))
        continue;
      template_slots_[s.kernel.name] = out_.scratch_slots;
      text += scratch(out_.scratch_slots++, templates_.scratch_bytes(s.kernel));
    }
    return text;
  }

  static std::string slot_name(int slot, const Device& device) {
    return fmt::format("{}scratch_{}", device == Device{} ? "" : "device_", slot);
  }

  static std::string scratch(int slot, const std::string& bytes, const Device& device = {}) {
    return fmt::format(
        "char* const {0} = (char*)frame->obtain_{1}scratch(frame, {2}, {3});\nif (!{0}) return "
        "1;\n",
        slot_name(slot, device), device == Device{} ? "" : "device_", slot, bytes);
  }

  // Once for each thing: its sizes depend on data, and all of that is known.
  bool becomes_known(const std::vector<Sym>& sizes, const std::string& what) {
    std::vector<std::string> needed;
    for (const Sym& s : sizes)
      for (const std::string& n : sizes_.data_dependent(s)) needed.push_back(n);
    auto known = [&](const std::string& n) { return std::ranges::find(known_, n) != known_.end(); };
    return !needed.empty() && std::ranges::all_of(needed, known) && obtained_.insert(what).second;
  }

  // ---- templates

  std::string template_call(const Kernel& k) {
    out_.templates.merge(templates_.files(k));
    std::string text = "// " + k.name;
    for (const Origin& o : k.origins)
      text += fmt::format("  {}  {}", o.op, one_line(o.source.str()));
    return text + "\n" + templates_.call(k, template_scratch(k));
  }

  // Scratch follows the arena; where its size depends on data, it has a slot of its own.
  std::string template_scratch(const Kernel& k) {
    if (template_slots_.contains(k.name))
      return fmt::format("scratch_{}", template_slots_.at(k.name));
    out_.scratch.push_back(templates_.scratch_bytes(k));
    return fmt::format("frame->arena + {}", index(plan_.host.arena_bytes));
  }

  static std::string one_line(std::string s) {
    for (char& c : s)
      if (c == '\n' || c == '\r') c = ' ';
    while (s.ends_with("\\") || s.ends_with(" ")) s.pop_back();
    return s;
  }

  const Plan& plan_;
  const LoopProgram& p_;
  const Graph& g_;
  const std::vector<ScheduledKernel>& kernels_;
  const CudaSources& cuda_;
  const WeightLayout& weights_;
  Sizes& sizes_;
  Assumptions assumptions_;
  std::vector<std::string> known_;
  std::set<std::string> obtained_;
  TemplateEmitter templates_;
  LaunchEmitter launches_;
  std::map<std::string, int> template_slots_;  // by kernel
  RunText out_;
};

}  // namespace

RunText run_text(const Plan& plan, const std::vector<ScheduledKernel>& kernels,
                 const CudaSources& cuda, const WeightLayout& weights, Sizes& sizes) {
  return RunEmitter(plan, kernels, cuda, weights, sizes).make();
}

}  // namespace aotc
