// `aotc explain`: a row per kernel, then a row per mutation; as text and as JSON.
#include <nlohmann/json.hpp>

#include "codegen/kernel_edit.h"
#include "codegen/pipeline.h"
#include "codegen/schedule.h"
#include "codegen/user_aliases.h"
#include "ir/template_kernel.h"

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
  Sym outer(1), total(0);
  for (BufferId b : template_writes(k)) total = total + bytes_of(p.buffers[static_cast<size_t>(b)]);
  for (const Axis& a : k.axes) outer = outer * a.extent;
  for (const Phase& ph : k.phases) {
    Sym inner = outer;
    for (const Axis& a : ph.axes) inner = inner * a.extent;
    for (const Store& s : ph.stores)
      total = total + inner * Sym(element_size(p.buffers[static_cast<size_t>(s.buffer)].dtype));
  }
  return total;
}

// What a kernel moves between memory and the chip that it runs on.
struct Movement {
  std::set<BufferId> reads, writes;
  Sym bytes_read, bytes_written;
};

// Once what it reads, at most the whole of each buffer; on a GPU again what it loads again.
Movement movement_of(const LoopProgram& p, const Kernel& k) {
  Movement m{buffers_read(k), buffers_written(k), Sym(0), bytes_written(p, k)};
  for (BufferId b : m.reads)
    m.bytes_read = m.bytes_read + bytes_of(p.buffers[static_cast<size_t>(b)]);
  if (k.device == Device{} || is_template(k)) return m;
  const ScheduledKernel s = schedule(p, k);
  if (!s.launch) return m;
  const Traffic traffic = gpu_traffic(p, s.kernel, *s.launch);
  m = {buffers_read(s.kernel), buffers_written(s.kernel), traffic.read, traffic.written};
  for (BufferId b : s.launch->chip_buffers) {
    m.reads.erase(b);
    m.writes.erase(b);
  }
  return m;
}

// What is done at once: a kernel, or those of a launch group as one.
struct Step {
  const Kernel* kernel;
  std::vector<Origin> origins;
  Movement moved;
};

std::vector<Step> steps_of(const Plan& plan) {
  std::vector<Step> steps;
  for (size_t i = 0; i < plan.program.kernels.size(); ++i) {
    const Kernel& k = plan.program.kernels[i];
    Step s{&k, k.origins, movement_of(plan.program, k)};
    const LaunchGroup* const group = plan.group_of(i);
    if (group && i > group->first) {
      const Step product = std::move(steps.back());
      steps.pop_back();
      const BufferId handed_over = product.kernel->matmul->c.buffer;
      s.origins.insert(s.origins.begin(), product.origins.begin(), product.origins.end());
      s.moved.bytes_read = s.moved.bytes_read + product.moved.bytes_read -
                           bytes_of(plan.program.buffers[static_cast<size_t>(handed_over)]);
      s.moved.reads.insert(product.moved.reads.begin(), product.moved.reads.end());
      s.moved.reads.erase(handed_over);
    }
    steps.push_back(std::move(s));
  }
  return steps;
}

std::string list_homes(const Plan& plan, const std::set<BufferId>& ids) {
  std::string s;
  for (BufferId b : ids) s += (s.empty() ? "" : ", ") + home_text(plan, b);
  return s.empty() ? "-" : s;
}

using json = nlohmann::ordered_json;

json number(const Sym& s) {
  if (const auto constant = s.constant()) return *constant;
  return s.str();
}

json line_json(const Source& source) {
  if (source.file.empty()) return {{"file", nullptr}, {"line", nullptr}, {"text", ""}};
  return {{"file", source.file}, {"line", source.line}, {"text", source.text}};
}

const char* home_name(Home home) {
  switch (home) {
    case Home::Input:
      return "input";
    case Home::Storage:
      return "stored";
    case Home::Output:
      return "output";
    case Home::Temp:
      return "arena";
  }
  return "?";
}

json buffers_json(const Plan& plan, const std::set<BufferId>& ids) {
  json list = json::array();
  for (BufferId id : ids) {
    const Buffer& b = plan.program.buffers[static_cast<size_t>(id)];
    json j = {{"home", home_name(b.home)}, {"name", b.name}, {"bytes", number(bytes_of(b))}};
    if (b.home == Home::Output) j["output"] = b.index;
    const auto offset = plan.arena_offset.find(id);
    if (offset != plan.arena_offset.end()) j["arena_offset"] = number(offset->second);
    list.push_back(std::move(j));
  }
  return list;
}

const char* kind_name(const Kernel& k) {
  if (k.kind == KernelKind::Control) return "control";
  if (k.kind == KernelKind::Check) return "check";
  if (k.kind == KernelKind::Host) return "host";
  if (k.kind == KernelKind::Transfer) return "transfer";
  if (k.kind == KernelKind::Wait) return "wait";
  return k.matmul ? "matmul" : k.sort ? "sort" : k.kind == KernelKind::Copy ? "copy" : "loops";
}

std::string device_name(const Device& d) {
  return d.index < 0 ? d.type : fmt::format("{}:{}", d.type, d.index);
}

// "to cuda:0" for a transfer; where a program uses several devices, where else a kernel runs.
std::string where(const Plan& plan, const Kernel& k) {
  if (plan.gpu_device() == Device{}) return "";
  return fmt::format("  ({} {})", k.kind == KernelKind::Transfer ? "to" : "on",
                     device_name(k.device));
}

// How much runs and moves where, of a program with a GPU part.
std::string device_summary(const Plan& plan) {
  if (plan.gpu_device() == Device{}) return "";
  int launches = 0, transfers = 0, waits = 0;
  Sym moved(0), transferred(0);
  for (const Step& s : steps_of(plan)) {
    const Kernel& k = *s.kernel;
    waits += k.kind == KernelKind::Wait;
    if (k.kind == KernelKind::Transfer) {
      ++transfers;
      transferred = transferred + s.moved.bytes_written;
    } else if (!(k.device == Device{})) {
      ++launches;
      moved = moved + s.moved.bytes_read + s.moved.bytes_written;
    }
  }
  return fmt::format(
      "{}: {} launches that read and write <= {} bytes, {} transfers of {} bytes, {} waits, arena "
      "{} bytes\n",
      device_name(plan.gpu_device()), launches, moved.str(), transfers, transferred.str(), waits,
      plan.gpu.arena_bytes.str());
}

json kernel_json(const Plan& plan, const Step& s) {
  const Kernel& k = *s.kernel;
  if (k.kind == KernelKind::Control)
    return {{"kind", "control"}, {"control", name(k.control)}, {"bound", number(k.bound)}};
  json j = {{"kind", kind_name(k)}, {"name", k.name}, {"device", device_name(k.device)}};
  j["ops"] = json::array();
  for (const Origin& o : s.origins)
    j["ops"].push_back({{"op", o.op}, {"python", line_json(o.source)}});
  j["bytes_read"] = number(s.moved.bytes_read);
  j["reads"] = buffers_json(plan, s.moved.reads);
  if (k.kind == KernelKind::Check) {
    j["message"] = k.message;
    return j;
  }
  j["bytes_written"] = number(s.moved.bytes_written);
  j["writes"] = buffers_json(plan, s.moved.writes);
  return j;
}

json mutation_json(const LoopProgram& p, const WriteBackInfo& w) {
  const WriteBack& wb = p.graph->write_backs[static_cast<size_t>(w.write_back)];
  const Input& in = p.graph->inputs[static_cast<size_t>(wb.input)];
  return {{"kind", in.kind == InputKind::User ? "input" : "state"},
          {"name", in.target.empty() ? in.name : in.target},
          {"write", w.direct ? "direct" : "copy"},
          {"cache_update", w.cache_update},
          {"reason", w.reason},
          {"op", mutation_text(*p.graph, wb)},
          {"python", line_json(wb.source)}};
}

}  // namespace

std::string explain_json(const Plan& plan) {
  json j = {{"arena_bytes", number(plan.host.arena_bytes)}};
  if (!(plan.gpu_device() == Device{})) j["device_arena_bytes"] = number(plan.gpu.arena_bytes);
  j["kernels"] = json::array();
  for (const Step& s : steps_of(plan)) j["kernels"].push_back(kernel_json(plan, s));
  j["mutations"] = json::array();
  for (const WriteBackInfo& w : plan.program.write_backs)
    j["mutations"].push_back(mutation_json(plan.program, w));
  return j.dump(1, ' ', false, json::error_handler_t::replace) + "\n";
}

std::string explain(const Plan& plan) {
  const LoopProgram& p = plan.program;
  const std::vector<Step> steps = steps_of(plan);
  std::string text = fmt::format("{} kernel{}, arena {} bytes\n", steps.size(),
                                 steps.size() == 1 ? "" : "s", plan.host.arena_bytes.str());
  text += device_summary(plan);
  for (const Step& s : steps) {
    const Kernel& k = *s.kernel;
    if (k.kind == KernelKind::Control) {
      text += fmt::format("\n{} {}\n", name(k.control), k.bound.str());
      continue;
    }
    text += fmt::format("\n{}{}\n", k.name, where(plan, k));
    for (const Origin& o : s.origins)
      text += fmt::format("    {:<28} {:<24} {}\n", o.op, o.source.str(), o.source.text);
    text += fmt::format("    reads <= {} bytes: {}\n", s.moved.bytes_read.str(),
                        list_homes(plan, s.moved.reads));
    if (k.kind == KernelKind::Check)
      text += fmt::format("    checks: {}\n", k.message);
    else
      text += fmt::format("    writes {} bytes: {}\n", s.moved.bytes_written.str(),
                          list_homes(plan, s.moved.writes));
  }
  if (!p.write_backs.empty()) text += "\nmutations\n";
  for (const WriteBackInfo& w : p.write_backs) {
    const WriteBack& wb = p.graph->write_backs[static_cast<size_t>(w.write_back)];
    const Input& in = p.graph->inputs[static_cast<size_t>(wb.input)];
    text += fmt::format("    {:<6} {} {}: {}{} at {} ({})\n", w.direct ? "direct" : "copy",
                        in.kind == InputKind::User ? "input" : "state",
                        in.target.empty() ? in.name : in.target,
                        w.cache_update ? "kv_cache_update by " : "", mutation_text(*p.graph, wb),
                        wb.source.str(), w.reason);
  }
  return text;
}

}  // namespace aotc
