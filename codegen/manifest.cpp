#include "codegen/manifest.h"
#include "codegen/user_aliases.h"

#include <map>
#include <nlohmann/json.hpp>

#include "ir/guards.h"
#include "runtime_support/model/digest.h"

// Everything here is derived from the plan; the tables in program.cpp say the same to the run time.
namespace aotc {

using json = nlohmann::ordered_json;

std::vector<std::string> unique_names(std::vector<std::string> names) {
  std::map<std::string, int> count;
  for (const std::string& n : names) ++count[n];
  for (size_t i = 0; i < names.size(); ++i)
    if (count[names[i]] > 1) names[i] += "#" + std::to_string(i);
  return names;
}

std::vector<std::string> user_input_names(const Graph& g) {
  std::vector<std::string> names;
  for (const Input& in : g.inputs)
    if (in.is_user()) names.push_back(in.name);
  return names;
}

std::vector<std::string> output_names(const Graph& g) {
  std::vector<std::string> names;
  for (const Output& o : g.outputs) names.push_back(o.name);
  return names;
}

namespace {

int user_position(const Graph& g, int input) {
  int position = 0;
  for (int i = 0; i < input; ++i) position += g.inputs[static_cast<size_t>(i)].is_user();
  return position;
}

int name_index(const WeightLayout& w, const std::string& fqn) {
  for (size_t i = 0; i < w.names.size(); ++i)
    if (w.names[i].name == fqn) return static_cast<int>(i);
  return -1;
}

json sizes_json(const std::vector<Sym>& sizes) {
  json list = json::array();
  for (const Sym& s : sizes) {
    if (auto c = s.constant())
      list.push_back(*c);
    else
      list.push_back(s.str());
  }
  return list;
}

std::string device_text(const Device& d) {
  return d.index < 0 ? d.type : fmt::format("{}:{}", d.type, d.index);
}

json tensor_json(const std::string& name, const TensorType& t) {
  return {{"name", name},
          {"dtype", aotc::name(t.dtype)},
          {"sizes", sizes_json(t.sizes)},
          {"device", device_text(t.device)}};
}

json scalar_json(const std::string& name, const Arg& a) {
  if (auto* d = std::get_if<double>(&a))
    return {{"name", name}, {"dtype", "float64"}, {"sizes", json::array()}, {"value", *d}};
  if (auto* b = std::get_if<bool>(&a))
    return {{"name", name}, {"dtype", "bool"}, {"sizes", json::array()}, {"value", *b}};
  const Sym& s = std::get<Sym>(a);
  json j = {{"name", name}, {"dtype", is_float(s) ? "float64" : "int64"}, {"sizes", json::array()}};
  if (auto c = s.constant())
    j["value"] = *c;
  else
    j["symbol"] = s.str();
  return j;
}

json symbols_json(const Graph& g) {
  json list = json::array();
  for (const auto& [name, info] : g.symbols) {
    json j = {{"name", name}};
    if (info.min) j["min"] = *info.min;
    if (info.max) j["max"] = *info.max;
    if (info.unbacked) j["data_dependent"] = true;
    list.push_back(std::move(j));
  }
  return list;
}

json aliased_json(const Plan& plan, const WeightLayout& w, const std::vector<AliasedIoRow>& rows) {
  const Graph& g = *plan.program.graph;
  std::vector<std::string> ins = unique_names(user_input_names(g)),
                           outs = unique_names(output_names(g));
  std::vector<AotcAliasedIo> table;
  json entries = json::array();
  for (const AliasedIoRow& r : rows) {
    table.push_back(
        {r.output, r.input, r.storage_name, r.kind.c_str(), r.direct ? 1 : 0, r.reason.c_str()});
    json e;
    e["output"] = r.output >= 0 ? json(outs[static_cast<size_t>(r.output)]) : json(nullptr);
    if (r.input >= 0) e["input"] = ins[static_cast<size_t>(r.input)];
    if (r.storage_name >= 0) e["state"] = w.names[static_cast<size_t>(r.storage_name)].name;
    e["kind"] = r.kind;
    e["write"] = r.direct ? "direct" : "copy";
    e["reason"] = r.reason;
    entries.push_back(std::move(e));
  }
  char digest[17];
  digest_text(aliased_io_digest(table.data(), static_cast<int32_t>(table.size())), digest);
  return {{"version", 1}, {"digest", digest}, {"entries", entries}};
}

}  // namespace

std::vector<AliasedIoRow> aliased_io_rows(const Plan& plan, const WeightLayout& w) {
  const Graph& g = *plan.program.graph;
  std::vector<AliasedIoRow> rows;
  auto target = [&](AliasedIoRow& r, int input) {
    const Input& in = g.inputs[static_cast<size_t>(input)];
    if (in.kind == InputKind::User)
      r.input = user_position(g, input);
    else
      r.storage_name = name_index(w, in.target);
  };
  std::map<int, const loops::WriteBackInfo*> by_input;
  for (const auto& info : plan.program.write_backs)
    by_input[g.write_backs[static_cast<size_t>(info.write_back)].input] = &info;
  std::map<int, bool> returned;
  for (const loops::OutputView& v : plan.program.output_views) {
    AliasedIoRow r;
    r.output = v.output;
    target(r, v.input);
    const TensorType& out = g.outputs[static_cast<size_t>(v.output)].value->type;
    const TensorType& in = g.inputs[static_cast<size_t>(v.input)].value->type;
    bool whole = v.offset.is(0) && out.sizes == in.sizes && v.simple;
    for (size_t k = 0; k < v.steps.size() && whole; ++k) {
      const size_t i = k / in.rank(), d = k % in.rank();
      whole = v.steps[k].is(i == d ? 1 : 0) || out.sizes[i].is(1);
    }
    auto it = by_input.find(v.input);
    r.kind = g.outputs[static_cast<size_t>(v.output)].by_user   ? "user"
             : !whole                                           ? "view"
             : it != by_input.end() && it->second->cache_update ? "kv_cache_update"
                                                                : "identity";
    r.direct = it == by_input.end() || it->second->direct;
    r.reason = it == by_input.end() ? "the input itself" : it->second->reason;
    returned[v.input] = true;
    rows.push_back(std::move(r));
  }
  for (const auto& [input, info] : by_input) {
    if (returned.contains(input)) continue;
    AliasedIoRow r;
    target(r, input);
    r.kind = info->cache_update ? "kv_cache_update" : "mutation";
    r.direct = info->direct;
    r.reason = info->reason;
    rows.push_back(std::move(r));
  }
  return rows;
}

std::string manifest_json(const Plan& plan, const WeightLayout& w,
                          const std::vector<AliasedIoRow>& rows, const EmitOptions& options) {
  const Graph& g = *plan.program.graph;
  json m;
  m["name"] = options.name;
  m["format"] = {{"major", kFormatMajor}, {"minor", kFormatMinor}};
  m["abi"] = AOTC_ABI_VERSION;
  m["producer"] = "aotc 0.1.0";
  if (g.program)
    m["exported_by"] = {
        {"torch", g.program->torch_version},
        {"schema", fmt::format("{}.{}", g.program->schema_major, g.program->schema_minor)}};
  m["inputs"] = json::array();
  std::vector<std::string> ins = unique_names(user_input_names(g)),
                           outs = unique_names(output_names(g));
  size_t position = 0;
  for (const Input& in : g.inputs) {
    if (!in.is_user()) continue;
    const std::string& n = ins[position++];
    m["inputs"].push_back(in.kind == InputKind::User ? tensor_json(n, in.value->type)
                                                     : scalar_json(n, in.scalar));
  }
  m["outputs"] = json::array();
  for (size_t i = 0; i < g.outputs.size(); ++i) {
    const Output& o = g.outputs[i];
    if (o.kind == OutputKind::Tensor)
      m["outputs"].push_back(tensor_json(outs[i], o.value->type));
    else if (o.kind == OutputKind::Scalar)
      m["outputs"].push_back(scalar_json(outs[i], o.scalar));
    else
      m["outputs"].push_back({{"name", outs[i]}, {"none", true}});
  }
  m["states"] = json::array();
  m["weights"] = json::array();
  for (const WeightName& n : w.names)
    m[n.state ? "states" : "weights"].push_back(
        {{"name", n.name}, {"dtype", aotc::name(n.dtype)}, {"sizes", n.sizes}});
  m["symbols"] = symbols_json(g);
  for (size_t i = 0; i < g.guards.size();
       ++i)  // one that divides is preceded by its divisor's, under the same text
    if (i == 0 || g.guards[i].text != g.guards[i - 1].text)
      m["conditions"].push_back(g.guards[i].text);
  if (g.program)
    for (const std::string& text : read_guards(*g.program, g).unreadable)
      m["unchecked_conditions"].push_back(text);
  m["mutations"] = json::array();
  for (const auto& info : plan.program.write_backs) {
    const WriteBack& wb = g.write_backs[static_cast<size_t>(info.write_back)];
    const Input& in = g.inputs[static_cast<size_t>(wb.input)];
    json j;
    j[in.kind == InputKind::User ? "input" : "state"] =
        in.kind == InputKind::User ? in.name : in.target;
    j["op"] = mutation_text(g, wb);
    j["source"] = wb.source.str();
    j["write"] = info.direct ? "direct" : "copy";
    j["reason"] = info.reason;
    m["mutations"].push_back(std::move(j));
  }
  m["aliased_io"] = aliased_json(plan, w, rows);
  m["arena_bytes"] = plan.host.arena_bytes.constant() ? json(*plan.host.arena_bytes.constant())
                                                      : json(plan.host.arena_bytes.str());
  m["weights_bytes"] = w.blob_bytes;
  return m.dump(1);
}

}  // namespace aotc
