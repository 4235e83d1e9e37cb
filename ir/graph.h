// Level 1, tensors: the graph of aten-level nodes. Stages 1 to 3 (`graph`, `functional`, `core`)
// share this form; the wrapper types at the end say what is true of it.
//
// Semantics. Nodes run in list order. A tensor value is a view of a storage: in stage `graph` a
// node whose op mutates an argument writes that argument's storage, and its result is that same
// tensor; a node whose op is a view yields a tensor on its argument's storage. From stage
// `functional` on nothing mutates: values are immutable, views are index maps, and mutations are
// WriteBacks in the signature, applied after the last node. Symbolic sizes are expressions over the
// symbols of `symbols`; a size that depends on data is a symbol that a node defines (an output of
// kind SymInt). Numbers follow eager torch: integer wrap, NaN propagation, rounding at each op.
#pragma once
#include <list>
#include <map>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "ir/dtype.h"
#include "ir/error.h"
#include "ir/pt2/exported_program.h"
#include "ir/sym_float.h"

namespace aotc {

struct OpDef;
struct Node;
struct Graph;
using Device = pt2::Device;

struct TensorType {
  DType dtype = DType::Float32;
  std::vector<Sym> sizes;    // elements per dimension
  std::vector<Sym> strides;  // elements; what eager torch would have. Empty in `core`: contiguous
  Device device;
  size_t rank() const { return sizes.size(); }
};

enum class ValueKind : uint8_t { Tensor, SymInt };

// A tensor, or an integer known at run time only (a symbol that `producer` defines).
struct Value {
  std::string name;  // unique in its graph; printed as %name
  ValueKind kind = ValueKind::Tensor;
  TensorType type;           // Tensor
  Sym sym;                   // SymInt: the symbol
  Node* producer = nullptr;  // nullptr: a graph input
  int output_index = 0;
};

struct None {
  bool operator==(const None&) const = default;
};
struct Complex {
  double real = 0, imag = 0;
  bool operator==(const Complex&) const = default;
};

// One argument in schema order. A list of tensors may hold nullptr (as_optional_tensors).
using Arg = std::variant<None, bool, Sym, double, Complex, std::string, DType, Device, Value*,
                         std::vector<Value*>, std::vector<Sym>, std::vector<bool>,
                         std::vector<double>, std::shared_ptr<Graph>>;

// Where a node comes from, for messages and for the comments above kernels.
struct Source {
  std::string file;  // as in the archive
  int line = 0;
  std::string text;      // the Python source line
  std::string function;  // e.g. "forward"
  std::string str() const {
    return file.empty() ? "no Python source" : fmt::format("{}:{}", file, line);
  }
};

struct Node {
  const OpDef* op = nullptr;
  std::string name;       // for messages: the exported node's name
  std::vector<Arg> args;  // one per schema argument, defaults filled in
  std::vector<Value*> outputs;
  Source source;

  Value* output(size_t i = 0) const { return outputs.at(i); }
};

// Identity of memory that outlives a call: several parameters, buffers or constants may be views of
// one.
struct StorageRef {
  int storage = -1;  // index into Signature::program->storages
  std::vector<int64_t> sizes, strides;
  int64_t offset = 0;  // elements
};

enum class InputKind : uint8_t { User, Parameter, Buffer, Constant, UserScalar, UserNone };

struct Input {
  InputKind kind = InputKind::User;
  Value* value = nullptr;  // nullptr for UserScalar constants and UserNone
  std::string target;      // fqn of a parameter, buffer or constant
  std::string name;        // as the caller sees it
  StorageRef stored;       // Parameter, Buffer, Constant
  Arg scalar;  // UserScalar: Sym of the symbol, or the specialised bool / Sym constant / double
  bool is_user() const { return kind == InputKind::User || kind == InputKind::UserScalar; }
};

enum class OutputKind : uint8_t { Tensor, Scalar, None };

struct Output {
  OutputKind kind = OutputKind::Tensor;
  Value* value = nullptr;  // Tensor
  Arg scalar;              // Scalar: Sym, double or bool
  std::string name;
  bool by_user = false;  // in the storage of an input because the user asks for it (--alias)
};

// After the last node, the storage of input `input` holds `value` (functional stages and later).
struct WriteBack {
  int input = -1;  // index into inputs; a user tensor or a buffer
  Value* value = nullptr;
  Source source;   // the mutation
  std::string op;  // the op that mutates, for messages
};

// How an output is the storage of an input (as exported programs say it): the output is the view
// that `view_chain` computes from input `input`, after its write-back if it has one.
struct OutputAlias {
  int output = -1;
  int input = -1;
  Value* view = nullptr;  // the output's value, a chain of view nodes that ends at the input's
                          // value or at the value written back to it
};

struct SymbolInfo {
  std::optional<int64_t> min, max;  // inclusive
  bool unbacked = false;            // defined by a node, not by an input's size
};

// A condition of the archive on the symbols, checked at each call.
struct Guard {
  Sym condition;
  std::string text;  // as the archive says it
};

struct Graph {
  std::string name;
  std::vector<Input> inputs;
  std::vector<Output> outputs;
  std::vector<WriteBack> write_backs;
  std::vector<OutputAlias> aliases;
  std::map<std::string, SymbolInfo> symbols;
  std::vector<Guard> guards;
  std::list<std::unique_ptr<Node>> nodes;
  std::vector<std::unique_ptr<Value>> values;
  std::shared_ptr<const pt2::ExportedProgram>
      program;  // weights; null for parsed text and subgraphs

  // A new value whose name is `name`, made unique by a suffix.
  Value* new_value(const std::string& name, TensorType type);
  Value* new_symbol_value(const std::string& name, const Sym& symbol);
  // A node before `at` (default: at the end), with outputs of these types named after `name`.
  Node* insert(std::list<std::unique_ptr<Node>>::iterator at, const OpDef* op,
               std::vector<Arg> args, const std::vector<TensorType>& types, const std::string& name,
               const Source& source);
  // What is known about the symbols, for Sym proofs.
  Assumptions assumptions() const;
  // Calls f for each value that `node` reads (through lists too).
  static void for_each_operand(const Node& node, const std::function<void(Value*)>& f);
  static void replace_operands(Node& node, const std::function<Value*(Value*)>& f);
  // Removes nodes whose outputs nobody needs and which have no effect of their own.
  void remove_dead_nodes();

 private:
  std::map<std::string, int> name_uses_;
};

// What is true after stages 1, 2, 3 (see codegen/pipeline.cpp).
struct ImportedGraph {
  std::unique_ptr<Graph> graph;
};
struct FunctionalGraph {
  std::unique_ptr<Graph> graph;
};
struct CoreGraph {
  std::unique_ptr<Graph> graph;
};

// Stage 1: every node gets its op row, types and Python line; all unsupported ops in one UserError.
ImportedGraph import_graph(std::shared_ptr<const pt2::ExportedProgram> program);
// Stage 2: mutations become values and WriteBacks; views of mutated storages are recomputed.
FunctionalGraph functionalize(ImportedGraph graph);
// Stage 3: `rewrite` ops are expanded until only core meanings are left.
CoreGraph decompose(FunctionalGraph graph);

}  // namespace aotc
