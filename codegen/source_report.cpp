// Finds the kernel comment and the source lines that belong to a message.
#include "codegen/source_report.h"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace aotc {
namespace {

std::vector<std::string_view> split_lines(std::string_view text) {
  std::vector<std::string_view> lines;
  while (!text.empty()) {
    size_t end = std::min(text.find('\n'), text.size());
    lines.push_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

bool is_comment(std::string_view line) { return line.starts_with("//"); }

bool starts_definition(std::string_view line) {
  return !line.empty() && line[0] != ' ' && line[0] != '\t' && line[0] != '#' && line[0] != '}' &&
         line[0] != '{' && !is_comment(line);
}

std::string comment_above(const std::vector<std::string_view>& lines, int line) {
  int at = std::min<int>(line, static_cast<int>(lines.size())) - 1;
  while (at >= 0 && !starts_definition(lines[at])) --at;
  int first = at;
  while (first > 0 && is_comment(lines[first - 1])) --first;
  if (at < 0 || first == at) return "";
  std::string out(lines[first]);
  for (int i = first + 1; i < at; ++i) out.append("\n").append(lines[i]);
  return out;
}

std::string excerpt(const std::vector<std::string_view>& lines, int line) {
  std::string out;
  for (int i = std::max(1, line - 1); i <= std::min<int>(line + 1, static_cast<int>(lines.size()));
       ++i)
    out += fmt::format("  {} {:5} | {}\n", i == line ? '>' : ' ', i, lines[i - 1]);
  return out;
}

std::string indent(std::string text, std::string_view prefix) {
  text.insert(0, prefix);
  for (size_t at = text.find('\n'); at != std::string::npos; at = text.find('\n', at + 1))
    text.insert(at + 1, prefix);
  return text;
}

}  // namespace

std::string kernel_comment(const std::string& text, int line) {
  return comment_above(split_lines(text), line);
}

std::string describe_problems(const SourceFile& source, const std::string& summary,
                              const std::vector<SourceProblem>& problems) {
  std::vector<std::string_view> lines = split_lines(source.text);
  std::string out = fmt::format("{}: {}\n", source.name, summary);
  for (const SourceProblem& problem : problems) {
    if (problem.line > 0) {
      out += fmt::format("{}:{}:{}: ", source.name, problem.line, problem.column);
    }
    if (!problem.function.empty()) out += fmt::format("in {}: ", problem.function);
    out += problem.message + "\n";
    if (problem.line <= 0) continue;
    std::string comment = comment_above(lines, problem.line);
    if (!comment.empty()) out += indent(comment, "    ") + "\n";
    out += excerpt(lines, problem.line);
  }
  out.pop_back();
  return out;
}

}  // namespace aotc
