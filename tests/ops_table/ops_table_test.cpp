// Walks the op table: every row has one meaning that can be used, and the schema that torch has.
#define CATCH_CONFIG_MAIN
#include <catch2/catch.hpp>
#include <fstream>
#include <map>
#include <set>

#include "ir/ops/op.h"

using namespace aotc;

namespace {

std::map<std::string, Schema> recorded_schemas() {
  std::ifstream file(AOTC_SCHEMAS_FILE);
  std::map<std::string, Schema> schemas;
  for (std::string line; std::getline(file, line);) {
    Schema s = parse_schema(line);
    schemas.emplace(s.name, s);
  }
  return schemas;
}

// Other namespaces are our own and those of libraries that torch's list of schemas lacks.
bool is_torch_name(const std::string& name) {
  return !name.starts_with("aotc.") && !name.starts_with("transformers.");
}

std::string argument_text(const SchemaArg& a) {
  return fmt::format("{} {}{}{}", a.type, a.name, a.mutated ? " mutated" : "",
                     a.has_default ? " default" : "");
}

std::vector<std::string> argument_texts(const Schema& s) {
  std::vector<std::string> texts;
  for (const SchemaArg& a : s.args) texts.push_back(argument_text(a));
  return texts;
}

bool defaults_agree(const Schema& a, const Schema& b) {
  for (size_t i = 0; i < a.args.size(); ++i)
    if (a.args[i].has_default && !(a.args[i].default_value == b.args[i].default_value))
      return false;
  return true;
}

bool has_function(const Meaning& meaning) {
  if (auto* m = std::get_if<ScalarMeaning>(&meaning)) return static_cast<bool>(m->fn);
  if (auto* m = std::get_if<ViewMeaning>(&meaning)) return static_cast<bool>(m->map);
  if (auto* m = std::get_if<RewriteMeaning>(&meaning)) return static_cast<bool>(m->fn);
  if (auto* m = std::get_if<LoopsMeaning>(&meaning)) return static_cast<bool>(m->fn);
  return true;  // ReduceMeaning is complete with its primitive
}

}  // namespace

TEST_CASE("every row's schema is torch's") {
  std::map<std::string, Schema> recorded = recorded_schemas();
  for (const OpDef* op : all_ops()) {
    if (!is_torch_name(op->name())) continue;
    INFO(op->name());
    REQUIRE(recorded.contains(op->name()));
    const Schema& torch = recorded.at(op->name());
    CHECK(argument_texts(op->schema) == argument_texts(torch));
    CHECK(op->schema.num_outputs == torch.num_outputs);
    CHECK(defaults_agree(op->schema, torch));
  }
}

TEST_CASE("every recorded schema has a row or a derived in-place form") {
  for (const auto& [name, schema] : recorded_schemas()) {
    INFO(name);
    const OpDef* op = find_op(name);
    REQUIRE(op != nullptr);
    if (op->mutates()) CHECK(op->schema.args.size() == schema.args.size());
  }
}

TEST_CASE("every row has a usable meaning") {
  for (const OpDef* op : all_ops()) {
    INFO(op->name());
    CHECK(has_function(op->meaning));
    bool is_rewrite = std::holds_alternative<RewriteMeaning>(op->meaning);
    CHECK((is_rewrite || static_cast<bool>(op->infer)));
  }
}

TEST_CASE("names are unique, and found with and without torch's prefix") {
  std::set<std::string> names;
  for (const OpDef* op : all_ops()) {
    CHECK(names.insert(op->name()).second);
    CHECK(find_op(op->name()) == op);
    CHECK(find_op("torch.ops." + op->name()) == op);
  }
}

TEST_CASE("in-place forms are derived from the functional row") {
  const OpDef* in_place = find_op("aten.add_.Tensor");
  REQUIRE(in_place != nullptr);
  CHECK(in_place->mutates());
  CHECK(in_place->twin == find_op("aten.add.Tensor"));
  CHECK(in_place->schema.args[0].mutated);
  CHECK(find_op("aten.no_such_op.default") == nullptr);
}

TEST_CASE("forms that write to given tensors are derived from the functional row") {
  for (const char* name : {"aten.atan2.out", "aten.add.out", "aten.sum.IntList_out",
                           "aten.all.all_out", "aten.mean.out", "aten.max.unary_out"}) {
    INFO(name);
    const OpDef* form = find_op(name);
    REQUIRE(form != nullptr);
    CHECK(form->schema.args.back().name == "out");
    CHECK(form->schema.args.back().mutated);
  }
  CHECK(find_op("aten.all.out")->schema.index_of("dim") >= 0);
  CHECK(find_op("aten.max.dim_max")->schema.index_of("max_values") >= 0);
  CHECK(find_op("aten.view.out") == nullptr);
}

TEST_CASE("an unknown op is answered with its neighbours") {
  std::vector<std::string> near = similar_ops("torch.ops.aten.sigmod.default");
  REQUIRE_FALSE(near.empty());
  CHECK(near.front() == "aten.sigmoid.default");
}
