// The op table: one row per aten op, with exactly one meaning. Everything that aotc knows about an
// op is a column here; passes ask for properties, never for names. In-place `op_` forms are
// derived: the functional twin plus a mutation of their first argument.
#pragma once
#include <functional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/graph.h"
#include "ir/loops.h"

namespace aotc {

class Lowering;
class KernelBuilder;
class Rewriter;
class Elements;
struct E;

using Index = std::vector<Sym>;  // one entry per dimension
using Types = std::vector<TensorType>;
using Values = std::vector<Value*>;

// A parsed "name.overload(Type arg=default, *, ...) -> Type" (torch's schema syntax).
struct SchemaArg {
  std::string name,
      type;  // type as written: "Tensor", "Tensor?", "int[]", "Scalar", "SymInt[2]", ...
  Arg default_value;
  bool has_default = false;
  bool mutated = false;  // "Tensor(a!)"
  bool aliased = false;  // "Tensor(a)": the result may be this tensor or a view of it
  bool is_tensor() const { return type.starts_with("Tensor"); }
};
struct Schema {
  std::string name;  // "aten.add.Tensor"
  std::vector<SchemaArg> args;
  int num_outputs = 1;
  int index_of(std::string_view arg_name) const;  // -1: none
};
Schema parse_schema(std::string_view text);

// How the element type of a pointwise op is found.
enum class TypeRule : uint8_t {
  Promote,  // result_type of the promoting arguments
  Float,    // the same, integers and bool become float32
  Compare,  // computed in the promoted type, yields bool
  SameAs0,  // of argument 0, whatever the others are
  Bool,     // arguments become bool, yields bool
  Dtype,    // the `dtype` argument if given, else as Promote
};

// Pointwise: `fn` yields one element from the elements of the arguments (already in the compute
// type).
struct ScalarMeaning {
  TypeRule rule = TypeRule::Promote;
  std::function<E(Elements&)> fn;
  std::vector<std::string> promoting =
      {};  // names of the arguments that take part; empty: tensors, `other`, `exponent`
};

// Reduction over `dim` (absent or empty: all) with `keepdim`.
struct ReduceMeaning {
  enum class Result : uint8_t {
    Same,
    Float,
    Sum /* ints and bool: int64 */,
    Bool,
    Index /* int64 position */,
    Dtype
  };
  Prim combine;
  Result result = Result::Same;
  std::function<E(E)> before = {};  // each element, in the compute type
  std::function<E(E, const Sym& count, const Node&)> after = {};  // the total
  bool with_index = false;                                        // outputs (values, indices)
  bool refuses_empty = false;  // no identity: an empty reduction is an error
};

// An index map: element `out_index` of output k is element map(...) of argument 0.
struct ViewMeaning {
  std::function<std::vector<Sym>(const Node&, int k, const std::vector<Sym>& out_index)> map;
  bool always_aliases = true;  // false: may copy (reshape, contiguous): aliases when strides allow
};

// Expands to other ops; returns the values that replace the outputs (nullptr for one without
// users).
struct RewriteMeaning {
  std::function<std::vector<Value*>(Rewriter&)> fn;
  bool writes_arguments =
      false;  // may expand to in-place ops on its arguments (batch_norm in training)
};

// Builds its kernels itself (index, scatter, creation, scan, templates, checks).
enum class LoopsKind : uint8_t {
  Index,
  Scatter,
  Creation,
  Scan,
  Sort,
  Template,
  Check,
  Host,
  Control
};
struct LoopsMeaning {
  LoopsKind kind;
  std::function<void(Lowering&, const Node&)> fn;
};

using Meaning =
    std::variant<ScalarMeaning, ReduceMeaning, ViewMeaning, RewriteMeaning, LoopsMeaning>;

struct OpDef {
  Schema schema;
  Meaning meaning;
  // Types of the outputs; rows of ScalarMeaning and ReduceMeaning have one by rule.
  std::function<std::vector<TensorType>(const Node&)> infer;
  const OpDef* twin = nullptr;  // derived in-place form: the functional op; argument 0 is mutated
  std::string in_place_name;    // of the derived form, where it is not "op_.overload"
  // Set where the result is argument 0's storage under other numbers (a conjugate, a real part):
  // what argument 0 becomes when `written` is written to the result.
  std::function<Value*(Rewriter&, Value* self, Value* written)> put = {};

  const std::string& name() const { return schema.name; }
  bool mutates() const { return twin != nullptr; }
  bool is_view() const { return !twin && std::holds_alternative<ViewMeaning>(meaning); }
  // A run-time check: kept though it has no output.
  bool is_check() const;
  template <typename M>
  const M* as() const {
    return std::get_if<M>(&meaning);
  }
};

// The row for "aten.add.Tensor" (with or without "torch.ops."), or nullptr.
const OpDef* find_op(std::string_view name);
// All rows, sorted by name, without derived ones.
std::vector<const OpDef*> all_ops();
// Names of rows nearest to an unknown one, for messages.
std::vector<std::string> similar_ops(std::string_view name);
// What torch calls the op's in-place form, if it has one.
std::string in_place_name_of(const OpDef& op);

// Argument access by schema name; throws InternalError when absent.
const Arg& arg(const Node& n, std::string_view name);
bool arg_is_none(const Node& n, std::string_view name);
Value* tensor_arg(const Node& n, std::string_view name);  // nullptr for None
Sym sym_arg(const Node& n, std::string_view name);
int64_t int_arg(const Node& n,
                std::string_view name);  // a constant; UserError naming the node otherwise
bool bool_arg(const Node& n, std::string_view name);
double double_arg(const Node& n, std::string_view name);
// Any real number as a Sym: a float one for a double.
Sym number_arg(const Arg& a);
// An integer or a bool, known at compile time or not.
bool is_whole(const Arg& a);
std::vector<Sym> syms_arg(const Node& n, std::string_view name);
std::vector<int64_t> ints_arg(const Node& n, std::string_view name);
std::optional<DType> dtype_arg(const Node& n, std::string_view name);

// Shape helpers shared by rows.
int64_t wrap_dim(int64_t dim, int64_t rank, const Node& n);
std::vector<Sym> broadcast_sizes(const std::vector<std::vector<Sym>>& shapes, const Node& n);
// The promoted type of the arguments that take part (torch's result_type with tensors, 0-d tensors,
// scalars).
DType result_type(const Node& n, const std::vector<int>& args);
// The (compute, result) types of a pointwise node, before half types widen to float32.
std::pair<DType, DType> pointwise_types(const Node& n, const ScalarMeaning& m);
// The dimensions that a reduce node reduces, wrapped and sorted (a 0-d argument: none).
std::vector<int64_t> reduced_dims(const Node& n);
TensorType contiguous_type(DType dtype, std::vector<Sym> sizes, Device device = {});

// Rows are lists; each file of ir/ops yields one, table.cpp joins them.
using Rows = std::vector<OpDef>;
Rows pointwise_ops();
Rows reduce_ops();
Rows view_ops();
Rows creation_ops();
Rows index_ops();
Rows linear_ops();
Rows composite_ops();
Rows check_ops();
Rows control_ops();

// Row makers.
OpDef scalar_op(std::string_view schema, TypeRule rule, std::function<E(Elements&)> fn,
                std::vector<std::string> promoting = {});
OpDef reduce_op(std::string_view schema, ReduceMeaning meaning);
OpDef view_op(std::string_view schema, std::function<std::vector<TensorType>(const Node&)> infer,
              std::function<std::vector<Sym>(const Node&, int, const std::vector<Sym>&)> map,
              bool always_aliases = true);
OpDef rewrite_op(std::string_view schema, std::function<std::vector<Value*>(Rewriter&)> fn);
OpDef loops_op(std::string_view schema, LoopsKind kind,
               std::function<std::vector<TensorType>(const Node&)> infer,
               std::function<void(Lowering&, const Node&)> fn);

}  // namespace aotc
