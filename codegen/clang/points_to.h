// What emitted code can point at: a flow-insensitive points-to analysis over the Clang AST, as the
// store checker needs it. Pointers in local variables (also inside local structs and arrays) are
// followed through all their assignments; memory behind a parameter is named by the loads that lead
// there.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "clang/AST/Decl.h"
#include "clang/AST/DeclCXX.h"
#include "clang/AST/Expr.h"
#include "clang/AST/ExprCXX.h"
#include "codegen/clang/places.h"
#include "codegen/toolchain.h"

namespace aotc::clang_plugin {

class PointsTo {
 public:
  PointsTo(clang::ASTContext& context, const StoreServices& services)
      : context_(context), services_(services) {}

  // From here on, expressions are those of `function`'s body (null: of a global's initializer).
  void enter(const clang::FunctionDecl* function) {
    this_of_ = llvm::dyn_cast_or_null<clang::CXXMethodDecl>(function);
  }

  // The storage that an lvalue designates.
  Places lvalue(const clang::Expr* e);
  // What the value of a pointer expression points to.
  Places pointee(const clang::Expr* e);
  // The storage that a struct value was read from.
  Places record_source(const clang::Expr* e);
  // What the pointer kept at `place` points to.
  Places load(const Place& place) const;
  Places load(const Places& places) const;

  // Records that `value`, of type `type`, is stored at `where`: follows the pointers in it.
  void assign(const Places& where, clang::QualType type, const clang::Expr* value);
  // Records the initializer of a local variable.
  void declare(const clang::VarDecl* variable);
  // Records that the pointer at `where` is moved by pointer arithmetic.
  void move(const Places& where);
  // Records that the pointers in the local variable at `where` are overwritten in a way that is not
  // followed.
  void forget(const Place& where, const std::string& why);
  void add_return(const clang::FunctionDecl* function, const clang::Expr* value);

  // `inner`, a place of `function`'s view, as the caller sees it. `call` is a CallExpr or a
  // CXXConstructExpr.
  Places seen_by_caller(const Place& inner, const clang::FunctionDecl* function,
                        const clang::Expr* call);
  // The callee, e.g. `frame->parallel_for` or a parameter `parallel_for`, when `call` calls a
  // service, else null.
  const clang::Expr* service(const clang::CallExpr* call) const;

  // Whether anything was learnt since the last call.
  bool take_changed() { return std::exchange(changed_, false); }

 private:
  using Key = std::pair<const clang::Decl*, std::string>;

  void put(const Key& key, const Places& places);
  void put(const Place& where, const Places& places);
  void assign_list(const Places& where, clang::QualType type, const clang::InitListExpr* list);
  void assign_null(const Places& where, clang::QualType type);
  Places variable(const clang::VarDecl* v) const;
  Places cast_pointee(const clang::CastExpr* e);
  Places binary_pointee(const clang::BinaryOperator* e);
  Places unary_pointee(const clang::UnaryOperator* e);
  Places call_result(const clang::CallExpr* e);
  Places argument_base(const clang::Decl* parameter, const clang::FunctionDecl* function,
                       const clang::Expr* call);
  std::optional<int64_t> constant(const clang::Expr* e) const;

  clang::ASTContext& context_;
  const StoreServices& services_;
  const clang::CXXMethodDecl* this_of_ = nullptr;
  std::map<Key, Places>
      values_;  // what the pointer at a path of a local variable points to; path "*": all of them
  std::map<const clang::FunctionDecl*, Places> returns_;
  bool changed_ = false;
};

}  // namespace aotc::clang_plugin
