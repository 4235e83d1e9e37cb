// The manifest as text, for `aotc inspect`.
#include <algorithm>
#include <nlohmann/json.hpp>

#include "codegen/human_text.h"
#include "codegen/pipeline.h"

namespace aotc {
namespace {

using json = nlohmann::ordered_json;
using TextRows = std::vector<std::vector<std::string>>;

std::string scalar_text(const json& j) { return j.is_string() ? j.get<std::string>() : j.dump(); }

std::string list_text(const json& list) {
  std::string text;
  for (const json& item : list) text += (text.empty() ? "" : ", ") + scalar_text(item);
  return text;
}

std::string type_text(const json& t) {
  if (t.contains("none")) return "None";
  return fmt::format("{} [{}]", t.value("dtype", "?"), list_text(t.value("sizes", json::array())));
}

// Of a Python scalar: its symbol, or the one value that calls must pass.
std::string remark_text(const json& t) {
  if (t.contains("symbol")) return "= " + scalar_text(t["symbol"]);
  if (t.contains("value")) return "always " + scalar_text(t["value"]);
  return t.value("device", "");
}

std::string tensors_section(const json& m, const char* key, bool numbered) {
  TextRows rows;
  int position = 0;
  for (const json& t : m.value(key, json::array())) {
    std::vector<std::string> row = {t.value("name", "?"), type_text(t), remark_text(t)};
    if (numbered) row.insert(row.begin(), std::to_string(position++));
    rows.push_back(std::move(row));
  }
  if (rows.empty()) return "";
  return std::string(key) + "\n" + table_text(rows, "  ");
}

std::string range_text(const json& s) {
  if (s.value("data_dependent", false) && !s.contains("min") && !s.contains("max"))
    return "depends on data";
  std::string text = s.contains("min") ? scalar_text(s["min"]) : "";
  text += "..";
  if (s.contains("max")) text += scalar_text(s["max"]);
  return text + (s.value("data_dependent", false) ? ", depends on data" : "");
}

std::string symbols_section(const json& m) {
  TextRows rows;
  for (const json& s : m.value("symbols", json::array()))
    rows.push_back({s.value("name", "?"), range_text(s)});
  return rows.empty() ? "" : "symbols\n" + table_text(rows, "  ");
}

// What the archive demands of sizes beyond ranges.
std::string conditions_section(const json& m) {
  std::string text;
  for (const json& c : m.value("conditions", json::array())) text += "  " + scalar_text(c) + "\n";
  for (const json& c : m.value("unchecked_conditions", json::array()))
    text += "  " + scalar_text(c) + "   (not checked: aotc cannot read it)\n";
  return text.empty() ? "" : "conditions\n" + text;
}

std::string place_of(const json& j) {
  if (j.contains("input")) return fmt::format("input '{}'", scalar_text(j["input"]));
  return fmt::format("state '{}'", scalar_text(j.value("state", json("?"))));
}

std::string mutations_section(const json& m) {
  TextRows rows;
  for (const json& e : m.value("mutations", json::array()))
    rows.push_back({place_of(e), e.value("write", "?"), e.value("op", ""), e.value("source", ""),
                    e.value("reason", "")});
  return rows.empty() ? "" : "mutations\n" + table_text(rows, "  ");
}

std::string aliased_section(const json& m) {
  const json aliased = m.value("aliased_io", json::object());
  TextRows rows;
  for (const json& e : aliased.value("entries", json::array())) {
    const bool output = e.contains("output") && !e["output"].is_null();
    rows.push_back({output ? fmt::format("output '{}'", scalar_text(e["output"])) : "(no output)",
                    "in", place_of(e), e.value("kind", ""), e.value("write", ""),
                    e.value("reason", "")});
  }
  if (rows.empty()) return "";
  return fmt::format("aliased_io (version {}, digest {})\n{}",
                     scalar_text(aliased.value("version", json("?"))),
                     scalar_text(aliased.value("digest", json("?"))), table_text(rows, "  "));
}

// Sizes that depend on the call's symbols are expressions.
std::string size_text(const json& j) {
  return j.is_number() ? bytes_text(j.get<double>()) : scalar_text(j) + " bytes";
}

std::string memory_section(const json& m) {
  TextRows rows;
  if (m.contains("arena_bytes")) rows.push_back({"arena", size_text(m["arena_bytes"])});
  if (m.contains("weights_bytes")) {
    std::string where;
    if (m.contains("weights_embedded"))
      where = m["weights_embedded"].get<bool>() ? ", in model.so" : ", in weights.bin";
    rows.push_back({"weights", size_text(m["weights_bytes"]) + where});
  }
  return rows.empty() ? "" : "memory\n" + table_text(rows, "  ");
}

std::string devices_text(const json& m) {
  std::vector<std::string> devices;
  for (const char* key : {"inputs", "outputs", "states"})
    for (const json& t : m.value(key, json::array())) {
      const std::string device = t.value("device", "");
      if (!device.empty() && std::find(devices.begin(), devices.end(), device) == devices.end())
        devices.push_back(device);
    }
  return fmt::format("{}", fmt::join(devices, ", "));
}

std::string cpu_text(const json& m) {
  std::vector<std::string> levels;
  for (const json& level : m.value("cpu", json::array()))
    levels.push_back(level.value("level", "?"));
  std::string text = fmt::format("{}", fmt::join(levels, ", "));
  const std::string requested = list_text(m.value("cpu_requested", json::array()));
  return requested.empty() || requested == text ? text : text + " (asked for: " + requested + ")";
}

std::string head_section(const json& m) {
  TextRows rows = {{"program", m.value("name", "?")}};
  const json by = m.value("exported_by", json::object());
  if (by.contains("torch"))
    rows.push_back({"exported by", fmt::format("torch {}, schema {}", scalar_text(by["torch"]),
                                               scalar_text(by.value("schema", json("?"))))});
  const json format = m.value("format", json::object());
  if (m.contains("producer"))
    rows.push_back(
        {"made by", fmt::format("{}, package format {}.{}, ABI {}", scalar_text(m["producer"]),
                                scalar_text(format.value("major", json("?"))),
                                scalar_text(format.value("minor", json("?"))),
                                scalar_text(m.value("abi", json("?"))))});
  if (const std::string text = cpu_text(m); !text.empty()) rows.push_back({"CPU", text});
  if (m.contains("backend")) rows.push_back({"back end", scalar_text(m["backend"])});
  if (const std::string text = devices_text(m); !text.empty()) rows.push_back({"devices", text});
  return table_text(rows);
}

// There may be hundreds: the first few stand for all.
std::string weights_section(const json& m) {
  constexpr size_t kShown = 12;
  const json weights = m.value("weights", json::array());
  if (weights.size() <= kShown) return tensors_section(m, "weights", false);
  json shown = json::object();
  for (size_t i = 0; i < kShown; ++i) shown["weights"].push_back(weights.at(i));
  return tensors_section(shown, "weights", false) +
         fmt::format("  ... and {} more; --json lists them\n", weights.size() - kShown);
}

}  // namespace

std::string describe_manifest(const std::string& manifest_json) {
  try {
    const json m = json::parse(manifest_json);
    std::string text = head_section(m);
    for (const std::string& section :
         {tensors_section(m, "inputs", true), tensors_section(m, "outputs", true),
          tensors_section(m, "states", false), symbols_section(m), conditions_section(m),
          mutations_section(m), aliased_section(m), weights_section(m), memory_section(m)})
      if (!section.empty()) text += "\n" + section;
    return text;
  } catch (const json::exception& e) {
    user_error("the manifest is not as aotc writes it ({}); compile the program again", e.what());
  }
}

}  // namespace aotc
