// Puts subgraphs in line. Used by inline_regions only: regions of one subgraph are in
// inline_regions.cpp, control flow is in control_flow.cpp.
#pragma once
#include <functional>
#include <optional>

#include "ir/pt2/inline_regions.h"

namespace aotc::pt2 {

// The op inside with_effects(token, op, ...), by itself; nothing for every other node.
std::optional<Node> without_token(const Node& n);

// What a region under torch.autocast says.
struct Autocast {
  bool enabled = false;
  std::string device;
  DType type = DType::BFloat16;
};
// Of a wrap_with_autocast node; nothing where its options cannot be read.
std::optional<Autocast> autocast_of(const Node& n);

class Inliner {
 public:
  Inliner(const Graph& graph, const std::string& path) : path_(path), out_(graph) {
    out_.nodes.clear();
  }
  FlatGraph run(const std::vector<Node>& nodes);

 private:
  // What the names of a subgraph are outside.
  using Names = std::map<std::string, Argument>;

  void add(const Node& n, int depth);
  void add_region(const Node& n, size_t region, int depth);

  // ---- autocast
  void add_with_casts(const Node& n);
  Argument cast_argument(const Node& n, const Argument& a, DType to);

  // ---- control flow; false: the node is something else
  bool add_control(const Node& n, int depth);
  void add_cond(const Node& n, int depth);
  void add_while_loop(const Node& n, int depth);
  void add_map(const Node& n, int depth);
  const Graph& subgraph(const Node& n, size_t input) const;
  std::vector<Argument> list(const Node& n, size_t input) const;
  // Puts the subgraph in line, with `given` for its inputs; its outputs by their names outside.
  std::vector<Argument> body(const Node& n, const Graph& inner, const std::vector<Argument>& given,
                             int depth);
  std::vector<Argument> branch(const Node& n, const Graph& inner,
                               const std::vector<Argument>& operands,
                               const std::vector<Argument>& previous, bool last, int depth);
  // A number that is 0 where the condition does not hold.
  Argument condition(const Node& n, const Argument& predicate);
  std::string tensor_of(const Node& n, const Argument& a) const;
  void emit(const Node& from, const std::string& target, std::vector<Argument> inputs,
            std::vector<Argument> outputs);
  Argument new_tensor(const std::string& like, const TensorMeta& meta);
  Argument new_symbol(const std::string& like);
  Argument size_argument(const SymIntExpr& size);

  // ---- names
  [[noreturn]] void misfit(const Node& n, const char* what, size_t found, size_t expected) const;
  void results(const Node& n, const Graph& inner, Names& names);
  bool is_taken(const std::string& name) const;
  std::string free_name(const std::string& name) const;
  void merge_values(const Graph& inner, Names& names);
  static Argument renamed(const Argument& a, const Names& names);
  static Node renamed(const Node& n, const Names& names);

  const std::string& path_;
  Graph out_;
  std::map<std::string, std::string> same_as_;
  std::set<std::string> counters_;
  Autocast autocast_;  // of the innermost region
};

// The name that an argument refers to; nullptr if it is a constant.
std::string* name_in(Argument& a);
// Lists flattened.
std::vector<Argument> flat(const std::vector<Argument>& list);
// The inputs of `inner` by name.
std::map<std::string, Argument> bind_inputs(const Graph& inner, const std::vector<Argument>& given);

}  // namespace aotc::pt2
