// Scalar primitives: one definition of each for the interpreter, generated C++ and generated CUDA.
// Results are torch's on x86-64; ir/scalar.def lists the primitives. C++17, no system header, no
// libm but where the table says so; NaN, infinities, signed zeros, denormals and integer limits are
// defined for all of them.
//
// The parts (scalar/*.h) are also a source library: a generator copies the pieces that it needs
// into files that include nothing. A part is a sequence of chunks with one blank line between them
// and none inside. A chunk that starts with `#pragma`, `namespace` or `}` is the file's; every
// other one is optional // lines and one declaration or a group that belongs together. A chunk uses
// only its own and earlier chunks' names, and the macros of core.h, which are a chunk too.
// Functions that are long are named after their type, as exp_f32 and exp_f64; short ones serve all
// number types under one name; those of complex numbers are complex_exp and so on. prim_function in
// ir/scalar.h gives the name for a type. scalar_overloads.h, which is not part of the library, adds
// torch's names.
//
// Functions of float have no branches, so that loops around them are vectorised, and the same bits
// at any vector width; those of special.h, erfinv, fmod and what uses it are the exceptions.
// Compile with -ffp-contract=off: where a product and a sum are to be fused, fma says so.
#pragma once

// clang-format off: a part uses the parts before it
#include "scalar/core.h"
#include "scalar/arithmetic.h"
#include "scalar/exp_log_f32.h"
#include "scalar/trig_f32.h"
#include "scalar/exp_log_f64.h"
#include "scalar/trig_f64.h"
#include "scalar/error_function.h"
#include "scalar/special.h"
#include "scalar/complex.h"
#include "scalar/complex_math.h"
#include "scalar/storage.h"
#include "scalar/cast.h"
#include "scalar/best.h"
// clang-format on

#include "scalar_overloads.h"
