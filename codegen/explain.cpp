// `aotc explain`: a row per kernel, then a row per mutation.
#include "codegen/kernel_edit.h"
#include "codegen/pipeline.h"

namespace aotc {

using namespace loops;

namespace {

std::string home_text(const Plan& plan, BufferId b) {
  const Buffer& buffer = plan.program.buffers[static_cast<size_t>(b)];
  switch (buffer.home) {
    case Home::Input:
      return "input " + buffer.name;
    case Home::Storage:
      return "stored " + buffer.name;
    case Home::Output:
      return "output " + std::to_string(buffer.index);
    case Home::Temp: {
      auto it = plan.arena_offset.find(b);
      return it == plan.arena_offset.end() ? buffer.name
                                           : fmt::format("arena+{}", it->second.str());
    }
  }
  return "?";
}

Sym bytes_of(const Buffer& b) { return product(b.sizes) * Sym(element_size(b.dtype)); }

// Bytes that the kernel stores: the elements that its store statements reach.
Sym bytes_written(const LoopProgram& p, const Kernel& k) {
  if (k.matmul) return bytes_of(p.buffers[static_cast<size_t>(k.matmul->c.buffer)]);
  Sym outer(1), total(0);
  for (const Axis& a : k.axes) outer = outer * a.extent;
  for (const Phase& ph : k.phases) {
    Sym inner = outer;
    for (const Axis& a : ph.axes) inner = inner * a.extent;
    for (const Store& s : ph.stores)
      total = total + inner * Sym(element_size(p.buffers[static_cast<size_t>(s.buffer)].dtype));
  }
  return total;
}

// At most the whole of each buffer that it reads.
Sym bytes_read(const LoopProgram& p, const Kernel& k) {
  Sym total(0);
  for (BufferId b : buffers_read(k)) total = total + bytes_of(p.buffers[static_cast<size_t>(b)]);
  return total;
}

std::string list_homes(const Plan& plan, const std::set<BufferId>& ids) {
  std::string s;
  for (BufferId b : ids) s += (s.empty() ? "" : ", ") + home_text(plan, b);
  return s.empty() ? "-" : s;
}

}  // namespace

std::string explain(const Plan& plan) {
  const LoopProgram& p = plan.program;
  std::string text = fmt::format("{} kernel{}, arena {} bytes\n", p.kernels.size(),
                                 p.kernels.size() == 1 ? "" : "s", plan.arena_bytes.str());
  for (const Kernel& k : p.kernels) {
    if (k.kind == KernelKind::Control) {
      text += fmt::format("\n{} {}\n", name(k.control), k.bound.str());
      continue;
    }
    text += fmt::format("\n{}\n", k.name);
    for (const Origin& o : k.origins)
      text += fmt::format("    {:<28} {:<24} {}\n", o.op, o.source.str(), o.source.text);
    text += fmt::format("    reads <= {} bytes: {}\n", bytes_read(p, k).str(),
                        list_homes(plan, buffers_read(k)));
    if (k.kind == KernelKind::Check)
      text += fmt::format("    checks: {}\n", k.message);
    else
      text += fmt::format("    writes {} bytes: {}\n", bytes_written(p, k).str(),
                          list_homes(plan, buffers_written(k)));
  }
  if (!p.write_backs.empty()) text += "\nmutations\n";
  for (const WriteBackInfo& w : p.write_backs) {
    const WriteBack& wb = p.graph->write_backs[static_cast<size_t>(w.write_back)];
    const Input& in = p.graph->inputs[static_cast<size_t>(wb.input)];
    text += fmt::format("    {:<6} {} {}: {} at {} ({})\n", w.direct ? "direct" : "copy",
                        in.kind == InputKind::User ? "input" : "state",
                        in.target.empty() ? in.name : in.target, wb.op, wb.source.str(), w.reason);
  }
  return text;
}

}  // namespace aotc
