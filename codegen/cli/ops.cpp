// aotc ops: the support matrix, straight from the op table.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/cli/commands.h"
#include "codegen/human_text.h"
#include "ir/ops/element_types.h"
#include "ir/ops/op.h"
#include "ir/ops/out_forms.h"

using json = nlohmann::ordered_json;

namespace aotc::cli {
namespace {

struct OpsArguments {
  bool markdown = false, json = false, quiet = false;
  std::string filter;
};

struct OpRow {
  std::string name, meaning, result, in_place, out, devices;
  std::vector<DType> dtypes;
};

const char* result_text(TypeRule rule) {
  switch (rule) {
    case TypeRule::Promote:
      return "promoted";
    case TypeRule::Float:
      return "promoted, integers to float32";
    case TypeRule::Compare:
      return "bool";
    case TypeRule::SameAs0:
      return "as the first argument";
    case TypeRule::Bool:
      return "bool";
    case TypeRule::Dtype:
      return "dtype argument, else promoted";
  }
  return "";
}

const char* result_text(ReduceMeaning::Result rule) {
  switch (rule) {
    case ReduceMeaning::Result::Same:
      return "as the argument";
    case ReduceMeaning::Result::Float:
      return "float";
    case ReduceMeaning::Result::Sum:
      return "as the argument, integers to int64";
    case ReduceMeaning::Result::Bool:
      return "bool";
    case ReduceMeaning::Result::Index:
      return "int64";
    case ReduceMeaning::Result::Dtype:
      return "dtype argument, else as the argument";
  }
  return "";
}

const char* kind_text(LoopsKind kind) {
  switch (kind) {
    case LoopsKind::Index:
      return "index";
    case LoopsKind::Scatter:
      return "scatter";
    case LoopsKind::Creation:
      return "creation";
    case LoopsKind::Scan:
      return "scan";
    case LoopsKind::Sort:
      return "sort";
    case LoopsKind::Template:
      return "template";
    case LoopsKind::Check:
      return "check";
    case LoopsKind::Host:
      return "host scalar";
    case LoopsKind::Control:
      return "control";
  }
  return "";
}

void set_meaning(const OpDef& op, OpRow& row) {
  if (const auto* m = op.as<ScalarMeaning>()) {
    row.meaning = "pointwise";
    row.result = result_text(m->rule);
  } else if (const auto* r = op.as<ReduceMeaning>()) {
    row.meaning = "reduce";
    row.result = result_text(r->result);
  } else if (op.as<ViewMeaning>()) {
    row.meaning = "view";
    row.result = "as the argument";
  } else if (op.as<RewriteMeaning>()) {
    row.meaning = "rewrite";
  } else if (const auto* l = op.as<LoopsMeaning>()) {
    row.meaning = kind_text(l->kind);
  }
}

std::string in_place_name(const OpDef& op) {
  const OpDef* form = find_op(in_place_name_of(op));
  return form && !form->schema.args.empty() && form->schema.args[0].mutated ? form->name() : "";
}

std::string out_name(const OpDef& op) {
  for (const OpDef& form : out_forms(op))
    if (const OpDef* found = find_op(form.name()); found && !found->schema.args.empty())
      return form.name();
  return "";
}

// Kinds of which all types work are named as a whole.
std::string types_text(const std::vector<DType>& types) {
  struct Family {
    const char* name;
    std::vector<DType> members;
  };
  static const std::vector<Family> kFamilies = {
      {"bool", {DType::Bool}},
      {"integers", {DType::UInt8, DType::Int8, DType::Int16, DType::Int32, DType::Int64}},
      {"halves", {DType::Float16, DType::BFloat16}},
      {"floats", {DType::Float32, DType::Float64}},
      {"complex", {DType::Complex64, DType::Complex128}}};
  std::vector<std::string> words;
  auto works = [&](DType t) { return std::find(types.begin(), types.end(), t) != types.end(); };
  for (const Family& f : kFamilies) {
    if (std::all_of(f.members.begin(), f.members.end(), works)) {
      words.push_back(f.name);
      continue;
    }
    for (DType t : f.members)
      if (works(t)) words.push_back(name(t));
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

std::vector<OpRow> op_rows(const std::string& filter) {
  std::vector<OpRow> rows;
  for (const OpDef* op : all_ops()) {
    if (op->name().find(filter) == std::string::npos) continue;
    OpRow row;
    row.name = op->name();
    set_meaning(*op, row);
    row.in_place = in_place_name(*op);
    row.out = out_name(*op);
    row.devices = "cpu, cuda";
    row.dtypes = element_types(*op);
    rows.push_back(std::move(row));
  }
  return rows;
}

void print_table(const std::vector<OpRow>& rows) {
  std::vector<std::vector<std::string>> cells = {
      {"op", "dtypes", "devices", "meaning", "result type", "in place"}};
  for (const OpRow& r : rows)
    cells.push_back({r.name, types_text(r.dtypes), r.devices, r.meaning, r.result, r.in_place});
  fmt::print("{}{} ops\n", table_text(cells), rows.size());
}

void print_markdown(const std::vector<OpRow>& rows) {
  auto code = [](const std::string& name) { return name.empty() ? "" : "`" + name + "`"; };
  fmt::print(
      "| op | dtypes | devices | meaning | result type | in place | given outputs |\n"
      "|---|---|---|---|---|---|---|\n");
  for (const OpRow& r : rows)
    fmt::print("| `{}` | {} | {} | {} | {} | {} | {} |\n", r.name, types_text(r.dtypes), r.devices,
               r.meaning, r.result, code(r.in_place), code(r.out));
}

void print_json(const std::vector<OpRow>& rows) {
  json list = json::array();
  for (const OpRow& r : rows) {
    json j = {{"op", r.name}, {"meaning", r.meaning}, {"devices", {r.devices}}};
    j["dtypes"] = json::array();
    for (DType t : r.dtypes) j["dtypes"].push_back(name(t));
    if (!r.result.empty()) j["result"] = r.result;
    if (!r.in_place.empty()) j["in_place"] = r.in_place;
    if (!r.out.empty()) j["out"] = r.out;
    list.push_back(std::move(j));
  }
  fmt::print("{}\n", json{{"ops", list}}.dump(1));
}

int run_ops(const OpsArguments& o) {
  const std::vector<OpRow> rows = op_rows(o.filter);
  if (o.json)
    print_json(rows);
  else if (o.markdown)
    print_markdown(rows);
  else
    print_table(rows);
  return kExitOk;
}

}  // namespace

void add_ops(CLI::App& app, Action& action) {
  auto o = std::make_shared<OpsArguments>();
  CLI::App* command = app.add_subcommand("ops", "the ops that aotc compiles");
  command->add_option("PART", o->filter, "only ops whose name has this part, e.g. index");
  auto* markdown = command->add_flag("--markdown", o->markdown, "as a Markdown table");
  command->add_flag("--json", o->json, "as JSON")->excludes(markdown);
  command->add_flag("-q,--quiet", o->quiet,
                    "accepted as everywhere; there is nothing to leave out");
  command->callback([o, &action] { action = [o] { return run_ops(*o); }; });
}

}  // namespace aotc::cli
