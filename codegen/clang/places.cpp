// Arithmetic on places, and questions about types.
#include "codegen/clang/places.h"

using namespace clang;

namespace aotc::clang_plugin {
namespace {

// "[3]" of "[3].x" -> {3, ".x"}; nullopt index for "[]".
std::pair<std::optional<int64_t>, std::string> split_index(const std::string& path) {
  size_t end = path.find(']');
  std::string digits = path.substr(1, end - 1);
  std::optional<int64_t> index;
  if (!digits.empty()) index = std::stoll(digits);
  return {index, path.substr(end + 1)};
}

const FieldDecl* find_field(const RecordDecl* record, llvm::StringRef name) {
  for (const FieldDecl* field : record->fields()) {
    if (field->getName() == name && !name.empty()) return field;
    const RecordDecl* inner =
        field->isAnonymousStructOrUnion() ? field->getType()->getAsRecordDecl() : nullptr;
    if (const FieldDecl* found = inner ? find_field(inner, name) : nullptr) return found;
  }
  return nullptr;
}

void collect_pointers(QualType type, const std::string& path,
                      std::vector<std::pair<std::string, QualType>>& out) {
  type = type.getCanonicalType();
  if (is_object_pointer(type)) {
    out.emplace_back(path, type);
  } else if (const ArrayType* array = type->getAsArrayTypeUnsafe()) {
    collect_pointers(array->getElementType(), path + "[]", out);
  } else if (const RecordDecl* record = type->getAsRecordDecl()) {
    for (const FieldDecl* field : record->fields())
      collect_pointers(field->getType(), path + field_path(field), out);
  }
}

std::string without_index(const std::string& name) { return name.substr(0, name.rfind('[')); }

// A path without the element that it starts in: "[3].x" -> ".x".
std::string without_first_index(const std::string& path) {
  return path.empty() || path[0] != '[' ? path : path.substr(path.find(']') + 1);
}

}  // namespace

bool is_object_pointer(QualType type) {
  return type->isPointerType() && !type->isFunctionPointerType();
}

std::string field_path(const FieldDecl* field) {
  return field->getName().empty() ? "" : "." + field->getNameAsString();
}

std::string last_member(const std::string& name) { return name.substr(name.rfind('.') + 1); }

std::string pointer_name(const Expr* e) {
  e = e->IgnoreParenCasts();
  if (auto* member = dyn_cast<MemberExpr>(e)) return member->getMemberDecl()->getNameAsString();
  auto* reference = dyn_cast<DeclRefExpr>(e);
  return reference && isa<VarDecl>(reference->getDecl()) ? reference->getDecl()->getNameAsString()
                                                         : "";
}

Place element(Place place, std::optional<int64_t> step) {
  if ((place.kind != Place::Local && place.kind != Place::Param) ||
      !llvm::StringRef(place.path).ends_with("]"))
    return place;
  size_t begin = place.path.rfind('[');
  std::optional<int64_t> index = split_index(place.path.substr(begin)).first;
  place.path.resize(begin);
  int64_t sum = 0;
  bool known =
      index && step && place.kind == Place::Param && !__builtin_add_overflow(*index, *step, &sum);
  place.path += known ? "[" + std::to_string(sum) + "]" : "[]";
  return place;
}

Place part(Place place, const std::string& path) {
  if (place.kind != Place::Local && place.kind != Place::Param && place.kind != Place::Global)
    return place;
  if (path.empty() || path[0] != '[') {
    place.path += path;
    return place;
  }
  auto [index, rest] = split_index(path);
  place = element(std::move(place), index);
  place.path += rest;
  return place;
}

std::vector<std::pair<std::string, QualType>> pointers_in(QualType type) {
  std::vector<std::pair<std::string, QualType>> out;
  collect_pointers(type, "", out);
  return out;
}

bool holds_writable_pointer(QualType type) {
  type = type.getCanonicalType();
  if (is_object_pointer(type) || type->isReferenceType())
    return !type->getPointeeType().isConstQualified();
  if (const ArrayType* array = type->getAsArrayTypeUnsafe())
    return holds_writable_pointer(array->getElementType());
  const RecordDecl* record = type->getAsRecordDecl();
  if (!record) return false;
  return llvm::any_of(record->fields(),
                      [](const FieldDecl* f) { return holds_writable_pointer(f->getType()); });
}

QualType type_at(QualType type, const std::string& path) {
  llvm::StringRef rest = path;
  while (!rest.empty() && !type.isNull()) {
    type = type.getCanonicalType();
    if (rest.consume_front("[")) {
      rest = rest.substr(rest.find(']') + 1);
      const VectorType* vector = type->getAs<VectorType>();
      const ArrayType* array = type->getAsArrayTypeUnsafe();
      type = vector ? vector->getElementType() : array ? array->getElementType() : QualType();
      continue;
    }
    rest = rest.drop_front();
    llvm::StringRef name = rest.take_until([](char c) { return c == '.' || c == '['; });
    rest = rest.drop_front(name.size());
    const RecordDecl* record = type->getAsRecordDecl();
    const FieldDecl* field = record ? find_field(record, name) : nullptr;
    type = field ? field->getType() : QualType();
  }
  return type;
}

std::vector<std::string> table_names(const Place& place) {
  auto* named = dyn_cast<ParmVarDecl>(place.object);
  std::string name = named ? named->getNameAsString() : "this";
  for (const std::string& step : place.loads) {
    std::string rest = without_first_index(step);
    name += rest.empty() ? step : rest;
  }
  std::vector<std::string> names = {last_member(name), name};
  if (llvm::StringRef(name).ends_with("]")) {
    names.push_back(last_member(without_index(name)));
    names.push_back(without_index(name));
  }
  std::string inside = place.path;
  while (!inside.empty() && inside[0] == '[') inside = without_first_index(inside);
  if (inside.empty()) return names;
  std::string member = inside.substr(0, inside.find_first_of(".[", 1));
  std::vector<std::string> with_member;
  for (const std::string& each : names) with_member.push_back(each + member);
  names.insert(names.begin(), with_member.begin(), with_member.end());
  return names;
}

bool removes_const(QualType from, QualType to) {
  if (to->isFunctionType()) return false;
  if (from.isConstQualified() && !to.isConstQualified()) return true;
  bool pointers = from->isPointerType() && to->isPointerType();
  return pointers && removes_const(from->getPointeeType(), to->getPointeeType());
}

bool reinterprets_pointers(const ASTContext& context, QualType from, QualType to) {
  if (context.hasSameUnqualifiedType(from, to) || from->isVoidType() || from->isCharType() ||
      to->isVoidType())
    return false;
  return holds_writable_pointer(to) || (holds_writable_pointer(from) && !to.isConstQualified());
}

}  // namespace aotc::clang_plugin
