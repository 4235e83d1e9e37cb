"""Fits the polynomials of runtime_support/include/aotc/scalar/*.h and prints them as C++ lines.

Each fit is a row of FITS: a function, an interval and a degree. A weighted Remez exchange (in 40 digits)
finds the minimax polynomial; then the coefficients are rounded to the target format one after the other,
lowest order first, and the rest is fitted again around the rounded ones, so that rounding costs nothing.

  fit_math.py                 print every fit
  fit_math.py NAME...         print these fits
  fit_math.py --check FILE... exit 1 unless the values of every fit stand in the files

Needs mpmath and a few minutes. The error printed with a fit is that of the polynomial alone, relative to the function that
the header computes with it; what the finished C++ functions reach, with rounding, is measured by
tests/scalar/sweep.cpp and written in tests/scalar/README.md.
"""
import struct
import sys

from mpmath import mp, mpf

mp.dps = 40
POINTS_PER_COEFFICIENT = 40


def round_to(value, kind):
    """The float ('f32') or double ('f64') nearest to value, as an exact mpf."""
    if kind == "f64":
        return mpf(float(value))
    return mpf(struct.unpack("f", struct.pack("f", float(value)))[0])


def literal(value, kind):
    """The shortest C++ literal that reads back as value."""
    for digits in range(1, 18):
        text = f"{float(value):.{digits}g}"
        if round_to(mpf(text), kind) == value:
            break
    if not any(c in text for c in ".e"):
        text += ".0"
    return text + ("f" if kind == "f32" else "")


class Fit:
    """target(x) ~ sum c[k] * x^k over [low, high]; the error is multiplied by weight(x).

    fixed: {k: value} coefficients that are given (value is rounded to the format first). `low` may be
    slightly widened by the caller where range reduction can overshoot.
    """

    def __init__(self, kind, target, low, high, degree, weight=lambda x: mpf(1), fixed=None, note=""):
        self.kind, self.target, self.low, self.high = kind, target, mpf(low), mpf(high)
        self.degree, self.weight, self.note = degree, weight, note
        self.fixed = {k: round_to(v, kind) for k, v in (fixed or {}).items()}

    def grid(self):
        """Chebyshev-spaced points: minimax errors oscillate evenly over them."""
        count = POINTS_PER_COEFFICIENT * (self.degree + 2)
        middle, half = (self.low + self.high) / 2, (self.high - self.low) / 2
        points = [middle - half * mp.cos(mp.pi * i / count) for i in range(count + 1)]
        # A target such as (f(x) - 1) / x is undefined at 0 alone: step aside.
        return [x if abs(x) > mpf(10) ** -30 else half * mpf(10) ** -12 for x in points]

    def solve(self):
        """(coefficients rounded to the format, greatest weighted error)."""
        samples = [(x, self.target(x), self.weight(x)) for x in self.grid()]
        rest, known = samples, []
        for k in range(self.degree + 1):
            if k in self.fixed:
                value = self.fixed[k]
            else:
                value = round_to(exchange(rest, self.degree - k)[0], self.kind)
            known.append(value)
            # What remains is (target - known) / x^(k+1), a plain polynomial again.
            rest = [(x, (y - value) / x, w * abs(x)) for x, y, w in rest]
        worst = max(abs(w * (evaluate(known, x) - y)) for x, y, w in samples)
        return known, worst


def evaluate(coefficients, x):
    total = mpf(0)
    for c in reversed(coefficients):
        total = total * x + c
    return total


def exchange(samples, degree):
    """Remez: the polynomial of that degree with the least greatest weighted error over the samples."""
    heaviest = max(w for _, _, w in samples)
    samples = [sample for sample in samples if sample[2] > heaviest * mpf(10) ** -15]
    size = degree + 2
    reference = [round(i * (len(samples) - 1) / (size - 1)) for i in range(size)]
    best = None
    for _ in range(100):
        solution, level = solve_reference(samples, degree, reference)
        errors = [w * (evaluate(solution, x) - y) for x, y, w in samples]
        greatest = max(abs(e) for e in errors)
        if best is None or greatest < best[0]:
            best = (greatest, solution)
        following = alternating_peaks(errors, reference, level)
        if greatest <= abs(level) * mpf("1.0001") or following == reference:
            break
        reference = following
    return best[1]


def solve_reference(samples, degree, reference):
    """The polynomial whose error at the reference points is +level, -level, +level, ..."""
    size = degree + 2
    matrix, right = mp.matrix(size, size), mp.matrix(size, 1)
    for row, index in enumerate(reference):
        x, y, w = samples[index]
        for column in range(size - 1):
            matrix[row, column] = w * x**column
        matrix[row, size - 1] = -1 if row % 2 else 1
        right[row] = w * y
    answer = mp.lu_solve(matrix, right)
    return [answer[i] for i in range(size - 1)], answer[size - 1]


def alternating_peaks(errors, reference, level):
    """The next reference: the greatest error of each run of one sign, as many neighbours as before."""
    peaks = []
    for i, e in enumerate(errors):
        if peaks and (errors[peaks[-1]] > 0) == (e > 0):
            if abs(e) > abs(errors[peaks[-1]]):
                peaks[-1] = i
        else:
            peaks.append(i)
    while len(peaks) > len(reference):
        peaks.pop(0 if abs(errors[peaks[0]]) < abs(errors[peaks[-1]]) else -1)
    # A run that is lower than the present level (beside a zero of the weight, say) would lead astray.
    if len(peaks) == len(reference) and min(abs(errors[i]) for i in peaks) >= abs(level):
        return peaks
    return with_greatest(errors, reference)


def with_greatest(errors, reference):
    """The reference with the point of greatest error in place of a neighbour of the same sign."""
    top = max(range(len(errors)), key=lambda i: abs(errors[i]))
    if top in reference:
        return reference
    same = lambda i: (errors[i] > 0) == (errors[top] > 0)
    after = sum(1 for i in reference if i < top)
    if 0 < after < len(reference):
        replaced = after if same(reference[after]) else after - 1
        return reference[:replaced] + [top] + reference[replaced + 1 :]
    if after == 0:
        return [top] + (reference[1:] if same(reference[0]) else reference[:-1])
    return (reference[:-1] if same(reference[-1]) else reference[1:]) + [top]


def odd_ratio(function):
    """(function(x) / x - 1) / x^2 as a function of s = x^2, for x + x s P(s)."""

    def target(s):
        x = mp.sqrt(s)
        return (function(x) / x - 1) / s

    return target


def odd_weight(function):
    """Makes the error of P above relative to function(x)."""
    return lambda s: s * mp.sqrt(s) / function(mp.sqrt(s))


def relative(function):
    return lambda x: 1 / abs(function(x))


LN2 = mp.log(2)
HALF_LN2 = LN2 / 2 * mpf("1.001")
QUARTER_PI = mp.pi / 4 * mpf("1.0001")
LOG2_E, LOG10_E = 1 / LN2, 1 / mp.log(10)
# log2 reduces its argument m to s = (m - 1) / (m + 1) with m in [sqrt(1/2), sqrt(2)].
MAX_S = (mp.sqrt(2) - 1) / (mp.sqrt(2) + 1) * mpf("1.0001")


def log_ratio(z):
    """log(m) / s as a function of z = s^2."""
    s = mp.sqrt(z)
    return 2 * mp.atanh(s) / s


def scaled_log1p(scale, high):
    """log1p(f) * scale / f - high, so that f * high can be added last."""
    return lambda f: mp.log1p(f) / f * scale - high


def erf_ratio(s):
    x = mp.sqrt(s)
    return mp.erf(x) / x - 1


def erfc_root(t):
    return mp.erfc(t) ** mpf("0.25")


def erfcx_fit(kind, low, high, middle, degree):
    """exp(a^2) erfc(a) (1 + 2 a) as a function of q = (a - middle) / (a + middle), for a in [low, high]."""

    def target(q):
        a = middle * (1 + q) / (1 - q)
        return mp.exp(a * a) * mp.erfc(a) * (1 + 2 * a)

    q_of = lambda a: (mpf(a) - middle) / (mpf(a) + middle)
    return Fit(kind, target, q_of(low), q_of(high), degree, relative(target))


def exp_fit(kind, degree):
    """(e^r - 1) / r, so that e^r = 1 + r P(r)."""
    return Fit(kind, lambda r: mp.expm1(r) / r, -HALF_LN2, HALF_LN2, degree, lambda r: abs(r) / mp.exp(r), {0: 1})


def exp2_fit(kind, degree):
    power = lambda x: mpf(2) ** x
    return Fit(kind, power, -0.5, 0.5, degree, relative(power), {0: 1})


def expm1_fit(kind, degree):
    return Fit(kind, lambda r: (mp.expm1(r) - r) / r**2, -HALF_LN2, HALF_LN2, degree,
               lambda r: abs(r**2 / mp.expm1(r)), {0: mpf("0.5")})


def odd_fit(kind, function, high, degree):
    return Fit(kind, odd_ratio(function), 0, mpf(high) ** 2, degree, odd_weight(function))


def cos_fit(kind, degree):
    return Fit(kind, lambda s: (mp.cos(mp.sqrt(s)) - 1 + s / 2) / s**2, 0, QUARTER_PI**2, degree,
               lambda s: s**2 / mp.cos(mp.sqrt(s)))


def log_fit(kind, scale, degree):
    high = round_to(scale, kind)
    return Fit(kind, scaled_log1p(scale, high), mpf(-1) / 3, mpf(1) / 3, degree,
               lambda f: f / mp.log1p(f) / scale)


# name: the fit. The header says in the same place how the polynomial is used.
FITS = {
    "exp_f32": exp_fit("f32", 5),
    "exp2_f32": exp2_fit("f32", 6),
    "expm1_f32": expm1_fit("f32", 5),
    "log1p_f32": Fit("f32", lambda f: (mp.log1p(f) - f) / f**2, mpf(-1) / 3, mpf(1) / 3, 8,
                     lambda f: f**2 / abs(mp.log1p(f)), {0: mpf("-0.5")}),
    "log2_f32": log_fit("f32", LOG2_E, 9),
    "log10_f32": log_fit("f32", LOG10_E, 9),
    "tanh_f32": odd_fit("f32", mp.tanh, "0.6", 4),
    "sinh_f32": odd_fit("f32", mp.sinh, 1, 3),
    "sin_f32": odd_fit("f32", mp.sin, QUARTER_PI, 2),
    "cos_f32": cos_fit("f32", 2),
    "asin_f32": odd_fit("f32", mp.asin, 0.5, 4),
    "atan_f32": odd_fit("f32", mp.atan, 1, 8),
    "pow_log2_f32": Fit("f64", lambda z: log_ratio(z) * LOG2_E, 0, MAX_S**2, 4,
                        lambda z: 1 / (log_ratio(z) * LOG2_E)),
    "pow_exp2_f32": exp2_fit("f64", 6),
    "erf_small_f32": Fit("f32", erf_ratio, 0, mpf("1.25") ** 2, 7, lambda s: 1 / (erf_ratio(s) + 1)),
    "erfc_root_f32": Fit("f32", erfc_root, 1.25, 3.95, 7,
                         lambda t: 4 * erfc_root(t) ** 3 / mp.erf(t)),
    "erfcx_f32": erfcx_fit("f32", 0, "10.1", 2, 9),
    "exp_f64": exp_fit("f64", 10),
    "exp2_f64": exp2_fit("f64", 11),
    "expm1_f64": expm1_fit("f64", 10),
    "log_f64": Fit("f64", lambda z: (log_ratio(z) - 2) / z, 0, MAX_S**2, 6, lambda z: z / log_ratio(z)),
    "log2_tail_f64": Fit("f64", lambda z: ((log_ratio(z) - 2) / z - mpf(2) / 3) / z * LOG2_E, 0, MAX_S**2, 6,
                         lambda z: z**2 / log_ratio(z) / LOG2_E),
    "tanh_f64": odd_fit("f64", mp.tanh, "0.6", 11),
    "sin_f64": odd_fit("f64", mp.sin, QUARTER_PI, 5),
    "cos_f64": cos_fit("f64", 5),
    "erf_small_f64": Fit("f64", erf_ratio, 0, mpf("0.75") ** 2, 10, lambda s: 1 / (erf_ratio(s) + 1)),
    "erfcx_f64": erfcx_fit("f64", "0.75", "27.3", 4, 20),
}


def split(value, bits):
    """value as a sum of numbers with that many significant bits each (the last one: 53)."""
    parts = []
    for width in bits:
        exponent = mp.floor(mp.log(abs(value), 2)) if value else 0
        unit = mpf(2) ** (exponent - width + 1)
        parts.append(mp.nint(value / unit) * unit)
        value -= parts[-1]
    return parts


def quadrants_of(exponent):
    """2^exponent radians in quadrants, modulo 4, in [-2, 2]."""
    with mp.workdps(150):
        value = mpf(2) ** exponent * 2 / mp.pi
        return value - 4 * mp.nint(value / 4)


# name: (format, values): constants that are sums of several numbers, first the greatest.
SPLITS = {
    "ln2_f32": ("f32", split(LN2, [24, 24])),
    "log2e_f32": ("f32", split(LOG2_E, [24])),
    "log10e_f32": ("f32", split(LOG10_E, [24])),
    "log10_2_f32": ("f32", split(mp.log10(2), [24, 24])),
    "pi_f32": ("f32", split(mp.pi, [24, 24])),
    "half_pi_f32": ("f32", split(mp.pi / 2, [24, 24])),
    "quadrants_0": ("f64", split(quadrants_of(0), [53, 53])),
    "quadrants_24": ("f64", split(quadrants_of(24), [53, 53])),
    "quadrants_47": ("f64", split(quadrants_of(47), [53, 53])),
    "quadrants_70": ("f64", split(quadrants_of(70), [53, 53])),
    "quadrants_93": ("f64", split(quadrants_of(93), [53, 53])),
    "ln2_f64": ("f64", split(LN2, [53, 53])),
    "log2e_f64": ("f64", split(LOG2_E, [53])),
    "two_thirds_log2e_f64": ("f64", split(LOG2_E * 2 / 3, [53, 53])),
    "two_log2e_f64": ("f64", split(LOG2_E * 2, [53, 53])),
    "log10_2_f64": ("f64", split(mp.log10(2), [53, 53])),
    "half_pi_f64": ("f64", split(mp.pi / 2, [53, 53, 53])),
}


def two_over_pi_words(count):
    """The bits of 2/pi in words of 32, after a word of the (zero) bits before the binary point."""
    with mp.workdps(500):
        bits = int(mp.floor(2 / mp.pi * mpf(2) ** (32 * (count - 1))))
    return [bits >> 32 * (count - 1 - i) & 0xFFFFFFFF for i in range(count)]


def printed(names):
    """(name, note, literals) of each fit and sum that is named, or of all."""
    for name, fit in FITS.items():
        if not names or name in names:
            coefficients, worst = fit.solve()
            note = f"degree {fit.degree} on [{mp.nstr(fit.low, 5)}, {mp.nstr(fit.high, 5)}], error 2^{mp.nstr(mp.log(worst, 2), 3)}"
            yield name, note, [literal(c, fit.kind) for c in coefficients]
    for name, (kind, values) in SPLITS.items():
        if not names or name in names:
            yield name, "sum", [literal(v, kind) for v in values]
    if not names or "two_over_pi_words" in names:
        yield "two_over_pi_words", "bits", [f"0x{w:08x}" for w in two_over_pi_words(38)]


def stands_in(literals, name, plain):
    """Coefficients stand in one row (but for the first, which may be apart); parts of sums stand anywhere."""
    if name in FITS:
        return ",".join(literals[1:]) in plain and literals[0] in plain
    return all(text.lstrip("-") in plain for text in literals)


def main(arguments):
    if arguments[:1] != ["--check"]:
        for name, note, literals in printed(arguments):
            print(f"// {name}: {note}\n{', '.join(literals)}", flush=True)
        return 0
    plain = "".join("".join(open(path).read() for path in arguments[1:]).split())
    missing = [name for name, _, literals in printed([]) if not stands_in(literals, name, plain)]
    for name in missing:
        print(f"{name}: its values are not in these files; print them with: fit_math.py {name}")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
