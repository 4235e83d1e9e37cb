#include <algorithm>

#include "codegen/cuda/cuda_body.h"
#include "codegen/passes.h"
#include "codegen/source_library.h"

// The iterations that a thread takes at once.
namespace aotc {

using namespace loops;

// The variable that counts the packs of all axes.
std::string CudaBody::counter(const Phase& ph) const {
  if (ph.axes.size() > 1) return ph.axes[0].name + "_flat";
  return ph.axes[0].name + (width() > 1 ? "_pack" : "");
}

std::string CudaBody::axes_of_pack(const Phase& ph) const {
  std::vector<Axis> axes = ph.axes;
  if (width() > 1) axes.back() = {axes.back().name + "_pack", PackedAxes(axes, width()).in_last};
  return (ph.axes.size() > 1 ? axes_from(axes, counter(ph)) : "") + left_in_pack(ph);
}

std::string CudaBody::left_in_pack(const Phase& ph) const {
  if (PackedAxes(ph.axes, width()).full) return "";
  const Axis& a = ph.axes.back();
  return fmt::format("const {} left = {} - {} * {}_pack;\n", index_type(), index(a.extent), width(),
                     a.name);
}

// Where the pack that the iteration is in begins.
std::string CudaBody::address(BufferId b, const Sym& at, const std::string& axis) const {
  const Sym first = at.substitute({{axis, Sym::symbol(axis + "_pack") * Sym(width())}});
  return fmt::format("{} + {}", pointer(b), index(first));
}

StoreId CudaBody::id_of(const Store& s) const {
  return {static_cast<int>(looping_ - k_.phases.data()),
          static_cast<int>(&s - looping_->stores.data())};
}

bool CudaBody::is_packed(const Store& s) const {
  return width() > 1 && s.guard < 0 && !s.accumulate &&
         is_adjacent(k_, s.at[0], looping_->axes.back().name);
}

bool CudaBody::stays_on_chip(const Store& s) const {
  return in_rounds_ && s_.launch->chip_stores.contains(id_of(s));
}

std::string CudaBody::load(ExprId id) const {
  const auto it = packs_.find(id);
  return it == packs_.end() ? KernelBody::load(id) : it->second;
}

std::string CudaBody::store(const Store& s) {
  if (!looping_) return KernelBody::store(s);
  const auto kept = s_.launch->kept_stores.find(id_of(s));
  const bool keep = in_rounds_ && kept != s_.launch->kept_stores.end();
  std::string text =
      keep ? fmt::format("{} = {};\n", kept_element(kept->second), value(s.value)) : "";
  if (stays_on_chip(s)) return text;
  if (!is_packed(s)) return text + KernelBody::store(s);
  return keep ? text : fmt::format("out{}.of[element] = {};\n", id_of(s).second, value(s.value));
}

std::string CudaBody::load_packs(const Phase& ph, const std::set<ExprId>& inner) {
  const std::string& axis = ph.axes.back().name;
  const GpuLaunch& l = *s_.launch;
  std::string text;
  for (ExprId id : inner) {
    const Expr& e = k_.exprs[static_cast<size_t>(id)];
    if (e.kind != ExprKind::Load || e.guard >= 0 || is_scalar_argument(p_, k_, e)) continue;
    if (in_rounds_ && l.kept_loads.contains(id)) {
      packs_[id] = kept_element(l.kept_loads.at(id));
    } else if (width() > 1 && is_adjacent(k_, e.at[0], axis)) {
      packs_[id] = fmt::format("pack{}.of[element]", id);
      text += fmt::format("const auto pack{} = load_pack<{}>({}{});\n", id, width(),
                          address(e.buffer, e.at[0], axis),
                          PackedAxes(ph.axes, width()).full ? "" : ", left");
    }
  }
  return text;
}

// The text for each element of the pack that there is.
std::string CudaBody::each_element(const Phase& ph, const std::string& text) const {
  if (width() == 1) return text;
  const Axis& a = ph.axes.back();
  const bool full = PackedAxes(ph.axes, width()).full;
  std::string inside = text;
  if (identifiers_in(text).contains(a.name))
    inside = fmt::format("const {0} {1} = {2} * {1}_pack + element;\n{3}", index_type(), a.name,
                         width(), text);
  if (!full) inside = "if (element < left) {\n" + inside + "}\n";
  return fmt::format("AOTC_UNROLL\nfor (int element = 0; element < {}; ++element) {{\n{}}}\n",
                     width(), inside);
}

std::string CudaBody::store_packs(const Phase& ph) const {
  std::string text;
  for (const Store& s : ph.stores) {
    if (!is_packed(s) || stays_on_chip(s)) continue;
    const auto kept = s_.launch->kept_stores.find(id_of(s));
    const std::string pack = in_rounds_ && kept != s_.launch->kept_stores.end()
                                 ? fmt::format("kept{}[round]", kept->second)
                                 : fmt::format("out{}", id_of(s).second);
    text += fmt::format("store_pack({}, {}{});\n", address(s.buffer, s.at[0], ph.axes.back().name),
                        pack, PackedAxes(ph.axes, width()).full ? "" : ", left");
  }
  return text;
}

std::string CudaBody::pack_iteration(const Phase& ph, const std::set<ExprId>& inner) {
  const Phase* const before = looping_;
  looping_ = &ph;
  std::string text = load_packs(ph, inner);
  for (const Store& s : ph.stores) {
    const bool kept = in_rounds_ && s_.launch->kept_stores.contains(id_of(s));
    if (is_packed(s) && !kept && !stays_on_chip(s))
      text += fmt::format("Pack<{}, {}> out{};\n",
                          cpp_type(p_.buffers[static_cast<size_t>(s.buffer)].dtype), width(),
                          id_of(s).second);
  }
  text += each_element(ph, body(ph, inner, "")) + store_packs(ph);
  packs_.clear();
  looping_ = before;
  return text;
}

}  // namespace aotc
