// Tries calls of an op: which shapes and element types become kernels.
#include "ir/ops/element_types.h"

#include <exception>
#include <optional>

#include "ir/lowering.h"
#include "ir/ops/rewriter.h"

namespace aotc {
namespace {

using Shape = std::vector<int64_t>;

// Shapes for which some call of most ops is valid, tried in this order.
const std::vector<Shape>& shapes() {
  static const std::vector<Shape> kShapes = {{2, 2},          {4},      {2, 2, 2}, {1, 2, 4, 4}, {},
                                             {1, 2, 4, 4, 4}, {2, 3, 4}};
  return kShapes;
}

constexpr DType kTypes[] = {DType::Bool,    DType::UInt8,   DType::Int8,      DType::Int16,
                            DType::Int32,   DType::Int64,   DType::Float16,   DType::BFloat16,
                            DType::Float32, DType::Float64, DType::Complex64, DType::Complex128};

bool contains(std::string_view text, std::string_view part) {
  return text.find(part) != std::string_view::npos;
}

class Call {
 public:
  Call(const OpDef& op, DType type, const Shape& shape) : op_(op), type_(type), shape_(shape) {}

  bool compiles() {
    try {
      std::vector<Arg> args;
      for (const SchemaArg& a : op_.schema.args) args.push_back(argument(a));
      Node n;
      n.op = &op_;
      n.args = args;
      n.name = "node";
      Types types = op_.infer ? op_.infer(n) : infer_by_rewriting(*graph_, n);
      Node* node = graph_->insert(graph_->nodes.end(), &op_, args, types, "node", {});
      for (size_t i = 0; i < node->outputs.size(); ++i)
        if (node->outputs[i]->kind == ValueKind::Tensor)
          graph_->outputs.push_back(
              {OutputKind::Tensor, node->outputs[i], {}, "out" + std::to_string(i)});
      lower(decompose(functionalize({std::move(graph_)})));
      return true;
    } catch (const std::exception&) {  // refused: no such call
      return false;
    }
  }

 private:
  Value* tensor(DType type) {
    TensorType t = contiguous_type(type, Index(shape_.begin(), shape_.end()));
    Input in;
    in.name = "x" + std::to_string(graph_->inputs.size());
    in.value = graph_->new_value(in.name, t);
    graph_->inputs.push_back(in);
    return graph_->inputs.back().value;
  }

  DType type_of(std::string_view name) const {
    if (tensors_ == 0) return type_;
    bool index = contains(name, "ind") || name == "target" || name == "offsets" || name == "pivots";
    bool mask = name == "mask" || name == "condition";
    return mask ? DType::Bool : index ? DType::Int64 : type_;
  }

  Arg argument(const SchemaArg& a) {
    bool list = contains(a.type, "[");
    if (a.type.starts_with("Tensor")) {
      if (a.type.ends_with("?") && a.name != "weight") return None{};
      DType t = type_of(a.name);
      ++tensors_;
      if (list) return Values{tensor(t), tensor(t)};
      return tensor(t);
    }
    if (a.has_default) return a.default_value;
    if (a.type.ends_with("?")) return None{};
    return list ? number_list(a) : number(a);
  }

  Arg number_list(const SchemaArg& a) const {
    if (a.type.starts_with("bool")) return std::vector<bool>(3, true);
    if (a.type.starts_with("float")) return std::vector<double>(2, 1.0);
    bool sizes =
        contains(a.name, "size") && !contains(a.name, "kernel") && !contains(a.name, "output");
    if (sizes || a.name == "normalized_shape") return Index(shape_.begin(), shape_.end());
    if (contains(a.name, "dim")) return Index{Sym(0)};
    size_t open = a.type.find('[');
    bool counted = a.type[open + 1] >= '1' && a.type[open + 1] <= '9';
    size_t count = counted ? static_cast<size_t>(a.type[open + 1] - '0') : shape_.size();
    bool none = a.name == "padding" || a.name == "output_padding" || contains(a.name, "shift");
    return Index(count, Sym(none ? 0 : 1));
  }

  Arg number(const SchemaArg& a) const {
    if (a.type == "bool") return false;
    if (a.type == "str") return std::string();
    if (a.type == "float") return 0.5;
    if (a.type == "ScalarType") return type_;
    if (a.type == "Device") return Device{};
    bool zero = contains(a.name, "dim") || a.name == "index" || a.name == "start" || a.name == "k";
    return Sym(zero ? 0 : 1);
  }

  const OpDef& op_;
  DType type_;
  Shape shape_;
  int tensors_ = 0;
  std::unique_ptr<Graph> graph_ = std::make_unique<Graph>();
};

bool has_tensor(const OpDef& op) {
  for (const SchemaArg& a : op.schema.args)
    if (a.type.starts_with("Tensor")) return true;
  return false;
}

// The first shape of which a call compiles.
std::optional<Shape> working_shape(const OpDef& op) {
  for (DType t : {DType::Float32, DType::Int64, DType::Bool, DType::Complex64})
    for (const Shape& s : shapes())
      if (Call(op, t, s).compiles()) return s;
  return std::nullopt;
}

}  // namespace

std::vector<DType> element_types(const OpDef& op) {
  std::vector<DType> types;
  // Our own forms take what rows give them; sizes have no element type.
  bool plain = !op.name().starts_with("aotc.") && !op.name().starts_with("aten.sym_");
  auto shape = plain && has_tensor(op) ? working_shape(op) : std::nullopt;
  if (!shape) return types;
  for (DType t : kTypes)
    if (Call(op, t, *shape).compiles()) types.push_back(t);
  return types;
}

}  // namespace aotc
