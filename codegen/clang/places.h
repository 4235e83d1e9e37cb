// Where pointers lead, as data: places, the pointers inside a type, and the names that the store
// table uses for them.
#pragma once
#include <compare>
#include <cstdint>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/ASTContext.h"
#include "clang/AST/Decl.h"
#include "clang/AST/Expr.h"

namespace aotc::clang_plugin {

// A set of addresses that are not told apart.
struct Place {
  enum Kind : uint8_t {
    Local,  // in the local variable `object` (null: a temporary)
    Fresh,  // memory that nobody else sees: alloca, or returned by a service
    Null,
    Global,  // in the global `object` (null: a literal)
    Param,   // behind the parameter `object` (a CXXMethodDecl: behind `this`)
    Unknown  // `path` says why
  };
  Kind kind = Unknown;
  const clang::Decl* object = nullptr;
  // Param: each pointer loaded on the way, as a path from where the last one pointed, e.g.
  // {"[0].outputs", "[2]"} for frame->outputs[2].
  std::vector<std::string> loads;
  // Where in the object, e.g. "[0].failure.value"; "[]" is any element. Elements of locals are
  // always "[]".
  std::string path;

  auto operator<=>(const Place&) const = default;
  static Place unknown(std::string why) { return {Unknown, nullptr, {}, std::move(why)}; }
};
using Places = std::set<Place>;

// `place` after pointer arithmetic by `step` elements (nullopt: any number).
Place element(Place place, std::optional<int64_t> step);
// The part `path` of what `place` points to; a leading index is pointer arithmetic.
Place part(Place place, const std::string& path);

// All pointers to objects inside a value of type `type`, with their paths; {"", type} for a pointer
// itself.
std::vector<std::pair<std::string, clang::QualType>> pointers_in(clang::QualType type);
// Whether such a pointer, or a reference, points to something that is not const.
bool holds_writable_pointer(clang::QualType type);
// The type of the part `path` of an object of type `type`; null when there is no such part.
clang::QualType type_at(clang::QualType type, const std::string& path);

// "a.b[2]" -> "b[2]"
std::string last_member(const std::string& name);
// The name of the variable, parameter or member that `e` designates; "" for any other expression.
std::string pointer_name(const clang::Expr* e);
// "" for a field without a name, whose members count as the enclosing struct's.
std::string field_path(const clang::FieldDecl* field);
bool is_object_pointer(clang::QualType type);
// How the store table may name the memory at `place`, a Param: the most telling name first, then
// the fully qualified one.
std::vector<std::string> table_names(const Place& place);

// Whether a cast between pointers to `from` and `to` loses a const, at any depth.
bool removes_const(clang::QualType from, clang::QualType to);
// Whether such a cast shows memory that holds pointers as something else: stores through it would
// change them behind the check's back.
bool reinterprets_pointers(const clang::ASTContext& context, clang::QualType from,
                           clang::QualType to);

}  // namespace aotc::clang_plugin
