"""Records what torch computes for every scalar primitive: writes data/torch.bin beside this file.

Run with a Python that has torch (2.15 for the committed file): record.py. Tests never run it.
The file is a sequence of text lines, each followed by raw little-endian elements:
  set NAME DTYPE COUNT                   the elements of an input
  case PRIM DTYPE RESULT SET...          torch's result for these inputs, as many elements as the sets have
"""
import itertools
import math
import os
import random

import torch

torch.set_num_threads(1)
NAN, INF = math.nan, math.inf
FLOATS = [torch.float32, torch.float64]
INTEGERS = [torch.int8, torch.uint8, torch.int16, torch.int32, torch.int64, torch.uint16, torch.uint32, torch.uint64]
COMPLEX = [torch.complex64, torch.complex128]
STORED = [torch.float16, torch.bfloat16, torch.float8_e4m3fn, torch.float8_e5m2, torch.float8_e4m3fnuz,
          torch.float8_e5m2fnuz]

special = torch.special
FUNCTIONS = {name: getattr(torch, name) for name in """
    neg abs sign signbit floor ceil trunc round exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan
    asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv lgamma digamma sigmoid isnan isinf logical_not
    bitwise_not real imag add sub mul div floor_divide remainder fmod pow atan2 hypot copysign nextafter gcd maximum
    minimum fmax fmin eq ne lt le gt ge bitwise_and bitwise_or bitwise_xor complex where""".split()}
FUNCTIONS.update({
    "i0": special.i0, "i0e": special.i0e, "i1": special.i1, "i1e": special.i1e, "conj": torch.conj_physical,
    "shift_left": torch.bitwise_left_shift, "shift_right": torch.bitwise_right_shift,
    "trunc_divide": lambda a, b: torch.div(a, b, rounding_mode="trunc")})
UNARY = """neg abs sign signbit floor ceil trunc round exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos
    tan asin acos atan sinh cosh tanh asinh acosh atanh erf erfc erfinv lgamma digamma sigmoid i0 i0e i1 i1e isnan isinf
    logical_not bitwise_not real imag conj""".split()
BINARY = """add sub mul div pow atan2 hypot copysign nextafter gcd maximum minimum fmax fmin eq ne lt le gt ge bitwise_and
    bitwise_or bitwise_xor complex""".split()
DIVISION = ["floor_divide", "trunc_divide", "remainder", "fmod"]
SHIFT = ["shift_left", "shift_right"]
COMPLEX_ONLY = {"real", "imag", "conj"}
# Of integers and bool only what stays in the type: torch promotes the others to float.
PROMOTED = set("""exp exp2 expm1 log log2 log10 log1p sqrt rsqrt reciprocal sin cos tan asin acos atan sinh cosh tanh asinh
    acosh atanh erf erfc erfinv lgamma digamma sigmoid i0 i0e i1 i1e div atan2 hypot copysign""".split())


def name_of(dtype):
    return str(dtype).removeprefix("torch.")


def raw(tensor):
    tensor = torch.view_as_real(tensor) if tensor.is_complex() else tensor
    return tensor.contiguous().view(torch.uint8).numpy().tobytes()


class Recorder:
    def __init__(self, file):
        self.file, self.sets = file, {}

    def add_set(self, name, tensor):
        self.sets[name] = tensor
        self.file.write(f"set {name} {name_of(tensor.dtype)} {tensor.numel()}\n".encode() + raw(tensor))

    def add_case(self, prim, names, function):
        tensors = [self.sets[n] for n in names]
        count = tensors[0].numel()
        try:  # torch's vector code, not the scalar code of its loops' tails
            result = function(*[torch.cat([t] * 16) for t in tensors])[:count]
        except (RuntimeError, NotImplementedError, TypeError):
            return
        header = f"case {prim} {name_of(tensors[-1].dtype)} {name_of(result.dtype)} {' '.join(names)}\n"
        self.file.write(header.encode() + raw(result))


def float_values(dtype, rng):
    info = torch.finfo(dtype)
    edges = [0.0, info.tiny, info.tiny / 4, info.smallest_normal * info.eps, info.max, INF, 1.0, 0.5, 1.5, 2.5, 3.5, 2.0,
             0.49999997, 1 + info.eps, 1 - info.eps / 2, 1e-5, 3.0, 10.0, 8388609.5, 1e10, 1e30, math.pi, math.pi / 2, 88.7,
             89.0, 87.3, 103.9, 709.7, 745.1]
    values = [NAN] + edges + [-e for e in edges]
    values += [rng.uniform(-1, 1) for _ in range(25)] + [rng.uniform(-12, 12) for _ in range(35)]
    limit = 37 if dtype == torch.float32 else 300
    values += [rng.choice([-1, 1]) * 10 ** rng.uniform(-limit, limit) for _ in range(16)]
    return torch.tensor(values, dtype=torch.float64).to(dtype)


# Where conversions change: limits of integers, halfway cases of the small formats.
CAST_EDGES = [127.9, 128.0, 255.5, 256.0, 32768.0, 65519.0, 65520.0, 65536.0, 2147483520.0, 2147483648.0, 4294967296.0,
              5e9, 9.2e18, 9.3e18, 1.8e19, 1.9e19, 240.0, 247.9, 248.0, 448.0, 464.0, 464.5, 57344.0, 61439.0, 61440.0,
              2**-9, 2**-10, 1.5 * 2**-10, 2**-16, 2**-17, 1.5 * 2**-17, 2**-24, 2**-25, 1.1 * 2**-25, 1 + 2**-8,
              1 + 3 * 2**-8, 1 + 2**-11, 1 + 3 * 2**-11, 1.5, 0.9, 3.38e38, 3.4e38, 1e-45, 0.0, math.inf]


def float_pairs(dtype, rng):
    edges = [NAN, INF, -INF, 0.0, -0.0, 1.0, -1.0, 2.0, -2.5, 0.5, torch.finfo(dtype).tiny / 8, torch.finfo(dtype).max]
    pairs = list(itertools.product(edges, edges))
    pairs += [(rng.uniform(-9, 9), rng.uniform(-9, 9)) for _ in range(30)]
    pairs += [(float(rng.randint(-9, 9)), float(rng.randint(-4, 4))) for _ in range(20)]
    pairs += [(10 ** rng.uniform(-20, 20), rng.uniform(-3, 3)) for _ in range(20)]
    return [torch.tensor(column, dtype=torch.float64).to(dtype) for column in zip(*pairs)]


def integer_tensor(values, dtype):
    """torch has no conversion of Python's large integers to uint64: by bits."""
    size = torch.iinfo(dtype).bits // 8
    data = b"".join((v % (1 << 8 * size)).to_bytes(size, "little") for v in values)
    return torch.frombuffer(bytearray(data), dtype=dtype)


def integer_edges(dtype):
    info = torch.iinfo(dtype)
    low = [info.min, info.min + 1, -7, -1] if info.min < 0 else []
    return low + [0, 1, 2, 3, info.max]


def add_integers(r, dtype, rng):
    info, key = torch.iinfo(dtype), name_of(dtype)
    edges = integer_edges(dtype)
    pairs = list(itertools.product(edges, edges)) + [(rng.randint(info.min, info.max), rng.randint(-9 if info.min else 0, 9))
                                                     for _ in range(20)]
    shifts = list(itertools.product(edges, [s for s in (-1, 0, 1, 7, 8, 15, 31, 32, 63, 64) if s >= info.min]))
    # torch refuses to divide by zero, and least / -1 kills the process.
    divisible = [p for p in pairs if p[1] != 0 and p != (info.min, -1)]
    r.add_set(f"u_{key}", integer_tensor(edges + [rng.randint(info.min, info.max) for _ in range(8)], dtype))
    for suffix, chosen in (("", pairs), ("d", divisible), ("s", shifts)):
        for column, values in zip("ab", zip(*chosen)):
            r.add_set(f"{column}{suffix}_{key}", integer_tensor(values, dtype))
    for prim in sorted(set(UNARY) - PROMOTED - COMPLEX_ONLY):
        r.add_case(prim, [f"u_{key}"], FUNCTIONS[prim])
    for group, suffix in ((sorted(set(BINARY) - PROMOTED), ""), (DIVISION, "d"), (SHIFT, "s")):
        for prim in group:
            r.add_case(prim, [f"a{suffix}_{key}", f"b{suffix}_{key}"], FUNCTIONS[prim])


def add_bool(r):
    r.add_set("u_bool", torch.tensor([False, True]))
    r.add_set("a_bool", torch.tensor([False, False, True, True]))
    r.add_set("b_bool", torch.tensor([False, True, False, True]))
    for prim in ["signbit", "sign", "isnan", "isinf", "logical_not", "bitwise_not"]:
        r.add_case(prim, ["u_bool"], FUNCTIONS[prim])
    for prim in sorted(set(BINARY) - PROMOTED - {"pow", "gcd"}):
        r.add_case(prim, ["a_bool", "b_bool"], FUNCTIONS[prim])


def add_floats(r, dtype, rng):
    key = name_of(dtype)
    r.add_set(f"u_{key}", float_values(dtype, rng))
    a, b = float_pairs(dtype, rng)
    r.add_set(f"a_{key}", a)
    r.add_set(f"b_{key}", b)
    r.add_set(f"c_{key}", a > 0)
    casts = [NAN] + CAST_EDGES + [-e for e in CAST_EDGES] + [rng.uniform(-300, 300) for _ in range(20)]
    r.add_set(f"k_{key}", torch.tensor(casts, dtype=torch.float64).to(dtype))
    for prim in UNARY:
        if prim not in COMPLEX_ONLY:
            r.add_case(prim, [f"u_{key}"], FUNCTIONS[prim])
    for prim in BINARY + DIVISION:
        r.add_case(prim, [f"a_{key}", f"b_{key}"], FUNCTIONS[prim])
    r.add_case("where", [f"c_{key}", f"a_{key}", f"b_{key}"], torch.where)


def add_complex(r, dtype, rng):
    key = name_of(dtype)
    edges = [0.0, -0.0, 1.0, -2.0, INF, -INF, NAN]
    parts = list(itertools.product(edges, edges))
    parts += [(rng.uniform(-3, 3), rng.uniform(-3, 3)) for _ in range(22)]
    parts += [(rng.uniform(-1, 1) * 10 ** rng.uniform(-9, 9), rng.uniform(-1, 1) * 10 ** rng.uniform(-9, 9)) for _ in range(8)]
    z = torch.complex(*[torch.tensor(c, dtype=torch.float64) for c in zip(*parts)]).to(dtype)
    r.add_set(f"u_{key}", z)
    # Finite ones only: torch multiplies the second operand of add by alpha = 1 + 0j, which spoils infinities.
    finite = z[torch.isfinite(torch.view_as_real(z)).all(1)]
    r.add_set(f"a_{key}", torch.cat([finite[-30:], finite[:12]]))
    r.add_set(f"b_{key}", torch.cat([finite[-36:-6], finite[3:15]]))
    for prim in UNARY:
        r.add_case(prim, [f"u_{key}"], FUNCTIONS[prim])
    for prim in ["add", "sub", "mul", "div", "pow", "eq", "ne"]:
        r.add_case(prim, [f"a_{key}", f"b_{key}"], FUNCTIONS[prim])


def add_stored(r, dtype, rng):
    size = torch.finfo(dtype).bits // 8
    if size == 1:
        codes = list(range(256))
    else:
        codes = [0, 0x8000, 1, 0x8001, 0x3ff, 0x400, 0x7bff, 0x7c00, 0xfc00, 0x7e00, 0x7f7f, 0x7f80, 0xff80, 0x7fc0]
        codes += [rng.randrange(65536) for _ in range(60)]
    data = b"".join(c.to_bytes(size, "little") for c in codes)
    r.add_set(f"u_{name_of(dtype)}", torch.frombuffer(bytearray(data), dtype=dtype))


def add_casts(r):
    targets = [torch.bool] + INTEGERS + FLOATS + COMPLEX + STORED
    for source in targets:
        for target in targets:
            if source != target:
                letter = "k" if source in FLOATS else "u"
                r.add_case("cast", [f"{letter}_{name_of(source)}"], lambda x, target=target: x.to(target))


def main():
    path = os.path.join(os.path.dirname(os.path.abspath(__file__)), "data", "torch.bin")
    rng = random.Random(7)
    with open(path, "wb") as file:
        r = Recorder(file)
        add_bool(r)
        for dtype in INTEGERS:
            add_integers(r, dtype, rng)
        for dtype in FLOATS:
            add_floats(r, dtype, rng)
        for dtype in COMPLEX:
            add_complex(r, dtype, rng)
        for dtype in STORED:
            add_stored(r, dtype, rng)
        add_casts(r)
    print(f"{path}: {os.path.getsize(path)} bytes, torch {torch.__version__}")


if __name__ == "__main__":
    main()
