// Expressions to places. Whatever is not understood becomes an unknown place with the reason.
#include "codegen/clang/points_to.h"

#include "clang/AST/ASTContext.h"
#include "clang/AST/DeclCXX.h"
#include "clang/Basic/Builtins.h"

using namespace clang;

namespace aotc::clang_plugin {
namespace {

// A chain longer than this is a linked structure: no kernel has one.
constexpr size_t kMaxLoads = 6;

// Expressions that only wrap another one.
const Expr* unwrap(const Expr* e) {
  for (;;) {
    e = e->IgnoreParens();
    if (auto* full = dyn_cast<FullExpr>(e)) {
      e = full->getSubExpr();
    } else if (auto* temporary = dyn_cast<MaterializeTemporaryExpr>(e)) {
      e = temporary->getSubExpr();
    } else if (auto* bind = dyn_cast<CXXBindTemporaryExpr>(e)) {
      e = bind->getSubExpr();
    } else if (auto* argument = dyn_cast<CXXDefaultArgExpr>(e)) {
      e = argument->getExpr();
    } else if (auto* substituted = dyn_cast<SubstNonTypeTemplateParmExpr>(e)) {
      e = substituted->getReplacement();
    } else {
      return e;
    }
  }
}

Places merge(Places a, const Places& b) {
  a.insert(b.begin(), b.end());
  return a;
}

Places map_places(const Places& places, llvm::function_ref<Place(const Place&)> change) {
  Places out;
  for (const Place& place : places) out.insert(change(place));
  return out;
}

// The first element of the array at `place`.
Place decay(Place place) {
  if (place.kind == Place::Local) place.path += "[]";
  if (place.kind == Place::Param || place.kind == Place::Global) place.path += "[0]";
  return place;
}

}  // namespace

std::optional<int64_t> PointsTo::constant(const Expr* e) const {
  Expr::EvalResult result;
  if (e->isValueDependent() || !e->EvaluateAsInt(result, context_)) return std::nullopt;
  return result.Val.getInt().tryExtValue();  // nullopt when it needs more than 64 bits
}

void PointsTo::put(const Key& key, const Places& places) {
  Places& known = values_[key];
  size_t before = known.size();
  known.insert(places.begin(), places.end());
  changed_ |= known.size() != before;
}

void PointsTo::put(const Place& where, const Places& places) {
  if (where.kind == Place::Local && where.object) put(Key{where.object, where.path}, places);
}

Places PointsTo::load(const Place& place) const {
  if (place.kind == Place::Null || place.kind == Place::Unknown) return {place};
  if (place.kind == Place::Fresh) return {Place::unknown("a pointer read from fresh memory")};
  if (place.kind == Place::Global) return {Place::unknown("a pointer kept in a global")};
  if (place.kind == Place::Param) {
    if (place.loads.size() >= kMaxLoads)
      return {Place::unknown("a longer chain of pointers than is followed")};
    Place next = {Place::Param, place.object, place.loads, "[0]"};
    next.loads.push_back(place.path);
    return {next};
  }
  if (!place.object) return {Place::unknown("a pointer kept in a temporary")};
  Places out;
  for (const std::string& path : {place.path, std::string("*")})
    if (auto found = values_.find({place.object, path}); found != values_.end())
      out = merge(out, found->second);
  if (auto* parameter = dyn_cast<ParmVarDecl>(place.object)) {
    Place outside = {Place::Param, parameter, {}, "[0]"};
    if (!place.path.empty()) outside.loads.push_back(place.path);
    out.insert(outside);
  }
  return out;
}

Places PointsTo::load(const Places& places) const {
  Places out;
  for (const Place& place : places) out = merge(std::move(out), load(place));
  return out;
}

Places PointsTo::variable(const VarDecl* v) const {
  if (v->getType()->isReferenceType()) {
    if (isa<ParmVarDecl>(v)) return {{Place::Param, v, {}, ""}};
    if (!v->hasLocalStorage()) return {Place::unknown("a reference kept in a global")};
    auto found = values_.find({v, ""});
    return found == values_.end() ? Places() : found->second;
  }
  return {{v->hasLocalStorage() ? Place::Local : Place::Global, v, {}, ""}};
}

Places PointsTo::lvalue(const Expr* e) {
  e = unwrap(e);
  if (auto* reference = dyn_cast<DeclRefExpr>(e)) {
    if (auto* v = dyn_cast<VarDecl>(reference->getDecl())) return variable(v);
    return {
        Place::unknown("'" + reference->getDecl()->getNameAsString() + "', which is no variable")};
  }
  if (auto* subscript = dyn_cast<ArraySubscriptExpr>(e)) {
    std::optional<int64_t> index = constant(subscript->getIdx());
    if (subscript->getBase()->getType()->isVectorType())
      return map_places(lvalue(subscript->getBase()),
                        [&](const Place& p) { return part(decay(p), "[]"); });
    return map_places(pointee(subscript->getBase()),
                      [&](const Place& p) { return element(p, index); });
  }
  if (auto* member = dyn_cast<MemberExpr>(e)) {
    auto* field = dyn_cast<FieldDecl>(member->getMemberDecl());
    if (!field) return {{Place::Global, member->getMemberDecl(), {}, ""}};
    Places base = member->isArrow() ? pointee(member->getBase()) : lvalue(member->getBase());
    Places out = map_places(base, [&](const Place& p) { return part(p, field_path(field)); });
    return field->getType()->isReferenceType() ? load(out) : out;
  }
  if (auto* unary = dyn_cast<UnaryOperator>(e)) {
    if (unary->getOpcode() == UO_Deref) return pointee(unary->getSubExpr());
    return lvalue(unary->getSubExpr());
  }
  if (auto* binary = dyn_cast<BinaryOperator>(e))
    return lvalue(binary->getOpcode() == BO_Comma ? binary->getRHS() : binary->getLHS());
  if (auto* choice = dyn_cast<ConditionalOperator>(e))
    return merge(lvalue(choice->getTrueExpr()), lvalue(choice->getFalseExpr()));
  if (auto* cast = dyn_cast<CastExpr>(e)) {
    if (cast->getSubExpr()->isGLValue()) return lvalue(cast->getSubExpr());
    return {{Place::Local, nullptr, {}, ""}};
  }
  if (auto* lanes = dyn_cast<ExtVectorElementExpr>(e))
    return lanes->isArrow() ? pointee(lanes->getBase()) : lvalue(lanes->getBase());
  if (auto* call = dyn_cast<CallExpr>(e); call && e->isGLValue()) return call_result(call);
  if (isa<StringLiteral, PredefinedExpr>(e)) return {{Place::Global, nullptr, {}, ""}};
  if (e->isPRValue() && !holds_writable_pointer(e->getType()))
    return {{Place::Local, nullptr, {}, ""}};
  return {Place::unknown("an expression that is not followed")};
}

Places PointsTo::cast_pointee(const CastExpr* e) {
  const Expr* inner = e->getSubExpr();
  switch (e->getCastKind()) {
    case CK_NullToPointer:
      return {{Place::Null, nullptr, {}, ""}};
    case CK_ArrayToPointerDecay:
      return map_places(lvalue(inner), decay);
    case CK_LValueToRValue:
      return load(lvalue(inner));
    case CK_BitCast: {
      // An index counts elements of the old type.
      auto rescale = [](const Place& p) {
        return llvm::StringRef(p.path).ends_with("[0]") ? p : element(p, std::nullopt);
      };
      return map_places(pointee(inner), rescale);
    }
    case CK_NoOp:
    case CK_AddressSpaceConversion:
    case CK_DerivedToBase:
    case CK_UncheckedDerivedToBase:
      return pointee(inner);
    case CK_IntegralToPointer:
      return {Place::unknown("an integer that became a pointer")};
    default:
      return {Place::unknown(std::string("a conversion that is not followed (") +
                             e->getCastKindName() + ")")};
  }
}

Places PointsTo::binary_pointee(const BinaryOperator* e) {
  if (e->getOpcode() == BO_Comma || e->getOpcode() == BO_Assign) return pointee(e->getRHS());
  auto anywhere = [](const Place& p) { return element(p, std::nullopt); };
  if (e->isCompoundAssignmentOp()) return map_places(load(lvalue(e->getLHS())), anywhere);
  if (!e->isAdditiveOp()) return {Place::unknown("an operator that is not followed")};
  bool left = e->getLHS()->getType()->isPointerType();
  std::optional<int64_t> step = constant(left ? e->getRHS() : e->getLHS());
  if (step && e->getOpcode() == BO_Sub)
    step = *step == INT64_MIN ? std::nullopt : std::optional(-*step);
  return map_places(pointee(left ? e->getLHS() : e->getRHS()),
                    [&](const Place& p) { return element(p, step); });
}

Places PointsTo::unary_pointee(const UnaryOperator* e) {
  if (e->getOpcode() == UO_AddrOf) return lvalue(e->getSubExpr());
  if (e->isIncrementDecrementOp())
    return map_places(load(lvalue(e->getSubExpr())),
                      [](const Place& p) { return element(p, std::nullopt); });
  return e->getOpcode() == UO_Extension
             ? pointee(e->getSubExpr())
             : Places{Place::unknown("an operator that is not followed")};
}

Places PointsTo::pointee(const Expr* e) {
  e = unwrap(e);
  if (e->isNullPointerConstant(context_, Expr::NPC_ValueDependentIsNotNull) != Expr::NPCK_NotNull ||
      isa<ImplicitValueInitExpr, CXXScalarValueInitExpr>(e))
    return {{Place::Null, nullptr, {}, ""}};
  if (auto* cast = dyn_cast<CastExpr>(e)) return cast_pointee(cast);
  if (auto* binary = dyn_cast<BinaryOperator>(e)) return binary_pointee(binary);
  if (auto* unary = dyn_cast<UnaryOperator>(e)) return unary_pointee(unary);
  if (auto* choice = dyn_cast<ConditionalOperator>(e))
    return merge(pointee(choice->getTrueExpr()), pointee(choice->getFalseExpr()));
  if (auto* call = dyn_cast<CallExpr>(e)) return call_result(call);
  if (isa<CXXThisExpr>(e) && this_of_) return {{Place::Param, this_of_, {}, "[0]"}};
  if (auto* list = dyn_cast<InitListExpr>(e))
    return list->getNumInits() == 1 ? pointee(list->getInit(0))
                                    : Places{{Place::Null, nullptr, {}, ""}};
  if (e->isGLValue()) return load(lvalue(e));
  return {Place::unknown("an expression that is not followed")};
}

Places PointsTo::call_result(const CallExpr* e) {
  if (service(e)) return {{Place::Fresh, nullptr, {}, ""}};
  const FunctionDecl* callee = e->getDirectCallee();
  if (!callee) return {Place::unknown("the result of an indirect call")};
  switch (callee->getBuiltinID()) {
    case Builtin::BI__builtin_alloca:
    case Builtin::BI__builtin_alloca_with_align:
      return {{Place::Fresh, nullptr, {}, ""}};
    case Builtin::BI__builtin_assume_aligned:
    case Builtin::BI__builtin_launder:
    case Builtin::BI__builtin_memcpy:
    case Builtin::BI__builtin_memmove:
    case Builtin::BI__builtin_memset:
    case Builtin::BImemcpy:
    case Builtin::BImemmove:
    case Builtin::BImemset:
      return pointee(e->getArg(0));
    default:
      break;
  }
  const FunctionDecl* definition = callee->getDefinition();
  if (!definition) return {Place::unknown("the result of '" + callee->getNameAsString() + "'")};
  Places out;
  for (const Place& place : Places(returns_[definition]))
    out = merge(std::move(out), seen_by_caller(place, definition, e));
  return out;
}

const Expr* PointsTo::service(const CallExpr* call) const {
  if (call->getDirectCallee()) return nullptr;
  const Expr* callee = call->getCallee()->IgnoreParenImpCasts();
  auto* deref = dyn_cast<UnaryOperator>(callee);
  if (deref && deref->getOpcode() == UO_Deref) callee = deref->getSubExpr()->IgnoreParenImpCasts();
  return services_.callees.count(pointer_name(callee)) ? callee : nullptr;
}

Places PointsTo::record_source(const Expr* e) {
  e = unwrap(e);
  if (auto* construct = dyn_cast<CXXConstructExpr>(e))
    if (construct->getConstructor()->isCopyOrMoveConstructor())
      return record_source(construct->getArg(0));
  if (auto* choice = dyn_cast<ConditionalOperator>(e); choice && e->isPRValue())
    return merge(record_source(choice->getTrueExpr()), record_source(choice->getFalseExpr()));
  if (auto* cast = dyn_cast<CastExpr>(e); cast && e->isPRValue())
    return record_source(cast->getSubExpr());
  if (e->isGLValue()) return lvalue(e);
  return {Place::unknown("a struct value that is not followed")};
}

void PointsTo::assign_null(const Places& where, QualType type) {
  for (const auto& [path, pointer] : pointers_in(type))
    for (const Place& place : where) put(part(place, path), {{Place::Null, nullptr, {}, ""}});
}

void PointsTo::assign_list(const Places& where, QualType type, const InitListExpr* list) {
  auto at = [&](const std::string& path) {
    return map_places(where, [&](const Place& p) {
      Place inner = p;
      inner.path += path;
      return inner;
    });
  };
  if (const ArrayType* array = type->getAsArrayTypeUnsafe()) {
    for (const Expr* value : list->inits()) assign(at("[]"), array->getElementType(), value);
    if (list->hasArrayFiller()) assign_null(at("[]"), array->getElementType());
    return;
  }
  const RecordDecl* record = type->getAsRecordDecl();
  if (!record || record->isUnion()) return;
  auto* with_bases = dyn_cast<CXXRecordDecl>(record);
  unsigned i = with_bases ? with_bases->getNumBases() : 0;
  for (const FieldDecl* field : record->fields()) {
    if (field->isUnnamedBitField()) continue;
    if (i >= list->getNumInits()) break;
    assign(at(field_path(field)), field->getType(), list->getInit(i++));
  }
}

void PointsTo::assign(const Places& where, QualType type, const Expr* value) {
  type = type.getCanonicalType();
  if (pointers_in(type).empty()) return;
  value = unwrap(value);
  if (type->isPointerType()) {
    Places target = pointee(value);
    for (const Place& place : where) put(place, target);
    return;
  }
  while (isa<CastExpr>(value) && value->isPRValue() &&
         cast<CastExpr>(value)->getSubExpr()->isPRValue())
    value = unwrap(cast<CastExpr>(value)->getSubExpr());
  if (auto* literal = dyn_cast<CompoundLiteralExpr>(value))
    return assign(where, type, literal->getInitializer());
  if (auto* list = dyn_cast<InitListExpr>(value)) {
    bool copies = list->getNumInits() == 1 && type->isRecordType() &&
                  context_.hasSameUnqualifiedType(list->getInit(0)->getType(), type);
    return copies ? assign(where, type, list->getInit(0)) : assign_list(where, type, list);
  }
  if (isa<ImplicitValueInitExpr, CXXScalarValueInitExpr>(value)) return assign_null(where, type);
  auto* construct = dyn_cast<CXXConstructExpr>(value);
  if (construct && construct->getConstructor()->isDefaultConstructor()) {
    if (construct->requiresZeroInitialization()) assign_null(where, type);
    return;
  }
  for (const auto& [path, pointer] : pointers_in(type))
    for (const Place& source : record_source(value)) {
      Place from = source;
      if (from.kind != Place::Unknown) from.path += path;
      for (Place to : where) {
        to.path += path;
        put(to, load(from));
      }
    }
}

void PointsTo::declare(const VarDecl* v) {
  if (!v->getInit() || !v->hasLocalStorage()) return;
  if (v->getType()->isReferenceType()) {
    put(Key{v, ""}, lvalue(v->getInit()));
  } else {
    assign({{Place::Local, v, {}, ""}}, v->getType(), v->getInit());
  }
}

void PointsTo::move(const Places& where) {
  for (const Place& place : where)
    put(place, map_places(load(place), [](const Place& p) { return element(p, std::nullopt); }));
}

void PointsTo::forget(const Place& where, const std::string& why) {
  if (where.kind == Place::Local && where.object)
    put(Key{where.object, "*"}, {Place::unknown(why)});
}

void PointsTo::add_return(const FunctionDecl* function, const Expr* value) {
  QualType type = function->getReturnType();
  Places places;
  if (type->isReferenceType()) {
    places = lvalue(value);
  } else if (is_object_pointer(type)) {
    places = pointee(value);
  }
  for (const Place& place : places)
    changed_ |=
        returns_[function]
            .insert(place.kind == Place::Local ? Place::unknown("the address of a local variable")
                                               : place)
            .second;
}

// What the outermost step of a place of the callee starts from.
Places PointsTo::argument_base(const Decl* parameter, const FunctionDecl* function,
                               const Expr* call) {
  auto* operation = dyn_cast<CXXOperatorCallExpr>(call);
  bool member_operator = operation && isa<CXXMethodDecl>(function);
  if (isa<CXXMethodDecl>(parameter)) {
    if (member_operator) return lvalue(operation->getArg(0));
    auto* member_call = dyn_cast<CXXMemberCallExpr>(call);
    if (!member_call) return {{Place::Local, nullptr, {}, ""}};  // an object under construction
    const Expr* object = member_call->getImplicitObjectArgument();
    return object->getType()->isPointerType() ? pointee(object) : lvalue(object);
  }
  unsigned index =
      cast<ParmVarDecl>(parameter)->getFunctionScopeIndex() + (member_operator ? 1 : 0);
  auto* construct = dyn_cast<CXXConstructExpr>(call);
  unsigned count = construct ? construct->getNumArgs() : cast<CallExpr>(call)->getNumArgs();
  if (index >= count) return {Place::unknown("a missing argument")};
  const Expr* argument = construct ? construct->getArg(index) : cast<CallExpr>(call)->getArg(index);
  QualType type = cast<ParmVarDecl>(parameter)->getType();
  if (type->isReferenceType()) return lvalue(argument);
  return type->isPointerType() ? pointee(argument) : record_source(argument);
}

Places PointsTo::seen_by_caller(const Place& inner, const FunctionDecl* function,
                                const Expr* call) {
  if (inner.kind != Place::Param) return {inner};
  Places places = argument_base(inner.object, function, call);
  auto step = [&](const std::string& path) {
    return map_places(places, [&](const Place& p) { return part(p, path); });
  };
  for (const std::string& path : inner.loads) places = load(step(path));
  return step(inner.path);
}

}  // namespace aotc::clang_plugin
