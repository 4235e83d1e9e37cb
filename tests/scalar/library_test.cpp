// The scalar headers keep the form that lets a generator copy pieces of them (see aotc/scalar.h).
#include <algorithm>
#include <catch2/catch.hpp>
#include <filesystem>
#include <fstream>
#include <map>
#include <regex>
#include <set>
#include <sstream>
#include <string>
#include <vector>

#include "ir/scalar.h"

namespace aotc {
namespace {

std::string contents(const std::filesystem::path& path) {
  std::ifstream in(path);
  REQUIRE(in);
  std::ostringstream text;
  text << in.rdbuf();
  return text.str();
}

std::vector<std::filesystem::path> parts() {
  const std::filesystem::path umbrella = AOTC_SCALAR_HEADER;
  const std::string text = contents(umbrella);
  const std::regex include("#include \"(scalar/.*)\"");
  std::vector<std::filesystem::path> paths;
  for (std::sregex_iterator i(text.begin(), text.end(), include), end; i != end; ++i)
    paths.push_back(umbrella.parent_path() / (*i)[1].str());
  REQUIRE(paths.size() > 5);
  return paths;
}

std::string without_comments(const std::string& text) {
  return std::regex_replace(text, std::regex("//[^\n]*"), "");
}

// The chunks of the library, without those that belong to a file.
std::vector<std::string> chunks() {
  std::vector<std::string> all;
  for (const auto& path : parts()) {
    const std::string text = contents(path);
    for (size_t at = 0; at < text.size();) {
      const size_t end = std::min(text.find("\n\n", at), text.size());
      const std::string chunk = text.substr(at, end - at);
      const std::string code = without_comments(chunk);
      const bool is_frame = code.find("#pragma once") != std::string::npos ||
                            code.starts_with("namespace") || code.starts_with("}");
      if (!is_frame) all.push_back(chunk);
      at = end + 2;
    }
  }
  return all;
}

std::set<std::string> words(const std::string& text) {
  std::set<std::string> found;
  const std::regex word("[A-Za-z_][A-Za-z0-9_]*");
  for (std::sregex_iterator i(text.begin(), text.end(), word), end; i != end; ++i)
    found.insert(i->str());
  return found;
}

// Names of functions, types and aliases that a chunk defines at its top level.
std::set<std::string> definitions(const std::string& chunk) {
  std::string top;
  int depth = 0;
  for (char c : without_comments(chunk)) {
    depth -= c == '}';
    if (depth == 0) top += c;
    depth += c == '{';
  }
  std::set<std::string> names;
  const std::regex name("(?:struct|using|define) +(\\w+)|(\\w+)\\(");
  for (std::sregex_iterator i(top.begin(), top.end(), name), end; i != end; ++i)
    names.insert((*i)[1].matched ? (*i)[1] : (*i)[2]);
  return names;
}

// The chunks that `user` needs, directly or not.
std::string closure(const std::string& user) {
  const std::vector<std::string> all = chunks();
  std::set<std::string> wanted = words(user);
  std::string text;
  for (size_t i = all.size(); i-- > 0;) {  // a chunk uses earlier ones only
    const std::set<std::string> defined = definitions(all[i]);
    if (std::ranges::none_of(defined, [&](const std::string& d) { return wanted.contains(d); }))
      continue;
    wanted.merge(words(without_comments(all[i])));
    text = all[i] + "\n\n" + text;
  }
  return text;
}

}  // namespace

TEST_CASE("a chunk is whole and has no conditional but the first one", "[scalar]") {
  const std::vector<std::string> all = chunks();
  for (const std::string& chunk : all) {
    INFO(chunk);
    const std::string code = without_comments(chunk);
    CHECK(std::ranges::count(code, '{') == std::ranges::count(code, '}'));
    CHECK(std::ranges::count(code, '(') == std::ranges::count(code, ')'));
    CHECK((&chunk == &all[0]) == (code.find('#') != std::string::npos));
    CHECK(code.find_first_not_of(" \n") != std::string::npos);
  }
}

TEST_CASE("a name belongs to one chunk, which comes before its users", "[scalar]") {
  std::map<std::string, size_t> home;
  const std::vector<std::string> all = chunks();
  for (size_t i = 0; i < all.size(); ++i)
    for (const std::string& name : definitions(all[i])) {
      INFO(name << " in\n" << all[i]);
      CHECK(home.emplace(name, i).second);
    }
  for (size_t i = 0; i < all.size(); ++i)
    for (const std::string& word : words(without_comments(all[i]))) {
      const auto defined = home.find(word);
      INFO(word << " in\n" << all[i]);
      if (defined != home.end()) CHECK(defined->second <= i);
    }
}

TEST_CASE("a function brings nothing of other types", "[scalar]") {
  const std::string exp = closure("exp_f32");
  CHECK(exp.find("exp_f32") != std::string::npos);
  CHECK(exp.find("double exp") == std::string::npos);
  CHECK(exp.find("complex") == std::string::npos);
  CHECK(exp.find("__builtin_exp") == std::string::npos);
  CHECK(closure("maximum").find("complex") == std::string::npos);
  CHECK(closure("cast bfloat16").find("struct float8") == std::string::npos);
}

TEST_CASE("the function of every primitive is in the library", "[scalar]") {
  std::set<std::string> names;
  for (const std::string& chunk : chunks()) names.merge(definitions(chunk));
  for (const PrimInfo& row : all_prims()) {
    const Prim p = *prim_from_name(row.name);
    for (DType t : {DType::Bool, DType::Int8, DType::Int64, DType::Float32, DType::Float64,
                    DType::Complex64, DType::Complex128})
      if (prim_supports(p, t))
        CHECK((names.contains(prim_function(p, t)) ? "" : prim_function(p, t)) == std::string());
  }
}

}  // namespace aotc
