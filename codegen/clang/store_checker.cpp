// The store checker: every store, and every pointer handed to code that may store, must lead to a
// local variable, fresh memory, or a pointer that the store table allows. What a function stores
// through its parameters is collected and checked again at its call sites, until nothing changes.
// Findings of the last round are reported.
#include "codegen/clang/store_checker.h"

#include "clang/AST/ASTConsumer.h"
#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclTemplate.h"
#include "clang/AST/StmtCXX.h"
#include "clang/AST/StmtVisitor.h"
#include "clang/Basic/SourceManager.h"
#include "codegen/clang/points_to.h"

using namespace clang;

namespace aotc::clang_plugin {
namespace {

// More rounds than any call chain and chain of assignments in emitted code needs.
constexpr int kMaxRounds = 64;

// What a function may do to memory that its caller passed.
struct Effect {
  Place place;       // as the function sees it
  const void* type;  // QualType of what is written there
  bool hands_on;     // the pointer goes to code that is not seen: what can be reached from there
                     // counts, too
  auto operator<=>(const Effect&) const = default;
};

class Checker : public ConstStmtVisitor<Checker> {
 public:
  Checker(ASTContext& context, const StoreRules& rules)
      : context_(context), rules_(rules), places_(context, rules.services) {}

  void run(std::vector<SourceProblem>& out) {
    for (int round = 0;; ++round) {
      findings_.clear();
      changed_ = false;
      visit_declarations(context_.getTranslationUnitDecl());
      changed_ |= places_.take_changed();
      if (!changed_) break;
      if (round == kMaxRounds) {
        report(SourceLocation(), "the check does not come to an end: the code is too indirect");
        break;
      }
    }
    out.insert(out.end(), findings_.begin(), findings_.end());
  }

  void VisitStmt(const Stmt* s) { visit_children(s); }
  void VisitDeclStmt(const DeclStmt* s);
  void VisitReturnStmt(const ReturnStmt* s);
  void VisitBinaryOperator(const BinaryOperator* e);
  void VisitUnaryOperator(const UnaryOperator* e);
  void VisitCallExpr(const CallExpr* e);
  void VisitCXXConstructExpr(const CXXConstructExpr* e);
  void VisitDeclRefExpr(const DeclRefExpr* e);
  void VisitInitListExpr(const InitListExpr* e);
  void VisitExplicitCastExpr(const ExplicitCastExpr* e);
  void VisitAtomicExpr(const AtomicExpr* e);
  void VisitUnaryExprOrTypeTraitExpr(const UnaryExprOrTypeTraitExpr*) {}  // not evaluated
  void VisitCXXNoexceptExpr(const CXXNoexceptExpr*) {}
  void VisitAsmStmt(const AsmStmt* s) { report(s->getAsmLoc(), "inline assembly"); }
  void VisitLambdaExpr(const LambdaExpr* e) {
    report(e->getBeginLoc(), "a lambda, which the check does not follow");
  }
  void VisitCXXNewExpr(const CXXNewExpr* e) { report(e->getBeginLoc(), "operator new"); }
  void VisitCXXDeleteExpr(const CXXDeleteExpr* e) { report(e->getBeginLoc(), "operator delete"); }
  void VisitCXXThrowExpr(const CXXThrowExpr* e) { report(e->getBeginLoc(), "an exception"); }

 private:
  void visit_declarations(const DeclContext* declarations);
  void visit_declaration(const Decl* d);
  void visit_function(const FunctionDecl* f);
  void visit_record(const CXXRecordDecl* record);
  void visit_children(const Stmt* s) {
    for (const Stmt* child : s->children())
      if (child) Visit(child);
  }

  void report(SourceLocation at, const std::string& message);
  void store(const Expr* target, SourceLocation at);
  void write(const Place& place, QualType type, bool hands_on, SourceLocation at);
  void write_behind_parameter(const Place& place, QualType type, bool hands_on, SourceLocation at);
  void keep_pointer(const Places& where, QualType type, SourceLocation at);
  void hand_on(const Places& places, QualType pointee, SourceLocation at);
  void hand_on_contents(const Place& place, QualType pointee, SourceLocation at);
  void hand_on_value(const Expr* argument, QualType type, SourceLocation at);
  void apply_effects(const FunctionDecl* callee, const Expr* call, SourceLocation at);
  void call_unseen(const CallExpr* e, const FunctionDecl* callee);
  void call_service(const CallExpr* e, const Expr* service);
  void check_service(const ValueDecl* member, const Expr* value, SourceLocation at);
  bool is_handle(const Place& place) const;
  bool must_be_listed(const FunctionDecl* f) const;

  ASTContext& context_;
  const StoreRules& rules_;
  PointsTo places_;
  const FunctionDecl* function_ = nullptr;  // whose body is visited
  std::map<const FunctionDecl*, std::set<Effect>> effects_;
  std::set<const FunctionDecl*> address_taken_;
  std::set<Place> handing_on_;  // places whose contents are being handed on
  std::set<SourceProblem> findings_;
  bool changed_ = false;
};

void Checker::report(SourceLocation at, const std::string& message) {
  SourceProblem finding;
  const SourceManager& sources = context_.getSourceManager();
  if (at.isValid()) {
    at = sources.getExpansionLoc(at);
    finding.line = static_cast<int>(sources.getSpellingLineNumber(at));
    finding.column = static_cast<int>(sources.getSpellingColumnNumber(at));
  }
  if (function_) finding.function = function_->getNameAsString();
  finding.message = message;
  findings_.insert(finding);
}

// Declarations

void Checker::visit_declarations(const DeclContext* declarations) {
  for (const Decl* d : declarations->decls()) visit_declaration(d);
}

void Checker::visit_declaration(const Decl* d) {
  if (isa<FileScopeAsmDecl>(d)) return report(d->getLocation(), "inline assembly");
  if (auto* f = dyn_cast<FunctionDecl>(d)) return visit_function(f);
  if (auto* record = dyn_cast<CXXRecordDecl>(d)) return visit_record(record);
  if (auto* functions = dyn_cast<FunctionTemplateDecl>(d)) {
    for (const FunctionDecl* f : functions->specializations()) visit_function(f);
  } else if (auto* classes = dyn_cast<ClassTemplateDecl>(d)) {
    for (const CXXRecordDecl* record : classes->specializations()) visit_record(record);
  } else if (auto* v = dyn_cast<VarDecl>(d)) {
    if (v->getInit() && !v->getDeclContext()->isDependentContext()) Visit(v->getInit());
  } else if (isa<NamespaceDecl, LinkageSpecDecl>(d)) {
    visit_declarations(cast<DeclContext>(d));
  }
}

void Checker::visit_record(const CXXRecordDecl* record) {
  if (record->isDependentContext() || record->isLambda() || !record->isThisDeclarationADefinition())
    return;
  if (record->isUnion() && !pointers_in(context_.getRecordType(record)).empty())
    report(record->getLocation(), "a union that holds a pointer");
  visit_declarations(record);
}

void Checker::visit_function(const FunctionDecl* f) {
  if (!f->doesThisDeclarationHaveABody() || f->isDependentContext() || f->isImplicit()) return;
  function_ = f;
  places_.enter(f);
  if (isa<CXXDestructorDecl>(f)) report(f->getLocation(), "a destructor, whose calls are not seen");
  if (auto* constructor = dyn_cast<CXXConstructorDecl>(f))
    for (const CXXCtorInitializer* init : constructor->inits()) {
      if (init->isMemberInitializer() && holds_writable_pointer(init->getMember()->getType()))
        report(init->getSourceLocation(), "a pointer is stored where it cannot be followed");
      Visit(init->getInit());
    }
  Visit(f->getBody());
  function_ = nullptr;
  places_.enter(nullptr);
}

bool Checker::must_be_listed(const FunctionDecl* f) const {
  bool elsewhere = f->isExternallyVisible() && !f->isInlined() && !f->isTemplateInstantiation();
  return elsewhere || address_taken_.count(f);
}

// Stores

// Follows the pointers in a stored value, and refuses a pointer that is put where it is not
// followed.
void Checker::keep_pointer(const Places& where, QualType type, SourceLocation at) {
  if (!holds_writable_pointer(type)) return;
  for (const Place& place : where)
    if (place.kind != Place::Local && place.kind != Place::Unknown)
      report(at, "a pointer is stored where it cannot be followed");
}

void Checker::store(const Expr* target, SourceLocation at) {
  Places where = places_.lvalue(target);
  keep_pointer(where, target->getType(), at);
  bool any = false;
  for (const Place& place : where) {
    if (place.kind == Place::Null) continue;
    any = true;
    write(place, target->getType(), false, at);
  }
  if (!any) report(at, "store through a pointer that is never set");
}

void Checker::write(const Place& place, QualType type, bool hands_on, SourceLocation at) {
  switch (place.kind) {
    case Place::Unknown:
      return report(at, (hands_on ? "a pointer is handed on that comes from " : "store through ") +
                            place.path);
    case Place::Global: {
      auto* named = dyn_cast_or_null<NamedDecl>(place.object);
      return report(
          at, "store to the " + (named ? "global '" + named->getNameAsString() + "'" : "literal"));
    }
    case Place::Param:
      return write_behind_parameter(place, type, hands_on, at);
    case Place::Local: {
      auto* v = dyn_cast_or_null<VarDecl>(place.object);
      if (!v || hands_on || !holds_writable_pointer(v->getType())) return;
      QualType declared = type_at(v->getType(), place.path);
      bool as_declared = !declared.isNull() && context_.hasSameUnqualifiedType(declared, type);
      if (!as_declared)
        places_.forget(place, "'" + v->getNameAsString() + "', whose pointers were overwritten");
      return;
    }
    case Place::Fresh:
    case Place::Null:
      return;
  }
}

void Checker::write_behind_parameter(const Place& place, QualType type, bool hands_on,
                                     SourceLocation at) {
  changed_ |= effects_[function_].insert({place, type.getAsOpaquePtr(), hands_on}).second;
  std::vector<std::string> names = table_names(place);
  std::string what = (hands_on ? "a pointer is handed on: '" : "store through '") + names[0] + "'";
  auto listed = rules_.table.find(function_->getNameAsString());
  if (listed == rules_.table.end()) {
    if (must_be_listed(function_))
      report(
          at,
          what + " in a function that can be called from elsewhere and is not in the store table");
    return;
  }
  if (llvm::any_of(names, [&](const std::string& name) { return listed->second.count(name) != 0; }))
    return;
  std::string allowed;
  for (const std::string& name : listed->second) allowed += (allowed.empty() ? "" : ", ") + name;
  report(at, what + ", which the store table does not allow (allowed: " +
                 (allowed.empty() ? "nothing" : allowed) + ")");
}

// Pointers that leave the code which is seen

bool Checker::is_handle(const Place& place) const {
  if (place.kind != Place::Param) return false;
  auto* parameter = dyn_cast<ParmVarDecl>(place.object);
  std::string own_name = parameter ? parameter->getNameAsString() : "";
  return rules_.services.handles.count(place.loads.empty() ? own_name
                                                           : last_member(place.loads.back())) != 0;
}

void Checker::hand_on(const Places& places, QualType pointee, SourceLocation at) {
  if (places.empty() && !pointee.isConstQualified())
    return report(at, "a pointer is handed on that is never set");
  for (const Place& place : places) {
    if (is_handle(place)) continue;
    if (!pointee.isConstQualified()) write(place, pointee, true, at);
    hand_on_contents(place, pointee, at);
  }
}

// Code that gets the address of a struct can use the pointers in it.
void Checker::hand_on_contents(const Place& place, QualType pointee, SourceLocation at) {
  auto* variable = dyn_cast_or_null<VarDecl>(place.object);
  bool local = place.kind == Place::Local && variable;
  if (!local && place.kind != Place::Param) return;
  Place start = place;
  if (local) start.path = "";
  if (!handing_on_.insert(start).second) return;
  for (const auto& [path, pointer] : pointers_in(local ? variable->getType() : pointee))
    hand_on(places_.load(part(start, path)), pointer->getPointeeType(), at);
  handing_on_.erase(start);
}

void Checker::hand_on_value(const Expr* argument, QualType type, SourceLocation at) {
  type = type.getCanonicalType();
  if (type->isFunctionPointerType()) return;
  if (type->isPointerType()) {
    hand_on(places_.pointee(argument), type->getPointeeType(), at);
  } else if (type->isReferenceType()) {
    hand_on(places_.lvalue(argument), type->getPointeeType(), at);
  } else if (type->isRecordType() && !pointers_in(type).empty()) {
    for (const Place& place : places_.record_source(argument)) {
      if (place.kind == Place::Unknown)
        report(at, "a struct is handed on that comes from " + place.path);
      hand_on_contents(place, type, at);
    }
  }
}

// Calls

void Checker::apply_effects(const FunctionDecl* callee, const Expr* call, SourceLocation at) {
  for (const Effect& effect : std::set<Effect>(effects_[callee])) {
    QualType type = QualType::getFromOpaquePtr(effect.type);
    Places places = places_.seen_by_caller(effect.place, callee, call);
    if (places.empty())
      report(at, "'" + callee->getNameAsString() + "' stores through a pointer that is never set");
    if (effect.hands_on) {
      hand_on(places, type, at);
    } else {
      for (const Place& place : places) write(place, type, false, at);
    }
  }
}

void Checker::call_unseen(const CallExpr* e, const FunctionDecl* callee) {
  for (unsigned i = 0; i < e->getNumArgs(); ++i) {
    const Expr* argument = e->getArg(i);
    QualType type =
        i < callee->getNumParams() ? callee->getParamDecl(i)->getType() : argument->getType();
    hand_on_value(argument, type, argument->getBeginLoc());
    if (!type->isAnyPointerType() || type->getPointeeType().isConstQualified()) continue;
    for (const Place& place : places_.pointee(argument)) {
      auto* v = dyn_cast_or_null<VarDecl>(place.object);
      if (place.kind == Place::Local && v && holds_writable_pointer(v->getType()))
        places_.forget(place, "'" + v->getNameAsString() + "', which was handed to '" +
                                  callee->getNameAsString() + "'");
    }
  }
}

// The struct that a service belongs to may be an argument of it.
void Checker::call_service(const CallExpr* e, const Expr* service) {
  Places owner;
  if (auto* member = dyn_cast<MemberExpr>(service))
    owner =
        member->isArrow() ? places_.pointee(member->getBase()) : places_.lvalue(member->getBase());
  for (const Expr* argument : e->arguments()) {
    bool is_owner = !owner.empty() && argument->getType()->isPointerType() &&
                    places_.pointee(argument) == owner;
    if (!is_owner) hand_on_value(argument, argument->getType(), argument->getBeginLoc());
  }
}

void Checker::VisitCallExpr(const CallExpr* e) {
  const Expr* callee = e->getCallee()->IgnoreParenImpCasts();
  if (!isa<DeclRefExpr>(callee)) Visit(e->getCallee());
  for (const Expr* argument : e->arguments()) Visit(argument);
  if (const Expr* service = places_.service(e)) return call_service(e, service);
  const FunctionDecl* f = e->getDirectCallee();
  if (!f) return report(e->getBeginLoc(), "an indirect call that is no service of the run time");
  if (auto* method = dyn_cast<CXXMethodDecl>(f); method && method->isVirtual())
    return report(e->getBeginLoc(), "a virtual call");
  for (unsigned i = 0; i < std::min(e->getNumArgs(), f->getNumParams()); ++i)
    check_service(f->getParamDecl(i), e->getArg(i), e->getArg(i)->getBeginLoc());
  if (const FunctionDecl* definition = f->getDefinition())
    return apply_effects(definition, e, e->getBeginLoc());
  call_unseen(e, f);
}

void Checker::VisitCXXConstructExpr(const CXXConstructExpr* e) {
  visit_children(e);
  if (const FunctionDecl* definition = e->getConstructor()->getDefinition())
    apply_effects(definition, e, e->getBeginLoc());
}

// A function that is named without being called can be called by anybody.
void Checker::VisitDeclRefExpr(const DeclRefExpr* e) {
  auto* f = dyn_cast<FunctionDecl>(e->getDecl());
  const FunctionDecl* definition = f ? f->getDefinition() : nullptr;
  if (definition) changed_ |= address_taken_.insert(definition).second;
}

// Statements and operators

void Checker::VisitDeclStmt(const DeclStmt* s) {
  visit_children(s);
  for (const Decl* d : s->decls()) {
    if (auto* record = dyn_cast<CXXRecordDecl>(d)) visit_record(record);
    auto* v = dyn_cast<VarDecl>(d);
    if (!v) continue;
    if (isa<DecompositionDecl>(v))
      report(v->getLocation(), "a structured binding, which the check does not follow");
    if (v->getInit()) check_service(v, v->getInit(), v->getLocation());
    places_.declare(v);
  }
}

void Checker::VisitReturnStmt(const ReturnStmt* s) {
  visit_children(s);
  if (s->getRetValue()) places_.add_return(function_, s->getRetValue());
}

void Checker::VisitBinaryOperator(const BinaryOperator* e) {
  visit_children(e);
  if (!e->isAssignmentOp()) return;
  store(e->getLHS(), e->getOperatorLoc());
  Places where = places_.lvalue(e->getLHS());
  if (e->getOpcode() == BO_Assign) {
    places_.assign(where, e->getLHS()->getType(), e->getRHS());
    auto* variable = dyn_cast<DeclRefExpr>(e->getLHS()->IgnoreParens());
    if (variable) check_service(variable->getDecl(), e->getRHS(), e->getOperatorLoc());
    if (auto* member = dyn_cast<MemberExpr>(e->getLHS()->IgnoreParens()))
      check_service(member->getMemberDecl(), e->getRHS(), e->getOperatorLoc());
  } else if (e->getLHS()->getType()->isPointerType()) {
    places_.move(where);
  }
}

void Checker::VisitUnaryOperator(const UnaryOperator* e) {
  visit_children(e);
  if (!e->isIncrementDecrementOp()) return;
  store(e->getSubExpr(), e->getOperatorLoc());
  if (e->getType()->isPointerType()) places_.move(places_.lvalue(e->getSubExpr()));
}

void Checker::VisitAtomicExpr(const AtomicExpr* e) {
  visit_children(e);
  for (const Stmt* child : e->children())
    if (auto* operand = dyn_cast_or_null<Expr>(child);
        operand && operand->getType()->isPointerType())
      hand_on_value(operand, operand->getType(), operand->getBeginLoc());
}

// A service may be copied from where it has the same name, but not replaced.
void Checker::check_service(const ValueDecl* where, const Expr* value, SourceLocation at) {
  std::string name = where->getNameAsString();
  if (!rules_.services.callees.count(name) || !where->getType()->isFunctionPointerType()) return;
  bool null = isa<ImplicitValueInitExpr>(value) ||
              value->isNullPointerConstant(context_, Expr::NPC_NeverValueDependent);
  if (!null && pointer_name(value) != name) report(at, "the service '" + name + "' is replaced");
}

void Checker::VisitInitListExpr(const InitListExpr* e) {
  visit_children(e);
  const RecordDecl* record = e->getType()->getAsRecordDecl();
  if (!record || record->isUnion()) return;
  unsigned i = 0;
  for (const FieldDecl* field : record->fields()) {
    if (field->isUnnamedBitField()) continue;
    if (i >= e->getNumInits()) return;
    check_service(field, e->getInit(i), e->getInit(i)->getBeginLoc());
    ++i;
  }
}

// Casts

void Checker::VisitExplicitCastExpr(const ExplicitCastExpr* e) {
  visit_children(e);
  QualType from = e->getSubExpr()->getType(), to = e->getTypeAsWritten();
  bool null = e->getSubExpr()->isNullPointerConstant(context_, Expr::NPC_NeverValueDependent);
  if (e->getCastKind() == CK_LValueToRValueBitCast && !pointers_in(to).empty() &&
      !from->isPointerType())
    return report(e->getBeginLoc(), "bits become a pointer");
  if (to->isPointerType() && from->isIntegralOrEnumerationType() && !null)
    return report(e->getBeginLoc(), "an integer becomes a pointer");
  if (from->isFunctionPointerType() || to->isFunctionPointerType()) {
    if (!null && !context_.hasSameUnqualifiedType(from, to) && !from->isFunctionType())
      report(e->getBeginLoc(), "a function pointer changes its type");
    return;
  }
  bool pointers = to->isPointerType() && from->isPointerType();
  if (!pointers && !to->isReferenceType()) return;
  QualType from_object = pointers ? from->getPointeeType() : from, to_object = to->getPointeeType();
  if (removes_const(from_object, to_object)) report(e->getBeginLoc(), "a cast removes const");
  if (reinterprets_pointers(context_, from_object, to_object))
    report(e->getBeginLoc(), "memory that holds pointers changes its type");
}

class CheckerConsumer : public ASTConsumer {
 public:
  CheckerConsumer(const StoreRules& rules, std::vector<SourceProblem>& out)
      : rules_(rules), out_(out) {}
  void HandleTranslationUnit(ASTContext& context) override {
    if (!context.getDiagnostics().hasErrorOccurred()) Checker(context, rules_).run(out_);
  }

 private:
  StoreRules rules_;
  std::vector<SourceProblem>& out_;
};

}  // namespace

std::unique_ptr<ASTConsumer> make_store_checker(const StoreRules& rules,
                                                std::vector<SourceProblem>& findings) {
  return std::make_unique<CheckerConsumer>(rules, findings);
}

}  // namespace aotc::clang_plugin
