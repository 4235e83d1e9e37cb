// Joins the rows, derives the in-place and `.out` forms, and finds ops by name.
#include <algorithm>
#include <map>

#include "ir/ops/arguments.h"
#include "ir/ops/out_forms.h"

namespace aotc {
namespace {

struct Table {
  Rows rows;
  std::map<std::string, const OpDef*, std::less<>> by_name;
  std::vector<std::unique_ptr<OpDef>> derived;
};

// Whether torch has an in-place or `.out` op of this name.
bool is_torch_form(std::string_view name) {
  static constexpr std::string_view kForms[] = {
#define X(form) form,
#include "ir/ops/torch_forms.def"
#undef X
  };
  return std::binary_search(std::begin(kForms), std::end(kForms), name);
}

void add_form(Table& t, OpDef form) {
  if (!is_torch_form(form.name())) return;
  auto d = std::make_unique<OpDef>(std::move(form));
  if (t.by_name.emplace(d->name(), d.get()).second) t.derived.push_back(std::move(d));
}

bool has_in_place_form(const OpDef& op) {
  if (op.schema.args.empty() || op.schema.args[0].type != "Tensor" || op.schema.num_outputs < 1)
    return false;
  auto* rewrite = op.as<RewriteMeaning>();
  if (rewrite && rewrite->writes_arguments) return false;
  return (op.name().starts_with("aten.") || !op.in_place_name.empty()) && !op.is_view() &&
         !op.is_check();
}

void derive_in_place(Table& t, const OpDef& op) {
  OpDef d = op;
  d.schema.name = in_place_name_of(op);
  d.schema.num_outputs = 1;
  d.schema.args[0].mutated = true;
  d.twin = &op;
  d.infer = in_place_types;
  add_form(t, std::move(d));
}

// "aten.t_.default": the view, under which the tensor itself is known from there on.
void derive_in_place_view(Table& t, const OpDef& op) {
  if (!op.is_view() || !op.name().starts_with("aten.") || op.schema.num_outputs != 1) return;
  OpDef d = op;
  d.schema.name = in_place_name_of(op);
  d.schema.args[0].mutated = true;
  add_form(t, std::move(d));
}

// Names that rows have by themselves stay theirs; of the derived ones, those that do not follow the
// rule come first.
void derive_out_forms(Table& t) {
  auto derive = [&](bool by_rule) {
    for (const OpDef& op : t.rows)
      for (OpDef& form : out_forms(op)) {
        if (follows_out_rule(op) != by_rule) continue;
        add_form(t, std::move(form));
      }
  };
  derive(false);
  derive(true);
}

Table build() {
  Table t;
  for (Rows (*rows)() : {pointwise_ops, reduce_ops, view_ops, creation_ops, index_ops, linear_ops,
                         composite_ops, check_ops, control_ops})
    for (OpDef& op : rows()) t.rows.push_back(std::move(op));
  add_argument_checks(t.rows);
  for (const OpDef& op : t.rows)
    AOTC_CHECK(t.by_name.emplace(op.name(), &op).second, "op '{}' has two rows", op.name());
  for (const OpDef& op : t.rows) {
    if (has_in_place_form(op)) derive_in_place(t, op);
    derive_in_place_view(t, op);
  }
  derive_out_forms(t);
  return t;
}

const Table& table() {
  static const Table t = build();
  return t;
}

size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<size_t> row(b.size() + 1);
  for (size_t j = 0; j <= b.size(); ++j) row[j] = j;
  for (size_t i = 1; i <= a.size(); ++i) {
    size_t diagonal = row[0];
    row[0] = i;
    for (size_t j = 1; j <= b.size(); ++j) {
      size_t next = std::min({row[j] + 1, row[j - 1] + 1, diagonal + (a[i - 1] != b[j - 1])});
      diagonal = row[j];
      row[j] = next;
    }
  }
  return row[b.size()];
}

}  // namespace

std::string in_place_name_of(const OpDef& op) {
  if (!op.in_place_name.empty()) return op.in_place_name;
  const std::string& name = op.name();
  const size_t dot = name.rfind('.');
  return name.substr(0, dot) + "_" + name.substr(dot);
}

bool OpDef::is_check() const {
  const auto* m = as<LoopsMeaning>();
  return m && m->kind == LoopsKind::Check;
}

const OpDef* find_op(std::string_view name) {
  if (name.starts_with("torch.ops.")) name.remove_prefix(10);
  auto it = table().by_name.find(name);
  return it == table().by_name.end() ? nullptr : it->second;
}

std::vector<const OpDef*> all_ops() {
  std::vector<const OpDef*> ops;
  for (const OpDef& op : table().rows) ops.push_back(&op);
  std::sort(ops.begin(), ops.end(), [](auto* a, auto* b) { return a->name() < b->name(); });
  return ops;
}

std::vector<std::string> similar_ops(std::string_view name) {
  if (name.starts_with("torch.ops.")) name.remove_prefix(10);
  std::vector<std::pair<size_t, std::string>> near;
  for (const OpDef& op : table().rows) {
    size_t d = edit_distance(name, op.name());
    if (d <= 5) near.emplace_back(d, op.name());
  }
  std::sort(near.begin(), near.end());
  std::vector<std::string> names;
  for (size_t i = 0; i < near.size() && i < 3; ++i) names.push_back(near[i].second);
  return names;
}

}  // namespace aotc
