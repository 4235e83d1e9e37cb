#include "codegen/source_library.h"

#include <cctype>

// Splitting a source file into chunks and finding which of them a text needs.
extern "C" {
extern const char aotc_scalar_h_begin[], aotc_scalar_h_end[];
extern const char aotc_kernel_prologue_begin[], aotc_kernel_prologue_end[];
extern const char aotc_cuda_compilers_begin[], aotc_cuda_compilers_end[];
extern const char aotc_cuda_prologue_begin[], aotc_cuda_prologue_end[];
extern const char aotc_cuda_matmul_begin[], aotc_cuda_matmul_end[];
extern const char aotc_cuda_matmul_entry_begin[], aotc_cuda_matmul_entry_end[];
extern const char aotc_cuda_matmul_launch_begin[], aotc_cuda_matmul_launch_end[];
extern const char aotc_program_decls_begin[], aotc_program_decls_end[];
extern const char aotc_template_decls_begin[], aotc_template_decls_end[];
}

namespace aotc {
namespace {

bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) || c == '_'; }

// Text without comments, string and character literals, and preprocessor lines other than #define.
std::string bare(std::string_view text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i, 2) == "//") {
      while (i < text.size() && text[i] != '\n') ++i;
    } else if (text.substr(i, 2) == "/*") {
      i = text.find("*/", i);
      if (i == std::string_view::npos) break;
      ++i;
      continue;
    } else if (text[i] == '"') {
      ++i;
      while (i < text.size() && text[i] != '"') i += text[i] == '\\' ? 2 : 1;
      continue;
    }
    if (i < text.size()) out += text[i];
  }
  return out;
}

// Names that the chunk introduces at its top level: an identifier at brace depth 0 that is followed
// by '(',
// '=', '{', ';' or '[', or that follows struct, class, enum, using, typedef or #define.
std::set<std::string> definitions_in(const std::string& text) {
  std::set<std::string> names;
  int depth = 0, parens = 0;
  std::string previous;
  for (size_t i = 0; i < text.size(); ++i) {
    char c = text[i];
    if (c == '{') ++depth;
    if (c == '}') --depth;
    if (c == '(') ++parens;
    if (c == ')') --parens;
    if (!is_word(c) || std::isdigit(static_cast<unsigned char>(c))) continue;
    size_t end = i;
    while (end < text.size() && is_word(text[end])) ++end;
    std::string word = text.substr(i, end - i);
    size_t next = text.find_first_not_of(" \n", end);
    char follow = next == std::string::npos ? ';' : text[next];
    static const std::set<std::string> introducers = {"struct", "class",  "enum",
                                                      "using",  "define", "union"};
    bool top = depth == 0 && parens == 0;
    if (top && (introducers.contains(previous) || follow == '(' || follow == '=' || follow == ';' ||
                follow == '['))
      names.insert(word);
    previous = word;
    i = end - 1;
  }
  return names;
}

}  // namespace

std::set<std::string> identifiers_in(std::string_view text) {
  std::set<std::string> names;
  std::string code = bare(text);
  for (size_t i = 0; i < code.size(); ++i) {
    if (!is_word(code[i])) continue;
    size_t end = i;
    while (end < code.size() && is_word(code[end])) ++end;
    if (!std::isdigit(static_cast<unsigned char>(code[i]))) names.insert(code.substr(i, end - i));
    i = end;
  }
  return names;
}

SourceLibrary::SourceLibrary(std::string_view text) {
  size_t at = 0;
  while (at < text.size()) {
    size_t end = text.find("\n\n", at);
    if (end == std::string_view::npos) end = text.size();
    Chunk c;
    c.text = std::string(text.substr(at, end - at));
    std::string code = bare(c.text);
    size_t first = code.find_first_not_of(" \n");
    bool frame =
        first == std::string::npos || code[first] == '}' ||
        code.compare(first, 9, "namespace") == 0 ||
        code.find("#pragma once") != std::string::npos;  // belongs to the file, not to a piece
    if (!frame) {
      c.defines = definitions_in(code);
      c.uses = identifiers_in(code);
      chunks_.push_back(std::move(c));
    }
    at = end + 2;
  }
}

std::string SourceLibrary::needed_by(const std::string& user) const {
  std::set<std::string> wanted = identifiers_in(user);
  std::vector<bool> taken(chunks_.size(), false);
  for (bool changed = true; changed;) {
    changed = false;
    for (size_t i = 0; i < chunks_.size(); ++i) {
      if (taken[i]) continue;
      bool needed = false;
      for (const std::string& d : chunks_[i].defines) needed |= wanted.contains(d);
      if (!needed) continue;
      taken[i] = changed = true;
      wanted.insert(chunks_[i].uses.begin(), chunks_[i].uses.end());
    }
  }
  std::string text;
  for (size_t i = 0; i < chunks_.size(); ++i)
    if (taken[i]) text += chunks_[i].text + "\n\n";
  return text;
}

std::string_view scalar_library_text() { return {aotc_scalar_h_begin, aotc_scalar_h_end}; }
std::string_view kernel_prologue_text() {
  return {aotc_kernel_prologue_begin, aotc_kernel_prologue_end};
}
std::string_view number_types_text() {
  const std::string_view prologue = kernel_prologue_text();
  return prologue.substr(0, prologue.find("\n\n") + 1);
}
std::string_view cuda_compilers_text() {
  return {aotc_cuda_compilers_begin, aotc_cuda_compilers_end};
}
std::string_view cuda_prologue_text() { return {aotc_cuda_prologue_begin, aotc_cuda_prologue_end}; }
std::string_view cuda_matmul_text() { return {aotc_cuda_matmul_begin, aotc_cuda_matmul_end}; }
std::string_view cuda_matmul_entry_text() {
  return {aotc_cuda_matmul_entry_begin, aotc_cuda_matmul_entry_end};
}
std::string_view cuda_matmul_launch_text() {
  return {aotc_cuda_matmul_launch_begin, aotc_cuda_matmul_launch_end};
}
std::string_view program_declarations() {
  return {aotc_program_decls_begin, aotc_program_decls_end};
}
std::string_view template_declarations() {
  return {aotc_template_decls_begin, aotc_template_decls_end};
}

}  // namespace aotc
