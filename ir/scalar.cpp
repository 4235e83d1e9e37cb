// The table of primitives, and their evaluation on single values.
#include "ir/scalar.h"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>

#include "aotc/scalar.h"
#include "ir/error.h"

namespace aotc {
namespace {

constexpr PrimInfo make_info(const char* name, int arity, PrimResult result, const char* types,
                             unsigned traits, PrimIdentity identity, const char* meaning) {
  return {name, arity, result, types, traits, identity, meaning};
}

constexpr unsigned Commutative = PrimInfo::Commutative, Associative = PrimInfo::Associative,
                   Long = PrimInfo::Long, Libm32 = PrimInfo::Libm32, Libm64 = PrimInfo::Libm64,
                   LibmC = PrimInfo::LibmC;
constexpr PrimInfo kPrims[] = {
#define X(name, arity, result, types, traits, identity, meaning) \
  make_info(#name, arity, PrimResult::result, types, traits, PrimIdentity::identity, meaning),
#include "ir/scalar.def"
#undef X
};

// The C++ type of each element type.
#define AOTC_ELEMENT_TYPES(X)                                                        \
  X(Bool, bool)                                                                      \
  X(UInt8, uint8_t)                                                                  \
  X(Int8, int8_t)                                                                    \
  X(Int16, int16_t)                                                                  \
  X(Int32, int32_t)                                                                  \
  X(Int64, int64_t) X(UInt16, uint16_t) X(UInt32, uint32_t) X(UInt64, uint64_t)      \
      X(Float16, float16) X(BFloat16, bfloat16) X(Float32, float) X(Float64, double) \
          X(Complex32, complex32) X(Complex64, complex64) X(Complex128, complex128)  \
              X(Float8E4M3FN, float8_e4m3fn) X(Float8E5M2, float8_e5m2)              \
                  X(Float8E4M3FNUZ, float8_e4m3fnuz) X(Float8E5M2FNUZ, float8_e5m2fnuz)

template <typename T>
constexpr DType kDType = DType::Bool;
#define X(dtype, type) \
  template <>          \
  constexpr DType kDType<type> = DType::dtype;
AOTC_ELEMENT_TYPES(X)
#undef X

// Calls f.operator()<T>() for the C++ type T of t.
template <typename F>
decltype(auto) visit_type(DType t, F&& f) {
  switch (t) {
#define X(dtype, type) \
  case DType::dtype:   \
    return f.template operator()<type>();
    AOTC_ELEMENT_TYPES(X)
#undef X
  }
  internal_error("element type number {} is unknown", static_cast<int>(t));
}

// The letter of the column `types` in scalar.def.
template <typename T>
constexpr char type_class() {
  if (std::is_same_v<T, bool>) return 'b';
  if (std::is_integral_v<T>) return 'i';
  if (std::is_floating_point_v<T>) return 'f';
  return is_complex_type<T>() ? 'c' : 's';
}

template <typename T>
constexpr bool supports(Prim p) {
  return std::string_view(kPrims[static_cast<size_t>(p)].types).find(type_class<T>()) !=
         std::string_view::npos;
}

template <typename T>
T get(const ScalarValue& v) {
  AOTC_CHECK(v.dtype == kDType<T>, "a {} value is used as {}", name(v.dtype), name(kDType<T>));
  T value;
  std::memcpy(&value, v.bytes.data(), sizeof(T));
  return value;
}

template <typename T>
ScalarValue make(T value) {
  ScalarValue v;
  v.dtype = kDType<T>;
  std::memcpy(v.bytes.data(), &value, sizeof(T));
  return v;
}

// An operand of eq and ne: storage types compare by what they store.
template <typename T>
auto operand(const ScalarValue& v) {
  if constexpr (is_storage_type<T>())
    return get<T>(v).value();
  else
    return get<T>(v);
}

// Not inlined, so that no function holds the bodies of all primitives.
template <Prim P, typename T, typename Function>
[[gnu::noinline]] ScalarValue call(std::span<const ScalarValue> a, Function f) {
  constexpr int arity = kPrims[static_cast<size_t>(P)].arity;
  if constexpr (P == Prim::where)
    return make<T>(f(get<bool>(a[0]), get<T>(a[1]), get<T>(a[2])));
  else if constexpr (arity == 1)
    return make(f(operand<T>(a[0])));
  else if constexpr (arity == 2)
    return make(f(operand<T>(a[0]), operand<T>(a[1])));
  else
    return make(f(operand<T>(a[0]), operand<T>(a[1]), operand<T>(a[2])));
}

// Whoever uses it chooses the type of its result.
template <Prim P>
constexpr bool kTargeted = kPrims[static_cast<size_t>(P)].result == PrimResult::Target;

template <typename T>
ScalarValue apply_to(Prim p, std::span<const ScalarValue> args) {
  switch (p) {
#define X(function, ...)                                                                    \
  case Prim::function:                                                                      \
    if constexpr (!kTargeted<Prim::function> && supports<T>(Prim::function))                \
      return call<Prim::function, T>(args, [](auto... x) { return aotc::function(x...); }); \
    break;
#include "ir/scalar.def"
#undef X
  }
  internal_error("the primitive {} is not defined for {} operands", prim_name(p), name(kDType<T>));
}

template <typename T>
ScalarValue identity_of(PrimIdentity identity) {
  constexpr bool floating = std::is_floating_point_v<T>;
  switch (identity) {
    case PrimIdentity::None:
      break;
    case PrimIdentity::Zero:
      return make(aotc::cast<T>(false));
    case PrimIdentity::One:
      return make(aotc::cast<T>(true));
    case PrimIdentity::AllBits:
      if constexpr (std::is_integral_v<T>) return make(bitwise_not(T(0)));
      break;
    case PrimIdentity::LowestNan:
    case PrimIdentity::HighestNan:
      if constexpr (floating) return make(std::numeric_limits<T>::quiet_NaN());
      return identity_of<T>(identity == PrimIdentity::LowestNan ? PrimIdentity::Lowest
                                                                : PrimIdentity::Highest);
    case PrimIdentity::Lowest:
      if constexpr (floating) return make(-std::numeric_limits<T>::infinity());
      if constexpr (std::is_integral_v<T>) return make(std::numeric_limits<T>::min());
      break;
    case PrimIdentity::Highest:
      if constexpr (floating) return make(std::numeric_limits<T>::infinity());
      if constexpr (std::is_integral_v<T>) return make(std::numeric_limits<T>::max());
      break;
  }
  internal_error("there is no such identity of {}", name(kDType<T>));
}

}  // namespace

const PrimInfo& prim_info(Prim p) { return kPrims[static_cast<size_t>(p)]; }

std::span<const PrimInfo> all_prims() { return kPrims; }

const char* prim_name(Prim p) { return prim_info(p).name; }

std::optional<Prim> prim_from_name(std::string_view name) {
  const auto* found =
      std::ranges::find_if(kPrims, [&](const PrimInfo& p) { return name == p.name; });
  if (found == std::end(kPrims)) return std::nullopt;
  return static_cast<Prim>(found - kPrims);
}

bool prim_yields_bool(Prim p) { return prim_info(p).result == PrimResult::Bool; }

bool prim_is_transcendental(Prim p) { return prim_info(p).has(PrimInfo::Long); }

bool prim_supports(Prim p, DType operand) {
  return visit_type(operand, [&]<typename T>() { return supports<T>(p); });
}

bool prim_calls_libm(Prim p, DType operand) {
  const PrimInfo& info = prim_info(p);
  if (is_complex(operand)) return info.has(PrimInfo::LibmC);
  if (operand == DType::Float64) return info.has(PrimInfo::Libm64);
  return is_floating(operand) && info.has(PrimInfo::Libm32);
}

DType prim_result(Prim p, DType t) {
  const PrimInfo& info = prim_info(p);
  AOTC_CHECK(prim_supports(p, t), "the primitive {} is not defined for {} operands", info.name,
             name(t));
  switch (info.result) {
    case PrimResult::Same:
      return t;
    case PrimResult::Bool:
      return DType::Bool;
    case PrimResult::Real:
      return t == DType::Complex64 ? DType::Float32 : t == DType::Complex128 ? DType::Float64 : t;
    case PrimResult::Complex:
      return t == DType::Float32 ? DType::Complex64 : DType::Complex128;
    case PrimResult::Target:
      break;
  }
  internal_error("the type of {} is chosen where it is used", info.name);
}

std::string prim_function(Prim p, DType t) {
  const PrimInfo& info = prim_info(p);
  if (info.result == PrimResult::Target || p == Prim::where) return info.name;
  if (is_complex(t)) return std::string("complex_") + info.name;
  if (!info.has(PrimInfo::Long)) return info.name;
  return info.name + std::string(t == DType::Float32   ? "_f32"
                                 : t == DType::Float64 ? "_f64"
                                                       : "_int");
}

ScalarValue ScalarValue::of(bool v) { return make(v); }
ScalarValue ScalarValue::of(int64_t v) { return make(v); }
ScalarValue ScalarValue::of(uint64_t v) { return make(v); }
ScalarValue ScalarValue::of(float v) { return make(v); }
ScalarValue ScalarValue::of(double v) { return make(v); }
ScalarValue ScalarValue::of(double re, double im) { return make(complex128{re, im}); }

int64_t as_int64(const ScalarValue& v) { return get<int64_t>(cast(v, DType::Int64)); }

double as_double(const ScalarValue& v) { return get<double>(cast(v, DType::Float64)); }

std::pair<double, double> as_complex(const ScalarValue& v) {
  const complex128 z = get<complex128>(cast(v, DType::Complex128));
  return {z.re, z.im};
}

ScalarValue read_scalar(const void* memory, DType t) {
  ScalarValue v;
  v.dtype = t;
  std::memcpy(v.bytes.data(), memory, static_cast<size_t>(element_size(t)));
  if (t == DType::Bool) v.bytes[0] = static_cast<std::byte>(v.bytes[0] != std::byte{0});
  return v;
}

void write_scalar(void* memory, const ScalarValue& v) {
  std::memcpy(memory, v.bytes.data(), static_cast<size_t>(element_size(v.dtype)));
}

ScalarValue cast(const ScalarValue& v, DType to) {
  return visit_type(v.dtype, [&]<typename From>() {
    return visit_type(to, [&]<typename To>() { return make(aotc::cast<To>(get<From>(v))); });
  });
}

ScalarValue apply(Prim p, std::span<const ScalarValue> args) {
  const PrimInfo& info = prim_info(p);
  AOTC_CHECK(args.size() == static_cast<size_t>(info.arity),
             "the primitive {} takes {} operands, not {}", info.name, info.arity, args.size());
  return visit_type(args.back().dtype, [&]<typename T>() { return apply_to<T>(p, args); });
}

ScalarValue apply(Prim p, std::span<const ScalarValue> args, DType result) {
  if (p == Prim::cast) {
    AOTC_CHECK(args.size() == 1, "cast takes 1 operand, not {}", args.size());
    return cast(args[0], result);
  }
  if (p == Prim::bitcast) {
    AOTC_CHECK(args.size() == 1 && element_size(args[0].dtype) == element_size(result),
               "bitcast takes 1 operand of the size of {}", name(result));
    return read_scalar(args[0].bytes.data(), result);
  }
  ScalarValue v = apply(p, args);
  AOTC_CHECK(v.dtype == result, "{} of {} gives {}, not {}", prim_name(p), name(args.back().dtype),
             name(v.dtype), name(result));
  return v;
}

ScalarValue reduction_identity(Prim p, DType t) {
  const PrimInfo& info = prim_info(p);
  AOTC_CHECK(info.identity != PrimIdentity::None, "a reduction by {} has no identity", info.name);
  const DType compute = is_complex(t) ? t : compute_type(t);
  return cast(visit_type(compute, [&]<typename T>() { return identity_of<T>(info.identity); }), t);
}

}  // namespace aotc
