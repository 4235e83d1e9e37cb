// The rules of level 2 that span kernels: buffers, names, symbols, write-backs, outputs.
#include <algorithm>

#include "ir/text/print_graph.h"
#include "ir/text/verify.h"
#include "ir/text/verify_kernel.h"

namespace aotc {
namespace text {

using namespace loops;

namespace {

class LoopsVerifier {
 public:
  LoopsVerifier(const LoopProgram& p, Violations& found)
      : p_(p), g_(*p.graph), found_(found), context_{p, {}, {}} {}

  void run() {
    declare_symbols();
    for (const Buffer& b : p_.buffers) buffer(b);
    blocks();
    std::set<std::string> names;
    for (const Kernel& k : p_.kernels) {
      found_.at("kernel " + k.name);
      found_.require(names.insert(k.name).second, "its name is taken");
      verify_kernel(k, context_, found_);
      context_.written.merge(stored_buffers(k));
      if (k.kind == KernelKind::Host || k.control == Control::For)
        context_.symbols.insert(k.symbol);
    }
    for (const WriteBackInfo& w : p_.write_backs) write_back(w, names);
    for (const OutputView& v : p_.output_views) view(v);
    outputs();
  }

 private:
  // Symbols of the signature have values from the start, others once a host kernel has run.
  void declare_symbols() {
    for (const auto& [name, info] : g_.symbols)
      if (!info.unbacked) context_.symbols.insert(name);
    for (const Input& i : g_.inputs) {
      if (i.value && i.value->kind == ValueKind::Tensor)
        for (const Sym& s : i.value->type.sizes) context_.symbols.merge(s.symbols());
      if (auto* s = std::get_if<Sym>(&i.scalar)) context_.symbols.merge(s->symbols());
    }
  }

  void blocks() {
    found_.at("control flow");
    try {
      Blocks{controls_of(p_)};
    } catch (const InternalError& e) {
      found_.require(false, "{}", e.what());
    }
  }

  // ---- buffers

  void buffer(const Buffer& b) {
    found_.at(fmt::format("buffer '{}'", b.name));
    found_.require(buffer_names_.insert(b.name).second, "its name is taken");
    found_.require(b.strides.size() == b.sizes.size(), "it has {} sizes and {} strides",
                   b.sizes.size(), b.strides.size());
    for (const Sym& s : b.sizes) {
      auto c = s.constant();
      found_.require(!c || *c >= 0, "it has the size {}", s.str());
    }
    switch (b.home) {
      case Home::Temp:
        break;
      case Home::Input:
        input_buffer(b);
        break;
      case Home::Storage:
        storage_buffer(b);
        break;
      case Home::Output: {
        bool ok = b.index >= 0 && b.index < static_cast<int>(g_.outputs.size());
        if (found_.require(ok, "output {} does not exist", b.index)) output_type(b);
      }
    }
  }

  void input_buffer(const Buffer& b) {
    bool ok = b.index >= 0 && b.index < static_cast<int>(g_.inputs.size());
    const Value* v = ok ? g_.inputs[static_cast<size_t>(b.index)].value : nullptr;
    if (!found_.require(v && v->kind == ValueKind::Tensor, "input {} is no tensor", b.index))
      return;
    found_.require(v->type.dtype == b.dtype, "it is {}, input {} is {}", name(b.dtype), b.index,
                   name(v->type.dtype));
  }

  void storage_buffer(const Buffer& b) {
    if (!found_.require(b.index >= 0, "storage {} does not exist", b.index) || !g_.program) return;
    const auto& storages = g_.program->storages;
    if (!found_.require(b.index < static_cast<int>(storages.size()), "storage {} does not exist",
                        b.index))
      return;
    StorageRef view{b.index, {}, {}, b.offset.constant().value_or(0)};
    for (size_t d = 0; d < b.sizes.size() && d < b.strides.size(); ++d) {
      auto size = b.sizes[d].constant(), stride = b.strides[d].constant();
      if (!size || !stride) return;
      view.sizes.push_back(*size);
      view.strides.push_back(*stride);
    }
    int64_t end = byte_of(end_of_view(view), b.dtype);
    auto size = static_cast<int64_t>(storages[static_cast<size_t>(b.index)].bytes.size());
    found_.require(end <= size, "it ends at byte {} of a storage of {}", end, size);
  }

  void output_type(const Buffer& b) {
    const Output& o = g_.outputs[static_cast<size_t>(b.index)];
    if (!found_.require(o.kind == OutputKind::Tensor && o.value, "output {} is no tensor", b.index))
      return;
    found_.require(o.value->type.dtype == b.dtype, "it is {}, output {} is {}", name(b.dtype),
                   b.index, name(o.value->type.dtype));
  }

  bool is_buffer(BufferId b) const { return b >= 0 && b < static_cast<int>(p_.buffers.size()); }
  bool is_written(BufferId b) const {
    Home home = p_.buffers[static_cast<size_t>(b)].home;
    return home == Home::Input || home == Home::Storage || context_.written.contains(b);
  }

  // ---- signature

  void write_back(const WriteBackInfo& w, const std::set<std::string>& kernels) {
    found_.at(fmt::format("write back {}", w.write_back));
    bool known = w.write_back >= 0 && w.write_back < static_cast<int>(g_.write_backs.size());
    if (!found_.require(known, "the graph has no such write-back")) return;
    if (!found_.require(is_buffer(w.target), "its target is no buffer")) return;
    const WriteBack& of = g_.write_backs[static_cast<size_t>(w.write_back)];
    const Input& in = g_.inputs.at(static_cast<size_t>(of.input));
    const Buffer& target = p_.buffers[static_cast<size_t>(w.target)];
    bool same = in.stored.storage >= 0
                    ? target.home == Home::Storage && target.index == in.stored.storage
                    : target.home == Home::Input && target.index == of.input;
    found_.require(same, "buffer '{}' is not input '{}'", target.name, in.name);
    found_.require(w.value < static_cast<int>(p_.buffers.size()), "its value is no buffer");
    if (w.direct)
      found_.require(w.kernel.empty(), "it is direct, yet kernel {} copies", w.kernel);
    else
      found_.require(kernels.contains(w.kernel), "kernel '{}', which copies, does not exist",
                     w.kernel);
  }

  void view(const OutputView& v) {
    found_.at(fmt::format("view {}", v.output));
    bool ok = v.output >= 0 && v.output < static_cast<int>(g_.outputs.size());
    found_.require(ok, "output {} does not exist", v.output);
    bool input = v.input >= 0 && v.input < static_cast<int>(g_.inputs.size());
    found_.require(input, "input {} does not exist", v.input);
    const Value* value = ok ? g_.outputs[static_cast<size_t>(v.output)].value : nullptr;
    if (value)
      found_.require(v.strides.size() == value->type.rank(), "{} strides for rank {}",
                     v.strides.size(), value->type.rank());
    viewed_.insert(v.output);
  }

  void outputs() {
    found_.at("outputs");
    if (!found_.require(p_.output_buffers.size() == g_.outputs.size(),
                        "{} output buffers, {} outputs", p_.output_buffers.size(),
                        g_.outputs.size()))
      return;
    for (size_t i = 0; i < g_.outputs.size(); ++i) {
      found_.at(fmt::format("output {}", i));
      BufferId b = p_.output_buffers[i];
      bool needs =
          g_.outputs[i].kind == OutputKind::Tensor && !viewed_.contains(static_cast<int>(i));
      if (!found_.require(!needs || is_buffer(b), "it has no buffer")) continue;
      if (b < 0 || !found_.require(is_buffer(b), "buffer {} does not exist", b)) continue;
      found_.require(is_written(b), "nothing writes its buffer '{}'",
                     p_.buffers[static_cast<size_t>(b)].name);
    }
  }

  const LoopProgram& p_;
  const Graph& g_;
  Violations& found_;
  KernelContext context_;
  std::set<std::string> buffer_names_;
  std::set<int> viewed_;
};

}  // namespace
}  // namespace text

void verify(const loops::LoopProgram& program, std::string_view stage) {
  AOTC_CHECK(program.graph, "stage {}: a loop program has no graph", std::string(stage));
  text::Violations found;
  text::LoopsVerifier(program, found).run();
  found.throw_if_any(stage);
}

}  // namespace aotc
