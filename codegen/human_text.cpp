// Numbers with units, tables, sentences.
#include "codegen/human_text.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

namespace aotc {
namespace {

std::string scaled(double value, double step, const std::vector<const char*>& units) {
  size_t unit = 0;
  while (value >= step && unit + 1 < units.size()) {
    value /= step;
    ++unit;
  }
  if (unit == 0) return fmt::format("{:.0f} {}", value, units[unit]);
  return fmt::format("{:.{}f} {}", value, value < 10 ? 2 : value < 100 ? 1 : 0, units[unit]);
}

}  // namespace

std::string bytes_text(double bytes) { return scaled(bytes, 1000, {"bytes", "kB", "MB", "GB"}); }

std::string nanoseconds_text(double ns) { return scaled(ns, 1000, {"ns", "us", "ms", "s"}); }

std::string mutation_text(const std::string& entry_json) {
  const nlohmann::json m = nlohmann::json::parse(entry_json);
  const bool input = m.contains("input");
  std::string text =
      fmt::format("{} '{}'", input ? "input" : "state", m.value(input ? "input" : "state", "?"));
  if (!m.value("op", "").empty()) text += " by " + m.value("op", "");
  if (!m.value("source", "").empty()) text += " at " + m.value("source", "");
  if (!m.value("reason", "").empty()) text += fmt::format(" ({})", m.value("reason", ""));
  return text;
}

std::string table_text(const std::vector<std::vector<std::string>>& rows,
                       const std::string& indent) {
  std::vector<size_t> widths;
  for (const auto& row : rows)
    for (size_t i = 0; i < row.size(); ++i) {
      if (widths.size() <= i) widths.push_back(0);
      widths[i] = std::max(widths[i], row[i].size());
    }
  std::string text;
  for (const auto& row : rows) {
    std::string line = indent;
    for (size_t i = 0; i < row.size(); ++i) line += fmt::format("{:<{}}  ", row[i], widths[i]);
    line.erase(line.find_last_not_of(' ') + 1);
    text += line + "\n";
  }
  return text;
}

std::string one_line(std::string text) {
  while (!text.empty() && text.back() == '\n') text.pop_back();
  for (size_t at = 0; (at = text.find('\n', at)) != std::string::npos; at += 3)
    text.replace(at, 1, " | ");
  return text;
}

}  // namespace aotc
