// Scalar values and the primitives on them: the table of scalar.def, and its evaluation with the
// very functions that generated code calls (runtime_support/include/aotc/scalar.h).
#pragma once
#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "ir/dtype.h"

namespace aotc {

enum class Prim : uint8_t {
#define X(name, ...) name,
#include "ir/scalar.def"
#undef X
};

enum class PrimResult : uint8_t { Same, Bool, Real, Complex, Target };
enum class PrimIdentity : uint8_t {
  None,
  Zero,
  One,
  Lowest,
  Highest,
  AllBits,
  LowestNan,
  HighestNan
};

// One row of scalar.def; the columns are explained there.
struct PrimInfo {
  enum Trait : unsigned {
    Commutative = 1,
    Associative = 2,
    Long = 4,
    Libm32 = 8,
    Libm64 = 16,
    LibmC = 32
  };
  const char* name;
  int arity;
  PrimResult result;
  const char* types;
  unsigned traits;
  PrimIdentity identity;
  const char* meaning;

  bool has(Trait t) const { return (traits & t) != 0; }
};

const PrimInfo& prim_info(Prim p);
std::span<const PrimInfo> all_prims();  // indexed by Prim
const char* prim_name(Prim p);
std::optional<Prim> prim_from_name(std::string_view name);

bool prim_yields_bool(Prim p);
bool prim_is_transcendental(Prim p);        // trait Long
bool prim_supports(Prim p, DType operand);  // is there a function for operands of this type
bool prim_calls_libm(Prim p, DType operand);
// The type of the result for operands of type t (of `where`: its second and third). InternalError
// for a type that the primitive has no function for, and for cast.
DType prim_result(Prim p, DType t);
// The C++ function for operands of type t, e.g. "exp_f32", "complex_exp", "maximum". `cast` takes
// the target type as a template argument; `where` takes the condition first.
std::string prim_function(Prim p, DType t);

// A value of any element type, exactly as an element in memory.
struct ScalarValue {
  DType dtype = DType::Float32;
  alignas(
      16) std::array<std::byte, 16> bytes{};  // the first element_size(dtype) count, the rest is 0

  static ScalarValue of(bool v);                // Bool
  static ScalarValue of(int64_t v);             // Int64
  static ScalarValue of(uint64_t v);            // UInt64
  static ScalarValue of(float v);               // Float32
  static ScalarValue of(double v);              // Float64
  static ScalarValue of(double re, double im);  // Complex128
  static ScalarValue of(int v) { return of(int64_t{v}); }

  // Bitwise: NaN equals the same NaN, 0.0 does not equal -0.0.
  friend bool operator==(const ScalarValue&, const ScalarValue&) = default;
};

// By the rules of cast: floats are truncated towards int64, complex values lose their imaginary
// part.
int64_t as_int64(const ScalarValue& v);
double as_double(const ScalarValue& v);
std::pair<double, double> as_complex(const ScalarValue& v);

// The value of the element at `memory` (of any alignment), and the inverse.
ScalarValue read_scalar(const void* memory, DType t);
void write_scalar(void* memory, const ScalarValue& v);

// As eager converts elements: see aotc::cast in aotc/scalar.h.
ScalarValue cast(const ScalarValue& v, DType to);
// The primitive in the operands' own type. Types that only store (float16, ...) are to be cast
// before, except for eq, ne and where. InternalError for a wrong number or type of operands, and
// for cast.
ScalarValue apply(Prim p, std::span<const ScalarValue> args);
// The same, checked to be of type `result`; here cast is allowed, and `result` its target.
ScalarValue apply(Prim p, std::span<const ScalarValue> args, DType result);
// The value that a reduction with p starts from. InternalError if p has none for that type.
ScalarValue reduction_identity(Prim p, DType t);

// Text that reads back to the same bits: "true", "-3", "0.1", "-0.0", "inf", "nan",
// "nan(0xffc00001)" where the bits are not those of the usual NaN, "1.0-2.0j". scalar_from_text
// gives nullopt for malformed text and for a number outside the type's range; floats may be any
// decimal number, and are rounded.
std::string to_text(const ScalarValue& v);
std::optional<ScalarValue> scalar_from_text(std::string_view text, DType t);

}  // namespace aotc
