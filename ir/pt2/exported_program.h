// Stage 0, `exported`: the archive, mirrored field by field. Names follow
// torch._export.serde.schema; the three container layouts and all schema versions from 7.3 to 8.20
// are read into this one form. Sizes stay expressions in text here (sympy's srepr or str);
// ir/import.cpp turns them into Sym.
#pragma once
#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "ir/dtype.h"

namespace aotc::pt2 {

// A serialized size: a number, or an expression with an optional hint (the example's value).
struct SymIntExpr {
  std::string expr;   // empty: `value` is the size
  int64_t value = 0;  // the size, or the hint
  bool has_hint = false;
};

struct Device {
  std::string type = "cpu";  // "cpu", "cuda", ...
  int index = -1;            // -1: none
  bool operator==(const Device&) const = default;
};

struct TensorMeta {
  DType dtype = DType::Float32;
  std::vector<SymIntExpr> sizes, strides;
  SymIntExpr storage_offset;
  Device device;
  int layout = 7;  // schema Layout: 7 strided; others are refused by the importer
  bool requires_grad = false;
};

struct None {
  bool operator==(const None&) const = default;
};
// References by name into the graph.
struct TensorName {
  std::string name;
};
struct SymIntName {
  std::string name;
};  // as_sym_int / as_sym_ints with as_name
struct SymFloatName {
  std::string name;
};
struct SymBoolName {
  std::string name;
};
struct CustomObjName {
  std::string name, class_fqn;
};
struct ScalarTypeArg {
  DType dtype;
};
struct MemoryFormatArg {
  int value;
};  // schema MemoryFormat number
struct LayoutArg {
  int value;
};  // schema Layout number
struct OperatorName {
  std::string name;
};
struct ComplexValue {
  double real, imag;
};

struct Graph;
struct GraphArg {
  std::string name;
  std::shared_ptr<Graph> graph;
};

// One argument of a node. Lists are vectors of Argument whose elements are of the matching single
// kind (as_tensors, as_optional_tensors (None or TensorName), as_ints, as_sym_ints (int64_t or
// SymIntName), ...).
struct Argument {
  std::variant<None, bool, int64_t, double, std::string, ComplexValue, TensorName, SymIntName,
               SymFloatName, SymBoolName, CustomObjName, ScalarTypeArg, MemoryFormatArg, LayoutArg,
               Device, OperatorName, GraphArg, std::vector<Argument>,
               std::map<std::string, Argument>>
      value;
  std::string kind;  // the schema's union tag, "as_tensor", "as_sym_ints", ... for messages
};

struct NamedArgument {
  std::string name;  // "" for positional arguments of older archives
  Argument arg;
};

struct Node {
  std::string target;  // "torch.ops.aten.add.Tensor", "_operator.add", ...
  std::vector<NamedArgument> inputs;
  std::vector<Argument> outputs;
  std::map<std::string, std::string> metadata;  // stack_trace, nn_module_stack, ...
  std::optional<bool> is_hop_single_tensor_return;
  std::string name;
};

// "add" of "torch.ops.aten.add.Tensor"; nothing for a target that is no aten op.
inline std::string_view aten_name(std::string_view target) {
  constexpr std::string_view kPrefix = "torch.ops.aten.";
  if (!target.starts_with(kPrefix)) return {};
  target.remove_prefix(kPrefix.size());
  return target.substr(0, target.find('.'));
}

struct SymInt {
  SymIntExpr expr;
};
struct SymFloat {
  std::string expr;
  double value = 0;
  bool has_hint = false;
};
struct SymBool {
  std::string expr;
  bool value = false;
  bool has_hint = false;
};

struct Graph {
  std::vector<Argument> inputs, outputs;
  std::vector<Node> nodes;
  std::map<std::string, TensorMeta> tensor_values;
  std::map<std::string, SymInt> sym_int_values;
  std::map<std::string, SymFloat> sym_float_values;
  std::map<std::string, SymBool> sym_bool_values;
  bool is_single_tensor_return = false;
};

enum class InputKind {
  UserInput,
  Parameter,
  Buffer,
  TensorConstant,
  CustomObj,
  Token,
  ConstantInput
};
struct InputSpec {
  InputKind kind = InputKind::UserInput;
  Argument arg;  // TensorName, SymIntName, or for ConstantInput the Python value (None, int, ...)
  std::string target;  // parameter_name, buffer_name, tensor_constant_name
  bool persistent = true;
  std::string name;  // ConstantInput's name
};

enum class OutputKind {
  UserOutput,
  LossOutput,
  BufferMutation,
  GradientToParameter,
  GradientToUserInput,
  UserInputMutation,
  ParameterMutation,
  Token
};
struct OutputSpec {
  OutputKind kind = OutputKind::UserOutput;
  Argument arg;
  std::string target;  // buffer_name / user_input_name / parameter_name
};

struct Range {
  std::optional<int64_t> min, max;  // nullopt: unbounded
};

// A tensor kept in the archive: a view of a storage that stays mapped. read_pt2 has checked that
// every element lies inside the storage, that sizes and strides are not negative, and that the
// number of bytes the view spans, expanded dimensions included, fits 63 bits. Elements may lie at
// any address: archives do not align them. A bool's byte may be any value; all but 0 mean true.
struct StoredTensor {
  DType dtype = DType::Float32;
  std::vector<int64_t> sizes, strides;  // elements
  int64_t offset = 0;                   // elements from the start of the storage
  int storage = -1;                     // index into ExportedProgram::storages
  bool requires_grad = false;
};

// Bytes of one storage: a window of the mapped archive, or (deflated members, big-endian) memory of
// our own.
struct Storage {
  std::string_view bytes;
  std::string origin;  // archive member, for messages
  // CRC-32 that the archive gives for `bytes`, not yet compared (that would read them):
  // verify_weights() does. nullopt: compared already, or the archive has none.
  std::optional<uint32_t> crc;
};

// A sample input value in order of the flattened (args, kwargs): tensor, Python scalar, string or
// None.
using SampleInput = std::variant<None, bool, int64_t, double, std::string, StoredTensor>;

struct ExportedProgram {
  std::string path;  // as given
  std::string name;  // file name without directory and suffix
  int schema_major = 0, schema_minor = 0;
  std::string torch_version;
  std::map<std::string, int> opset_version;
  std::vector<std::string> verifiers;  // "TRAINING", "ATEN", ... when present
  Graph graph;
  std::vector<InputSpec> input_specs;
  std::vector<OutputSpec> output_specs;
  std::map<std::string, Range> range_constraints;  // by symbol name
  std::vector<std::string> guards_code;
  std::map<std::string, StoredTensor> state_dict;  // parameters and persistent buffers by fqn
  std::map<std::string, StoredTensor> constants;  // non-persistent buffers, lifted constants by fqn
  std::vector<Storage> storages;
  std::vector<SampleInput> sample_inputs;
  bool has_sample_inputs = false;  // else sample_inputs is empty and a note says why
  std::string in_spec, out_spec;   // torch's pytree specs (JSON) of (args, kwargs) and result
  std::vector<std::string>
      arg_names;  // of forward's arguments, positional then keyword, as guards name them
  std::vector<std::string> notes;       // what a user may want to know of the archive, for inspect
  std::shared_ptr<const void> mapping;  // keeps the mapped file (and inflated members) alive
};

// Reads an archive written by torch.export.save (torch 2.5 to 2.15). Throws UserError that names
// the file, the member and what is wrong: not an archive, truncated, no model in it, future schema,
// ...
ExportedProgram read_pt2(const std::string& path);
// Compares the weights' bytes with the checksums of the archive; reads all of them. Compiling calls
// it, inspecting does not. Throws UserError that names every damaged member.
void verify_weights(const ExportedProgram&);
// Text form of stage 0 for `--emit=exported` and inspect: signature, nodes, tensor metadata.
std::string to_text(const ExportedProgram&);

}  // namespace aotc::pt2
