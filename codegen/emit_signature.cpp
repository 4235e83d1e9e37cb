// Text of the tables that describe a program's signature.
#include "codegen/emit_signature.h"

#include <algorithm>

#include "codegen/cpp_text.h"
#include "codegen/kernel_edit.h"
#include "ir/symbol_sources.h"

namespace aotc {

using namespace loops;

namespace {

std::string table(const char* type, const char* name, const std::string& rows) {
  return rows.empty() ? "" : fmt::format("const {} {}[] = {{\n{}}};\n\n", type, name, rows);
}

std::string limit(const std::optional<int64_t>& v, const char* none) {
  if (!v || *v == INT64_MIN || *v == INT64_MAX)
    return v && *v == INT64_MIN ? "INT64_MIN" : v ? "INT64_MAX" : none;
  return std::to_string(*v);
}

class Tables {
 public:
  Tables(const Plan& plan, const WeightLayout& weights, Sizes& sizes)
      : plan_(plan), p_(plan.program), g_(*plan.program.graph), weights_(weights), sizes_(sizes) {}

  Signature make() {
    out_.text = symbols() + inputs() + outputs() + storages() + names() + aliased_io();
    return std::move(out_);
  }

 private:
  std::string symbols() const {
    std::string rows;
    for (const auto& [name, info] : g_.symbols)
      rows += fmt::format("{{{}, {}, {}}},\n", cpp_string(name), limit(info.min, "INT64_MIN"),
                          limit(info.max, "INT64_MAX"));
    if (rows.empty()) return "";
    return "#define INT64_MAX 9223372036854775807L\n#define INT64_MIN (-9223372036854775807L - "
           "1)\n" +
           table("AotcSymbol", "symbols", rows);
  }

  static const char* device(const Device& d) { return d == Device{} ? "AOTC_HOST" : "AOTC_GPU"; }

  // ---- inputs

  std::string dimension(const Sym& s) {
    if (const auto linear = linear_size(s))
      return fmt::format("{{{{0, -1}}, {}, {}, {}}}", symbol_index(g_, linear->symbol),
                         linear->factor, linear->offset);
    return fmt::format("{{{}, -1, 0, 0}}", sizes_(s));
  }

  bool is_mutated(int input) const {
    return std::any_of(g_.write_backs.begin(), g_.write_backs.end(),
                       [&](const WriteBack& w) { return w.input == input; });
  }

  // Whether the input's content matters: a mutated one keeps what the program does not overwrite.
  bool is_read(int input) const {
    if (is_mutated(input)) return true;
    auto is_input = [&](BufferId b) {
      const Buffer& buffer = p_.buffers[static_cast<size_t>(b)];
      return buffer.home == Home::Input && buffer.index == input;
    };
    for (const Kernel& k : p_.kernels)  // matrix products too, which have no parameters of ours
      if (std::ranges::any_of(buffers_read(k), is_input)) return true;
    return std::ranges::any_of(p_.output_views,
                               [&](const OutputView& v) { return v.input == input; });
  }

  const Buffer& input_buffer(int input) const {
    for (const Buffer& b : p_.buffers)
      if (b.home == Home::Input && b.index == input) return b;
    internal_error("input {} has no buffer", input);
  }

  std::string inputs() {
    std::string arrays, rows;
    const std::vector<std::string> names = unique_names(user_input_names(g_));
    for (size_t i = 0; i < g_.inputs.size(); ++i) {
      const Input& in = g_.inputs[i];
      if (!in.is_user()) continue;
      const std::string name = cpp_string(names[out_.n_inputs]);
      rows += in.kind == InputKind::User ? tensor_input(static_cast<int>(i), name, arrays)
                                         : scalar_input(in, name, arrays);
      ++out_.n_inputs;
    }
    return arrays + table("AotcInput", "inputs", rows);
  }

  std::string tensor_input(int i, const std::string& name, std::string& arrays) {
    const Buffer& b = input_buffer(i);
    std::vector<std::string> dims, strides;
    for (const Sym& s : b.sizes) dims.push_back(dimension(s));
    for (const Sym& s : b.strides) strides.push_back(sizes_(s));
    const std::string prefix = fmt::format("input{}_", out_.n_inputs);
    return fmt::format("{{{}, AOTC_INPUT_TENSOR, {}, {}, {}, {}, {}, {}, 0, 0, {}}},\n", name,
                       dl_type(b.dtype), dims.size(),
                       array(prefix + "dimensions", "AotcDimension", dims, arrays),
                       array(prefix + "strides", "AotcExtent", strides, arrays),
                       is_mutated(i) ? 1 : 0, is_read(i) ? 1 : 0, device(b.device));
  }

  std::string scalar_input(const Input& in, const std::string& name, std::string& arrays) {
    auto constant = [&](DType t, const std::string& real, int64_t integer) {
      return fmt::format("{{{}, AOTC_INPUT_CONSTANT, {}, 0, NULL, NULL, 0, 0, {}, {}}},\n", name,
                         dl_type(t), real, integer);
    };
    if (auto* d = std::get_if<double>(&in.scalar))
      return constant(DType::Float64, cpp_constant(ScalarValue::of(*d)), 0);
    if (auto* b = std::get_if<bool>(&in.scalar)) return constant(DType::Bool, "0", *b);
    const Sym& s = std::get<Sym>(in.scalar);
    if (auto c = s.constant()) return constant(DType::Int64, "0", *c);
    return fmt::format("{{{}, AOTC_INPUT_SYMBOL, {}, 0, {}, NULL, 0, 1, 0, 0}},\n", name,
                       dl_type(DType::Int64),
                       array(fmt::format("input{}_dimensions", out_.n_inputs), "AotcDimension",
                             {dimension(s)}, arrays));
  }

  // The name of an array that is added to `arrays`, or NULL if it has no items.
  static std::string array(const std::string& name, const std::string& type,
                           const std::vector<std::string>& items, std::string& arrays) {
    arrays += cpp_array(name, type, items);
    return items.empty() ? "NULL" : name;
  }

  // ---- outputs

  std::string outputs() {
    std::string arrays, rows;
    const std::vector<std::string> names = unique_names(output_names(g_));
    for (size_t i = 0; i < g_.outputs.size(); ++i) {
      const Output& o = g_.outputs[i];
      const std::string name = cpp_string(names[i]);
      if (o.kind == OutputKind::None)
        rows += fmt::format("{{{}, AOTC_OUTPUT_NONE}},\n", name);
      else
        rows +=
            o.kind == OutputKind::Scalar ? scalar_output(o, name) : tensor_output(i, name, arrays);
    }
    return arrays + table("AotcOutput", "outputs", rows);
  }

  std::string scalar_output(const Output& o, const std::string& name) {
    auto row = [&](const char* kind, DType t, const std::string& offset, const std::string& real,
                   bool integer) {
      return fmt::format("{{{}, {}, 0, {}, 0, NULL, NULL, {}, 0, {}, {}, NULL, NULL}},\n", name,
                         kind, dl_type(t), offset, real, integer ? 1 : 0);
    };
    if (auto* d = std::get_if<double>(&o.scalar))
      return row("AOTC_OUTPUT_CONSTANT", DType::Float64, "{0, -1}",
                 cpp_constant(ScalarValue::of(*d)), false);
    if (auto* b = std::get_if<bool>(&o.scalar))
      return row("AOTC_OUTPUT_CONSTANT", DType::Bool, "{0, -1}", "0", *b);
    return row("AOTC_OUTPUT_SYMBOL",
               is_float(std::get<Sym>(o.scalar)) ? DType::Float64 : DType::Int64,
               sizes_(std::get<Sym>(o.scalar)), "0", false);
  }

  const OutputView* view_of(size_t output) const {
    for (const OutputView& v : p_.output_views)
      if (v.output == static_cast<int>(output)) return &v;
    return nullptr;
  }

  std::vector<std::string> extents(const std::vector<Sym>& list) {
    std::vector<std::string> out;
    for (const Sym& s : list) out.push_back(sizes_(s));
    return out;
  }

  std::string tensor_output(size_t i, const std::string& name, std::string& arrays) {
    const TensorType& type = g_.outputs[i].value->type;
    const std::string prefix = fmt::format("output{}_", i);
    const std::string sizes = array(prefix + "sizes", "AotcExtent", extents(type.sizes), arrays);
    const OutputView* view = view_of(i);
    if (view) return view_output(*view, name, type, sizes, prefix, arrays);
    const std::vector<Sym>& strides = p_.buffers[static_cast<size_t>(p_.output_buffers[i])].strides;
    const bool dynamic =
        std::ranges::any_of(type.sizes, [&](const Sym& s) { return sizes_.depends_on_data(s); });
    return fmt::format(
        "{{{}, AOTC_OUTPUT_FRESH, 0, {}, {}, {}, {}, {{0, -1}}, {}, 0, 0, NULL, NULL, {}}},\n",
        name, dl_type(type.dtype), type.sizes.size(), sizes,
        array(prefix + "strides", "AotcExtent", extents(strides), arrays), dynamic ? 1 : 0,
        device(type.device));
  }

  std::string view_output(const OutputView& v, const std::string& name, const TensorType& type,
                          const std::string& sizes, const std::string& prefix,
                          std::string& arrays) {
    const Input& in = g_.inputs[static_cast<size_t>(v.input)];
    const bool user = in.kind == InputKind::User;
    return fmt::format(
        "{{{}, {}, {}, {}, {}, {}, {}, {}, 0, 0, 0, {}, {}, {}}},\n", name,
        user ? "AOTC_OUTPUT_INPUT" : "AOTC_OUTPUT_STATE",
        user ? user_position(g_, v.input) : name_index(in.target), dl_type(type.dtype),
        type.sizes.size(), sizes,
        array(prefix + "strides", "AotcExtent", extents(v.strides), arrays), sizes_(v.offset),
        v.simple ? array(prefix + "view_step", "AotcExtent", extents(v.steps), arrays) : "NULL",
        v.simple ? array(prefix + "view_start", "AotcExtent", extents(v.starts), arrays) : "NULL",
        device(type.device));
  }

  // ---- storages

  std::string storages() const {
    std::string rows;
    for (const WeightStorage& s : weights_.storages)
      rows += fmt::format("{{{}, {}, {}, {}}},\n", s.bytes, s.offset, s.state ? 1 : 0,
                          device(s.device));
    return table("AotcStorage", "storages", rows);
  }

  int name_index(const std::string& fqn) const {
    for (size_t i = 0; i < weights_.names.size(); ++i)
      if (weights_.names[i].name == fqn) return static_cast<int>(i);
    internal_error("no storage is named '{}'", fqn);
  }

  std::string names() const {
    std::string arrays, rows;
    auto numbers = [](const std::vector<int64_t>& list) {
      std::vector<std::string> text;
      for (int64_t n : list) text.push_back(std::to_string(n));
      return text;
    };
    for (size_t i = 0; i < weights_.names.size(); ++i) {
      const WeightName& n = weights_.names[i];
      const std::string prefix = fmt::format("name{}_", i);
      rows += fmt::format("{{{}, {}, {}, {}, {}, {}, {}, {}}},\n", cpp_string(n.name), n.storage,
                          dl_type(n.dtype), n.sizes.size(),
                          array(prefix + "sizes", "int64_t", numbers(n.sizes), arrays),
                          array(prefix + "strides", "int64_t", numbers(n.strides), arrays),
                          n.offset, n.state ? 1 : 0);
    }
    return arrays + table("AotcName", "names", rows);
  }

  std::string aliased_io() {
    out_.aliased_io = aliased_io_rows(plan_, weights_);
    std::string rows;
    for (const AliasedIoRow& r : out_.aliased_io)
      rows += fmt::format("{{{}, {}, {}, {}, {}, {}}},\n", r.output, r.input, r.storage_name,
                          cpp_string(r.kind), r.direct ? 1 : 0, cpp_string(r.reason));
    return table("AotcAliasedIo", "aliased_io", rows);
  }

  const Plan& plan_;
  const LoopProgram& p_;
  const Graph& g_;
  const WeightLayout& weights_;
  Sizes& sizes_;
  Signature out_;
};

}  // namespace

int user_position(const Graph& g, int input) {
  int position = 0;
  for (int i = 0; i < input; ++i) position += g.inputs[static_cast<size_t>(i)].is_user();
  return g.inputs[static_cast<size_t>(input)].is_user() ? position : -1;
}

Signature signature_tables(const Plan& plan, const WeightLayout& weights, Sizes& sizes) {
  return Tables(plan, weights, sizes).make();
}

}  // namespace aotc
