// Elementary functions for kernels: exp_, log_, tanh_, sin_, erf_, pow_ and their family, for float and double. Each is one
// expression of arithmetic and selects, without a branch or a call, so a plain loop over it becomes SIMD code at every CPU level
// (gcc -O3 -fno-math-errno -fno-trapping-math), alone or inside a fused expression. 16-bit floats: convert to float first.
//
// Conventions
//  - Signed zeros, infinities, nan, subnormal arguments and results follow C's functions of the same name. erfinv_ has no
//    C original: erfinv_(+-1) = +-inf, nan outside [-1, 1].
//  - Errors are in units in the last place, the largest found over millions of arguments. v3 and v4 give the same bits;
//    v2, without FMA, may differ in the last.
//  - The trigonometric functions are right up to |x| <= trig_bound<T>() (1e6 without FMA; with it 1e12 in double, 1e15 in float).
//    Beyond it they mean nothing and may be huge (inf and nan do give nan). A kernel asks before its loop, block by block of the argument,
//    `any_trig_too_large(x, n)`, and takes std::sin for such a block: one cheap pass, and huge arguments are too rare to matter.
//  - Coefficients are minimax fits (Remez, 50 digits) made for this file; the comments give the interval.
//
// Everything is in an unnamed namespace of the level's namespace, see isa.h. Special functions that need loops are in vecmath_special.h.
#pragma once

#include <cstdint>
#include <limits>

#include "cpu/isa.h"

#define RG_INLINE [[gnu::always_inline, maybe_unused]] inline

#if defined(__FMA__) || defined(__aarch64__)
#define RG_HAS_FMA 1
#else
#define RG_HAS_FMA 0
#endif

namespace retrograd::cpu::RG_LEVEL_NS {
namespace {

// ---- helpers, of use to kernels too

RG_INLINE float abs_(float x) { return __builtin_fabsf(x); }
RG_INLINE double abs_(double x) { return __builtin_fabs(x); }
RG_INLINE float copysign_(float x, float s) { return __builtin_copysignf(x, s); }
RG_INLINE double copysign_(double x, double s) { return __builtin_copysign(x, s); }
RG_INLINE float sqrt_(float x) { return __builtin_sqrtf(x); }
RG_INLINE double sqrt_(double x) { return __builtin_sqrt(x); }
template <class T> RG_INLINE T rsqrt_(T x) { return 1 / sqrt_(x); }
template <class T> RG_INLINE T min_(T a, T b) { return a < b ? a : b; }  // b if either is nan
template <class T> RG_INLINE T max_(T a, T b) { return a > b ? a : b; }

// a * b + c, with one rounding where that is one instruction.
RG_INLINE float fma_(float a, float b, float c) { return RG_HAS_FMA ? __builtin_fmaf(a, b, c) : a * b + c; }
RG_INLINE double fma_(double a, double b, double c) { return RG_HAS_FMA ? __builtin_fma(a, b, c) : a * b + c; }

// c0 + c1 x + c2 x^2 + ...
template <class T> RG_INLINE T poly_(T, T c0) { return c0; }
template <class T, class... C> RG_INLINE T poly_(T x, T c0, C... rest) { return fma_(poly_(x, static_cast<T>(rest)...), x, c0); }

template <class T> constexpr T kInf = std::numeric_limits<T>::infinity();
template <class T> constexpr T kNaN = std::numeric_limits<T>::quiet_NaN();

// Building blocks of this file.
namespace vm {

// 64-bit integers: no arithmetic shift, no conversion to double and no product, which AVX2 lacks; see the detours below.
RG_INLINE int32_t bits(float x) { return __builtin_bit_cast(int32_t, x); }
RG_INLINE uint64_t bits(double x) { return __builtin_bit_cast(uint64_t, x); }
RG_INLINE float from_bits(int32_t b) { return __builtin_bit_cast(float, b); }
RG_INLINE double from_bits(uint64_t b) { return __builtin_bit_cast(double, b); }

// Adding this number rounds to an integer and leaves it in the low bits of the sum.
template <class T> constexpr T kRound = sizeof(T) == 4 ? T(12582912.0) : T(6755399441055744.0);  // 1.5 * 2^23, 1.5 * 2^52

template <class T> using Int = decltype(bits(T{}));

// p * 2^n in two steps, so that n may lie outside the exponents of T and a subnormal result is rounded once.
RG_INLINE float scale(float p, int32_t n) {
  const int32_t half = n >> 1;
  return p * from_bits((half + 127) << 23) * from_bits((n - half + 127) << 23);
}
RG_INLINE double scale(double p, uint64_t n) {
  const uint64_t half = ((n + 4096) >> 1) - 2048;
  return p * from_bits((half + 1023) << 52) * from_bits((n - half + 1023) << 52);
}

// The same for n <= 0, with fewer steps.
RG_INLINE float scale_down(float p, int32_t n) { return p * from_bits((n + 64 + 127) << 23) * 0x1p-64f; }
RG_INLINE double scale_down(double p, uint64_t n) { return p * from_bits((n + 512 + 1023) << 52) * 0x1p-512; }

// The product a * b as an unevaluated sum hi + lo.
template <class T> struct Pair { T hi, lo; };
RG_INLINE Pair<double> product(double a, double b) {
  const double hi = a * b;
#if RG_HAS_FMA
  return {hi, __builtin_fma(a, b, -hi)};
#else
  const double ta = 134217729.0 * a, tb = 134217729.0 * b;  // Dekker: halves of 26 bits
  const double ah = ta - (ta - a), bh = tb - (tb - b), al = a - ah, bl = b - bh;
  return {hi, ((ah * bh - hi) + ah * bl + al * bh) + al * bl};
#endif
}
RG_INLINE Pair<float> product(float a, float b) {
  const float hi = a * b;
#if RG_HAS_FMA
  return {hi, __builtin_fmaf(a, b, -hi)};
#else
  return {hi, static_cast<float>(static_cast<double>(a) * b - hi)};
#endif
}

// (e^r - 1 - r) / r^2 on |r| <= ln(2)/2
RG_INLINE float exp_tail(float r) { return poly_(r, 0.49999994f, 0.166665196f, 0.0416684002f, 0.00836884975f, 0.00138143101f); }
RG_INLINE double exp_tail(double r) {
  return poly_(r, 0.5000000000000011, 0.16666666666666405, 0.041666666666528164, 0.008333333333498637, 0.0013888888944251381,
               0.000198412694997602, 2.4801492376136908e-05, 2.7557590599610946e-06, 2.7630529921653715e-07, 2.4999286259713764e-08);
}
// the same, weighted for e^r - 1
RG_INLINE float expm1_tail(float r) { return poly_(r, 0.5f, 0.16666542f, 0.0416662805f, 0.00836670864f, 0.00139466894f); }
RG_INLINE double expm1_tail(double r) {
  return poly_(r, 0.5, 0.16666666666666677, 0.0416666666666667, 0.008333333333321436, 0.0013888888888866611, 0.0001984126988667359,
               2.480158736107087e-05, 2.7557243609098692e-06, 2.7557242283274363e-07, 2.5109261801327437e-08, 2.0924598291142495e-09);
}

template <class T> struct ExpConst;
template <> struct ExpConst<float> {
  static constexpr float log2e = 1.44269504f, ln2_hi = 0.693145751953125f, ln2_lo = 1.42860682e-06f, low = -104.0f, high = 90.0f;
};
template <> struct ExpConst<double> {
  static constexpr double log2e = 1.4426950408889634, ln2_hi = 0.6931471806019545, ln2_lo = -4.2009150726810846e-11, low = -746.0,
                          high = 711.0;
};

// e^x * 2^shift; carries along what rounding takes from the reduced argument
template <class T> RG_INLINE T exp_shifted(T x, int shift) {
  using K = ExpConst<T>;
  x = x < K::low ? K::low : x;  // selects that keep nan; what lies outside is 0 or inf, also for half of e^x
  x = x > K::high ? K::high : x;
  const T t = fma_(x, K::log2e, kRound<T>), n = t - kRound<T>;
  const T high = fma_(n, -K::ln2_hi, x), r = fma_(n, -K::ln2_lo, high), rest = fma_(n, -K::ln2_lo, high - r);
  const T p = (r + fma_(r * r, exp_tail(r), rest)) + 1;
  return scale(p, bits(t) - bits(kRound<T>) + static_cast<Int<T>>(shift));
}
// e^(x + lo) for x <= 0 and small lo
template <class T> RG_INLINE T exp_neg_pair(T x, T lo) {
  using K = ExpConst<T>;
  x = x < K::low ? K::low : x;
  const T t = fma_(x, K::log2e, kRound<T>), n = t - kRound<T>;
  const T high = fma_(n, -K::ln2_hi, x), low = fma_(n, -K::ln2_lo, lo), r = high + low, rest = (high - r) + low;
  return scale_down((r + fma_(r * r, exp_tail(r), rest)) + 1, bits(t) - bits(kRound<T>));
}

// x = 2^e (1 + f), 1 + f in [sqrt(1/2), sqrt(2)), for positive finite x
template <class T> struct Split { T e, f; };
RG_INLINE Split<float> split(float x) {
  const bool tiny = x < 1.17549435e-38f;
  const auto b = static_cast<int32_t>(static_cast<uint32_t>(bits(tiny ? x * 8388608.0f : x)) + (0x3f800000u - 0x3f3504f3u));
  const float m = from_bits((b & 0x007fffff) + 0x3f3504f3);
  return {static_cast<float>((b >> 23) - 127) - (tiny ? 23.0f : 0.0f), m - 1};
}
RG_INLINE Split<double> split(double x) {
  const bool tiny = x < 2.2250738585072014e-308;
  const uint64_t b = bits(tiny ? x * 4503599627370496.0 : x) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);
  const double m = from_bits((b & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu);
  const double e = from_bits(0x4330000000000000u | (b >> 52)) - 4503599627370496.0;  // 2^52 + integer: a conversion
  return {e - (tiny ? 1075.0 : 1023.0), m - 1};
}

// log(1 + f) + big + small on that interval: the order of additions is what keeps the error under 1 ulp.
RG_INLINE float log1p_plus(float f, float big, float small) {
  const float q =
      poly_(f, 0.333333164f, -0.250008106f, 0.200022861f, -0.166245595f, 0.141811937f, -0.131286904f, 0.128816471f, -0.0785982087f);
  const float f2 = f * f;
  return big + (f + fma_(f2, fma_(f, q, -0.5f), small));
}
RG_INLINE double log1p_plus(double f, double big, double small) {
  const double s = f / (2 + f), z = s * s, half = 0.5 * f * f;  // log(1 + f) = 2 atanh(s) = f - half + s (half + z R(z))
  const double R = z * poly_(z, 0.6666666666666735, 0.39999999999409286, 0.28571428743712995, 0.2222219842529869, 0.18183572589888605,
                             0.1531382510292603, 0.14798339690101509);
  return big + (f - (half - fma_(s, half + R, small)));
}

template <class T> RG_INLINE T log_special(T x, T y) {
  y = x < kInf<T> ? y : x;
  return x > 0 ? y : x == 0 ? -kInf<T> : kNaN<T>;
}

}  // namespace vm

// ---- exponentials. Error: exp_ 0.9, exp2_ 1.2, expm1_ 1.6, sigmoid_ 2.4, tanh_ 1.5, sinh_ 1.6, cosh_ 1.3 ulp

template <class T> RG_INLINE T exp_(T x) { return vm::exp_shifted(x, 0); }
// e^x for x <= 0 (or nan): a third cheaper, 1 ulp. What sigmoids, softmax and densities want.
template <class T> RG_INLINE T exp_neg_(T x) {
  using K = vm::ExpConst<T>;
  x = x < K::low ? K::low : x;
  const T t = fma_(x, K::log2e, vm::kRound<T>), n = t - vm::kRound<T>;
  const T r = fma_(n, -K::ln2_lo, fma_(n, -K::ln2_hi, x));
  return vm::scale_down(fma_(r * r, vm::exp_tail(r), r) + 1, vm::bits(t) - vm::bits(vm::kRound<T>));
}

RG_INLINE float exp2_(float x) {
  x = x < -151.0f ? -151.0f : x;
  x = x > 129.0f ? 129.0f : x;
  const float t = x + vm::kRound<float>, r = x - (t - vm::kRound<float>);
  const float q = poly_(r, 0.693147182f, 0.240226477f, 0.0555033237f, 0.00961843692f, 0.00133988762f, 0.000153533765f);
  return vm::scale(fma_(r, q, 1.0f), vm::bits(t) - vm::bits(vm::kRound<float>));
}

namespace vm {
// 2^(x + lo), lo small
RG_INLINE double exp2_pair(double x, double lo) {
  x = x < -1076.0 ? -1076.0 : x;
  x = x > 1025.0 ? 1025.0 : x;
  const double t = x + kRound<double>, r = (x - (t - kRound<double>)) + lo;
  const double q = poly_(r, 0.6931471805599453, 0.2402265069591013, 0.055504108664820084, 0.009618129107594119, 0.0013333558146774135,
                         0.0001540353045711432, 1.5252733493577048e-05, 1.3215435281436457e-06, 1.017819938922723e-07,
                         7.073783358859454e-09, 4.4347983248106623e-10);
  return scale(fma_(r, q, 1.0), bits(t) - bits(kRound<double>));
}
}  // namespace vm
RG_INLINE double exp2_(double x) { return vm::exp2_pair(x, 0.0); }

template <class T> RG_INLINE T expm1_(T x) {
  using K = vm::ExpConst<T>;
  constexpr T low = sizeof(T) == 4 ? T(-18) : T(-40);  // -1 to the last bit from here down
  constexpr T top = K::high - 1;                       // inf from here up, with 2^(n-1) still finite
  T y = x < low ? low : x;
  y = y > top ? top : y;
  const T t = fma_(y, K::log2e, vm::kRound<T>);
  const T n = t - vm::kRound<T>;
  const T high = fma_(n, -K::ln2_hi, y), r = fma_(n, -K::ln2_lo, high);
  const T rest = fma_(n, -K::ln2_lo, high - r);  // what rounding took from r
  const T p = r + fma_(r * r, vm::expm1_tail(r), rest);
  const T half = vm::scale(T(1), vm::bits(t) - vm::bits(vm::kRound<T>) - 1);  // 2^(n-1): finite where the result is
  const T big = 2 * fma_(half, p, half - T(0.5));
  const T small = abs_(x) < T(1e-30) ? x : p;
  return n == 0 ? small : big;
}

template <class T> RG_INLINE T sigmoid_(T x) {
  const T e = exp_neg_(-abs_(x));
  return (x < 0 ? e : T(1)) / (1 + e);
}

namespace vm {
// (tanh(x) / x - 1) / x^2 as a function of x^2, |x| <= 0.625
RG_INLINE float tanh_tail(float z) { return poly_(z, -0.333332837f, 0.133314833f, -0.0537427738f, 0.020648066f, -0.00571407611f); }
RG_INLINE double tanh_tail(double z) {
  return poly_(z, -0.33333333333333315, 0.1333333333333, -0.05396825396618004, 0.021869488471651648, -0.008863234354641153,
               0.003592114382776243, -0.001455728247468003, 0.0005894610264848739, -0.00023703622292960144, 9.159968595440515e-05,
               -3.0227212771503325e-05, 6.059434363201627e-06);
}
// (sinh(x) / x - 1) / x^2 as a function of x^2, |x| <= 1
RG_INLINE float sinh_tail(float z) { return poly_(z, 0.166666672f, 0.00833331142f, 0.000198426336f, 2.78394373e-06f); }
RG_INLINE double sinh_tail(double z) {
  return poly_(z, 0.16666666666666669, 0.008333333333332915, 0.00019841269841589215, 2.7557319108510175e-06, 2.505213066844877e-08,
               1.605668794156949e-10, 7.775656458762887e-13);
}
}  // namespace vm

template <class T> RG_INLINE T tanh_(T x) {
  const T a = abs_(x), z = x * x;
  const T small = fma_(a * z, vm::tanh_tail(z), a);
  const T e = exp_neg_(-2 * a), large = (1 - e) / (1 + e);
  return copysign_(a < T(0.625) ? small : large, x);
}

template <class T> RG_INLINE T sinh_(T x) {
  const T a = abs_(x), z = x * x;
  const T e = vm::exp_shifted(a, -1);
  const T small = fma_(a * z, vm::sinh_tail(z), a);
  return copysign_(a < 1 ? small : e - T(0.25) / e, x);
}

template <class T> RG_INLINE T cosh_(T x) {
  const T e = vm::exp_shifted(abs_(x), -1);
  return e + T(0.25) / e;
}

// ---- logarithms. Error: log_ 0.9, log1p_ 1.5, log2_ and log10_ 1.9 ulp

template <class T> RG_INLINE T log_(T x) {
  using K = vm::ExpConst<T>;
  const auto [e, f] = vm::split(x);
  return vm::log_special(x, vm::log1p_plus(f, e * K::ln2_hi, e * K::ln2_lo));
}

template <class T> RG_INLINE T log1p_(T x) {
  using K = vm::ExpConst<T>;
  const T u = 1 + x;
  const auto [e, f] = vm::split(u);
  const T lost = x > 1 ? 1 - (u - x) : x - (u - 1);  // u + lost = 1 + x exactly
  const T corrected = e == 0 ? x : f + lost * ((1 + f) / u);
  const T y = vm::log_special(u, vm::log1p_plus(corrected, e * K::ln2_hi, e * K::ln2_lo));
  return abs_(x) < T(1e-30) ? x : y;
}

template <class T> RG_INLINE T log2_(T x) {
  const auto [e, f] = vm::split(x);
  const T m = vm::log1p_plus(f, T(0), T(0));
  constexpr T lo = sizeof(T) == 4 ? T(1.925963033500e-08) : T(2.0355273740931033e-17);
  return vm::log_special(x, e + fma_(m, vm::ExpConst<T>::log2e, m * lo));
}

template <class T> RG_INLINE T log10_(T x) {
  constexpr T hi = sizeof(T) == 4 ? T(0.301025390625) : T(0.3010299956658855);  // log10(2): e * hi is exact
  constexpr T lo = sizeof(T) == 4 ? T(4.605038981195214e-06) : T(-1.9043128467164274e-12);
  const auto [e, f] = vm::split(x);
  const T m = vm::log1p_plus(f, T(0), T(0));
  return vm::log_special(x, fma_(e, hi, fma_(m, T(0.4342944819032518), e * lo)));
}

// asinh, acosh and atanh reduce to one log1p. Error: 2.1 ulp
template <class T> RG_INLINE T asinh_(T x) {
  constexpr T large = sizeof(T) == 4 ? T(1e9) : T(1e18);
  const T a = abs_(x), b = min_(a, large);  // beyond, asinh(a) = log(2 a) = log1p(a) + ln 2
  const T arg = a < large ? b + b * b / (1 + sqrt_(fma_(b, b, T(1)))) : a;
  const T y = log1p_(arg) + (a < large ? T(0) : T(0.6931471805599453));
  return copysign_(y, x);
}

template <class T> RG_INLINE T acosh_(T x) {
  constexpr T large = sizeof(T) == 4 ? T(1e9) : T(1e18);
  const T t = x - 1, b = min_(t, large);
  const T y = log1p_(t < large ? t + sqrt_(fma_(b, b, 2 * b)) : t) + (t < large ? T(0) : T(0.6931471805599453));
  return x >= 1 ? y : kNaN<T>;
}

template <class T> RG_INLINE T atanh_(T x) {
  const T a = abs_(x);
  return copysign_(T(0.5) * log1p_(2 * a / (1 - a)), x);
}

// ---- trigonometry. Error: sin_, cos_ 1.7, tan_ 3.5 ulp up to trig_bound

template <class T> constexpr T trig_bound() { return !RG_HAS_FMA ? T(1e6) : sizeof(T) == 4 ? T(1e15) : T(1e12); }
template <class T> RG_INLINE bool trig_too_large(T x) { return abs_(x) > trig_bound<T>(); }
template <class T> RG_INLINE bool any_trig_too_large(const T* x, int64_t n, int64_t stride = 1) {
  int any = 0;
  for (int64_t i = 0; i < n; ++i) any |= trig_too_large(x[i * stride]);
  return any;
}

namespace vm {

// |x| = q pi/2 + r, |r| <= pi/4. Cody and Waite's reduction, in double for float arguments.
template <class T> struct Quadrant {
  T r;
  Int<T> q;
};
RG_INLINE double quarter_turns(double a, double terms, double& r) {
  const double t = fma_(a, 0.6366197723675814, kRound<double>), n = t - kRound<double>;
#if RG_HAS_FMA
  r = fma_(n, -6.123233995736766e-17, fma_(n, -1.5707963267948966, a));
  r = terms > 2 ? fma_(n, 1.4973849048591698e-33, r) : r;
#else
  r = ((a - n * 1.5707963267341256) - n * 6.077100506303966e-11) - n * 2.0222662487959506e-21;
  (void)terms;
#endif
  return t;
}
RG_INLINE Quadrant<double> quadrant(double a) {
  double r;
  const double t = quarter_turns(a, 3, r);
  return {r, bits(t)};
}
RG_INLINE Quadrant<float> quadrant(float a) {
  double r;
  const double t = quarter_turns(a, 2, r);
  return {static_cast<float>(r), static_cast<int32_t>(bits(t))};
}

// sin and cos on |r| <= pi/4
RG_INLINE float sin_core(float r) {
  const float z = r * r;
  return fma_(r * z, poly_(z, -0.166666538f, 0.00833210163f, -0.000195068525f), r);
}
RG_INLINE double sin_core(double r) {
  const double z = r * r;
  return fma_(r * z,
              poly_(z, -0.16666666666666627, 0.008333333333321074, -0.00019841269828694064, 2.7557313293152214e-06, -2.5050693979461362e-08,
                    1.5892990870563822e-10),
              r);
}
RG_INLINE float cos_core(float r) {
  const float z = r * r;
  return fma_(z * z, poly_(z, 0.0416666456f, -0.00138873013f, 2.44307048e-05f), fma_(z, -0.5f, 1.0f));
}
RG_INLINE double cos_core(double r) {
  const double z = r * r, half = 0.5 * z, w = 1 - half;  // (1 - w) - half is what the subtraction lost
  return w + (((1 - w) - half) + z * z *
                                     poly_(z, 0.04166666666666659, -0.0013888888888872056, 2.480158728814451e-05, -2.755731395412592e-07,
                                           2.087566772979926e-09, -1.1356706803088572e-11));
}

RG_INLINE float flip_sign(float y, int32_t odd) { return from_bits(bits(y) ^ (odd << 31)); }
RG_INLINE double flip_sign(double y, uint64_t odd) { return from_bits(bits(y) ^ (odd << 63)); }
template <class T> RG_INLINE T with_sign_of(T y, T x) { return from_bits(bits(y) ^ (bits(x) ^ bits(abs_(x)))); }  // y times sign(x)

}  // namespace vm

template <class T> RG_INLINE T sin_(T x) {
  const auto [r, q] = vm::quadrant(abs_(x));
  const T y = vm::flip_sign((q & 1) ? vm::cos_core(r) : vm::sin_core(r), (q >> 1) & 1);
  return vm::with_sign_of(y, x);
}

template <class T> RG_INLINE T cos_(T x) {
  const auto [r, q] = vm::quadrant(abs_(x));
  return vm::flip_sign((q & 1) ? vm::sin_core(r) : vm::cos_core(r), ((q + 1) >> 1) & 1);
}

template <class T> RG_INLINE T tan_(T x) {
  const auto [r, q] = vm::quadrant(abs_(x));
  const T s = vm::sin_core(r), c = vm::cos_core(r);
  const T y = (q & 1) ? -c / s : s / c;
  return vm::with_sign_of(y, x);
}

namespace vm {

// (atan(x) / x - 1) / x^2 as a function of x^2, |x| <= 1
RG_INLINE float atan_tail(float z) {
  return poly_(z, -0.333333015f, 0.199986264f, -0.142650917f, 0.109566569f, -0.0841645524f, 0.0581778958f, -0.0313942097f, 0.0110287899f,
               -0.00181866472f);
}
RG_INLINE double atan_tail(double z) {
  return poly_(z, -0.33333333333333093, 0.19999999999955462, -0.14285714282803497, 0.11111111013683418, -0.09090907119766285,
               0.07692281192082467, -0.06666415036629948, 0.05880592766287246, -0.052538064190507806, 0.047232960783963315,
               -0.04221724411446325, 0.03669365097463961, -0.029985750271524163, 0.0220853539400746, -0.013995165172862435,
               0.007263477344377821, -0.002919401189263842, 0.0008435049685221696, -0.0001548013761652342, 1.3489705899824905e-05);
}
// (asin(x) / x - 1) / x^2 as a function of x^2, |x| <= 1/2
RG_INLINE float asin_tail(float z) { return poly_(z, 0.166667536f, 0.0749524906f, 0.0454766825f, 0.0241479129f, 0.0422203839f); }
RG_INLINE double asin_tail(double z) {
  return poly_(z, 0.16666666666666763, 0.07499999999970126, 0.04464285717526145, 0.030381942676369178, 0.022372215877444243,
               0.017351595976016484, 0.013981013213969952, 0.01139733364180248, 0.01078910960414524, 0.0036729246124539545,
               0.02178899254725259, -0.021114584045395672, 0.03270095716144589);
}

template <class T> struct Pi;
template <> struct Pi<float> { static constexpr float half = 1.57079637f, half_lo = -4.37113883e-08f; };
template <> struct Pi<double> { static constexpr double half = 1.5707963267948966, half_lo = 6.123233995736766e-17; };

}  // namespace vm

// Inverse functions. Error: atan_, atan2_ 1.7, acos_ 1.2, asin_ 2.4 ulp

template <class T> RG_INLINE T atan_(T x) {
  const T a = abs_(x), t = a > 1 ? 1 / a : a, z = t * t;
  const T p = fma_(t * z, vm::atan_tail(z), t);
  return copysign_(a > 1 ? vm::Pi<T>::half - (p - vm::Pi<T>::half_lo) : p, x);
}

template <class T> RG_INLINE T atan2_(T y, T x) {
  const T ax = abs_(x), ay = abs_(y), hi = max_(ax, ay), lo = min_(ax, ay);
  T t = lo / hi;
  t = hi == 0 ? T(0) : lo == kInf<T> ? T(1) : t;
  const T z = t * t, p = fma_(t * z, vm::atan_tail(z), t);
  T a = ay > ax ? vm::Pi<T>::half - (p - vm::Pi<T>::half_lo) : p;
  a = copysign_(T(1), x) < 0 ? 2 * vm::Pi<T>::half - (a - 2 * vm::Pi<T>::half_lo) : a;
  return x != x || y != y ? kNaN<T> : copysign_(a, y);
}

template <class T> RG_INLINE T asin_(T x) {
  const T a = abs_(x), far = T(0.5) * (1 - a);
  const T z = a < T(0.5) ? a * a : far, s = a < T(0.5) ? a : sqrt_(far);  // asin(a) = pi/2 - 2 asin(sqrt((1 - a)/2))
  const T p = fma_(s * z, vm::asin_tail(z), s);
  return copysign_(a < T(0.5) ? p : vm::Pi<T>::half - (2 * p - vm::Pi<T>::half_lo), x);
}

template <class T> RG_INLINE T acos_(T x) {
  const T a = abs_(x), far = T(0.5) * (1 - a);
  const T z = a < T(0.5) ? a * a : far, s = a < T(0.5) ? a : sqrt_(far);
  const T p = fma_(s * z, vm::asin_tail(z), s);
  const T near = vm::Pi<T>::half - (copysign_(p, x) - vm::Pi<T>::half_lo);
  return a < T(0.5) ? near : x < 0 ? 2 * vm::Pi<T>::half - (2 * p - 2 * vm::Pi<T>::half_lo) : 2 * p;
}

// ---- error function. Error: erf_ 1.2, erfc_ 4.6 in float and 7 in double (also in the tail), erfinv_ 3.5 ulp

namespace vm {

// erf(x) / x - 1 as a function of x^2, |x| <= 1
RG_INLINE float erf_small(float z) {
  return poly_(z, 0.128379166f, -0.376126289f, 0.112836182f, -0.026855126f, 0.00519073335f, -0.00080307544f, 7.92032588e-05f);
}
RG_INLINE double erf_small(double z) {
  return poly_(z, 0.1283791670955126, -0.3761263890318411, 0.11283791670972064, -0.0268661706482809, 0.0052239776556850465,
               -0.0008548328735478144, 0.00012055394346278535, -1.4927095473866329e-05, 1.6484744083890758e-06, -1.659852788030379e-07,
               1.630536590364992e-08, -1.764024274025038e-09, 1.6400627942243278e-10);
}
// e^(x^2) erfc(x) for x >= 0.4, through t = (x - K) / (x + K), which maps the half line to an interval
RG_INLINE float erfcx_large(float x) {
  const float d = x + 3, t = (x - 3) / d;
  return poly_(t, 1.07400692f, -0.88339448f, 0.590228319f, -0.310466349f, 0.119529381f, -0.0268369913f, -0.00122860447f, 0.00307164341f,
               -0.000479433918f, -0.000315952842f) /
         d;
}
RG_INLINE double erfcx_large(double x) {
  const double d = x + 4, t = (x - 4) / d;
  const double t2 = t * t;  // even and odd terms apart: a chain of twenty would wait on itself
  const double even = poly_(t2, 1.095995661000491, 0.7732087022652347, 0.33085158787815294, 0.07638151490595262, 0.006112055696693655,
                            -0.00045505297616346994, -3.633876252625062e-06, 4.69075471485462e-06, -8.396536754397575e-07,
                            1.1706212986617765e-07, -1.1292177663987572e-08);
  const double odd =
      poly_(t2, -0.9765487290808821, -0.5408538313132275, -0.17401093724020095, -0.026370053336090358, -0.00028095890207971457,
            0.0001768130059276346, -1.886147716778908e-05, 1.4253321911655193e-06, -7.68038885590541e-08, 1.586861539734365e-09);
  return fma_(t, odd, even) / d;
}
// erfc(x) for 0.4 <= x; the square is taken to twice the precision, since e^ magnifies its rounding error by x^2
template <class T> RG_INLINE T erfc_large(T x) {
  constexpr T end = sizeof(T) == 4 ? T(10.2) : T(28);
  x = x > end ? end : x;
  const Pair<T> square = product(x, x);
  return exp_neg_pair(-square.hi, -square.lo) * erfcx_large(x);
}
RG_INLINE float erf_large(float x) {  // log(erfc(x)) on [1, 4]: cheaper, and enough where 1 - erfc(x) is wanted
  x = x > 4.0f ? 4.0f : x;
  return 1 -
         exp_neg_(poly_(x, -0.00035387426f, -1.12703931f, -0.638227046f, -0.103036024f, 0.0218045954f, -0.00293940562f, 0.000185551369f));
}
RG_INLINE double erf_large(double x) {
  x = x > 6.0 ? 6.0 : x;
  return 1 - exp_neg_(-x * x) * erfcx_large(x);
}

}  // namespace vm

template <class T> RG_INLINE T erf_(T x) {
  const T a = abs_(x), z = x * x;
  return copysign_(a < 1 ? fma_(a, vm::erf_small(z), a) : vm::erf_large(a), x);
}

template <class T> RG_INLINE T erfc_(T x) {
  const T a = abs_(x), z = x * x;
  const T tail = vm::erfc_large(a);
  const T far = x < 0 ? 2 - tail : tail;
  return a < T(0.5) ? 1 - fma_(x, vm::erf_small(z), x) : far;
}

// x times a function of w = -log(1 - x^2), or of sqrt(w) in the tails.
RG_INLINE float erfinv_(float x) {
  const float w = -log_((1 - x) * (1 + x)), u = w - 2.5f, s = sqrt_(w) - 3.25f;
  const float centre = poly_(u, 1.50140941f, 0.246640727f, -0.00417770771f, -0.00125370757f, 0.000218602218f, -4.39678661e-06f,
                             -3.52885968e-06f, 3.43727862e-07f, 2.85345578e-08f);
  const float tail = poly_(s, 3.08388543f, 1.00525844f, 0.0053824163f, -0.00373966154f, 0.0024077862f, -0.00174969295f, 0.00115703105f,
                           -0.000237023123f, -0.000159768213f);
  return abs_(x) == 1 ? x * kInf<float> : x * (w < 5 ? centre : tail);
}
RG_INLINE double erfinv_(double x) {
  const double w = -log_((1 - x) * (1 + x)), u = w - 3.125, root = sqrt_(w);
  const double centre =
      poly_(u, 1.6536545626831027, 0.24015818242558834, -0.006033670871426996, -0.0007407025341545542, 0.00018673420802053006,
            -1.3882523394197293e-05, -1.365469177265169e-06, 4.234788171204284e-07, -2.9070389894499082e-08, -4.112660642827047e-09,
            1.0512225662956202e-09, -5.414294629002472e-11, -1.2978503951696254e-11, 2.6305034664032485e-12, -8.07929671723445e-14,
            -4.001590033068927e-14, 6.533349234193257e-15, -3.987764938371583e-17, -1.234494184169163e-16, 1.554517185085523e-17,
            6.957053264864662e-19, -3.487636603257627e-19, 1.6537915504344896e-20, 3.219346817466143e-21, -3.0014019395410243e-22);
  const double middle =
      poly_(root - 3.25, 3.0838856104922208, 1.0052589676941655, 0.00537091455355509, -0.003751208508223807, 0.0024914420979534582,
            -0.001688275535478005, 0.0009532893416624627, -0.00035503781336884216, 2.4031511872541262e-05, 6.828711417235266e-05,
            -4.732067387932293e-05, 1.2465042845603171e-05, 2.9325503472910986e-06, -3.985746056098025e-06, 1.4816696014427442e-06,
            -2.7551791204675344e-08, -2.4560876525167457e-07, 1.315283882901729e-07, -2.0820482414402636e-08, -1.5283549480516217e-08,
            7.646265285553813e-09);
  const double tail =
      poly_(root - 5.0, 4.849906401408584, 1.0103004648645457, -0.00013871931837563156, -0.00021503011984145637, 7.599527797155808e-05,
            -1.9681770517945675e-05, 4.526053843865907e-06, -9.930304828288515e-07, 2.2904594596568896e-07, -6.755267754418339e-08,
            2.903861475951226e-08, -1.5261477930144465e-08, 7.787563523747576e-09, -3.464678133181326e-09, 1.3493423902197235e-09,
            -4.412183380608512e-10, 5.191339716634671e-11, 4.369426039363658e-11, -1.6504725811951764e-11);
  const double g = w < 6.25 ? centre : root < 4 ? middle : tail;
  return abs_(x) == 1 ? x * kInf<double> : x * g;
}

// ---- power. Error: 0.51 ulp in float, 1.3 in double

namespace vm {

// The sign of x^y and the cases where C's pow does not follow from exp2(y log2|x|); `power` is |x|^y.
template <class T> RG_INLINE T pow_special(T x, T y, T power, T rounded_y, T rounded_half) {
  const bool integer = rounded_y == y, odd = integer && rounded_half != T(0.5) * y;
  const T sign = odd ? copysign_(T(1), x) : T(1);
  T result = sign * power;
  result = x < 0 && x > -kInf<T> && !integer ? kNaN<T> : result;
  result = x == -1 && abs_(y) == kInf<T> ? T(1) : result;
  return y == 0 || x == 1 ? T(1) : result;
}

}  // namespace vm

// In double throughout: log2 to 45 bits, and the conversion at the end rounds once.
RG_INLINE float pow_(float x, float y) {
  const double a = static_cast<double>(abs_(x));
  const uint64_t b = vm::bits(a) + (0x3ff0000000000000u - 0x3fe6a09e667f3bcdu);  // as in split(); no float is subnormal in double
  const double f = vm::from_bits((b & 0x000fffffffffffffu) + 0x3fe6a09e667f3bcdu) - 1;
  const double e = vm::from_bits(0x4330000000000000u | (b >> 52)) - (4503599627370496.0 + 1023.0);
  const double s = f / (2 + f), z = s * s;
  const double ln =
      fma_(s * z, poly_(z, 0.6666666667584625, 0.3999999560487305, 0.2857211110566324, 0.22176101348158447, 0.19585488645334254), 2 * s);
  double l = fma_(ln, 1.4426950408889634, e);
  l = a < kInf<double> ? l : a;
  l = a == 0 ? -kInf<double> : l;
  double p = static_cast<double>(y) * l;
  p = p < -200.0 ? -200.0 : p;
  p = p > 200.0 ? 200.0 : p;
  const double t = p + vm::kRound<double>, r = p - (t - vm::kRound<double>);
  const double q = poly_(r, 0.693147180704497, 0.2402265106652834, 0.055504103660653656, 0.009618038135940869, 0.0013333935006597298,
                         0.00015466755130842587, 1.519616582126626e-05);
  const double power = fma_(r, q, 1.0) * vm::from_bits((vm::bits(t) - vm::bits(vm::kRound<double>) + 1023) << 52);
  return vm::pow_special(x, y, static_cast<float>(power), __builtin_rintf(y), __builtin_rintf(0.5f * y));
}

// log2|x| as a sum of two doubles (68 bits), times y, likewise; then exp2.
RG_INLINE double pow_(double x, double y) {
  using vm::product;
  const double a = abs_(x);
  const auto [e, f] = vm::split(a);
  // s = f / (2 + f)
  const double d = 2 + f, d_lo = f - (d - 2), inv = 1 / d, s = f * inv;
  const auto sd = product(s, d);
  const double s_lo = (((f - sd.hi) - sd.lo) - s * d_lo) * inv;
  // atanh(s) / s - 1 = z/3 + z^2 P(z) =: g
  const auto zz = product(s, s);
  const double z = zz.hi, z_lo = fma_(2 * s, s_lo, zz.lo);
  const auto t = product(z, 0.3333333333333333);
  const double t_lo = t.lo + fma_(z, 1.850371707708594e-17, z_lo * 0.3333333333333333);
  const double w = z * z *
                   poly_(z, 0.1999999999999999, 0.14285714285721934, 0.11111111108889327, 0.0909090942286093, 0.07692279146065728,
                         0.06668135145682279, 0.0583782717823845, 0.059914327076708594);
  const double g = t.hi + w, g_lo = ((t.hi - g) + w) + t_lo;
  // log2(1 + f) = c + c g with c = s 2/ln(2)
  const auto c = product(s, 2.8853900817779268);
  const double c_lo = c.lo + fma_(s, 4.0710547481862066e-17, s_lo * 2.8853900817779268);
  const auto cg = product(c.hi, g);
  const double m = c.hi + cg.hi;
  const double m_lo = ((c.hi - m) + cg.hi) + (cg.lo + fma_(c.hi, g_lo, c_lo * g) + c_lo);
  // log2|x| = l + l_lo
  double l = e + m, l_lo = ((e - l) + m) + m_lo;
  const bool ordinary = a < kInf<double> && a > 0;
  l = ordinary ? l : a == 0 ? -kInf<double> : a;
  const auto yl = product(y, l);
  const bool in_range = abs_(yl.hi) < 1100 && abs_(y) < 1e300;  // else 0, inf or 1 whatever the low part is
  const double lo = in_range ? fma_(y, l_lo, yl.lo) : 0.0;
  const double power = vm::exp2_pair(y * l, lo);
  return vm::pow_special(x, y, power, __builtin_rint(y), __builtin_rint(0.5 * y));
}

// ---- activations and sums of exponentials, in the forms that neither overflow nor cancel

namespace vm {

// log(1 + e) for 0 <= e <= 1
template <class T> RG_INLINE T log1p_unit(T e) {
  using K = ExpConst<T>;
  const bool halve = e > T(0.41421356);
  return log1p_plus(halve ? T(0.5) * e - T(0.5) : e, halve ? K::ln2_hi : T(0), halve ? K::ln2_lo : T(0));
}
// e^(a^2/2) times the normal distribution's upper tail, 0 <= a, mapped to an interval as in erfcx_large
RG_INLINE float normal_tail(float a) {
  const float inv = 1 / (a + 5), t = (a - 5) * inv;
  return inv * poly_(t, 0.769193053f, -0.665382504f, 0.495306373f, -0.31353417f, 0.165006906f, -0.0691137984f, 0.0208779313f,
                     -0.00296648033f, -0.000979304663f, 0.000401906756f);
}
RG_INLINE double normal_tail(double a) {
  const double inv = 1 / (a + 5), t = (a - 5) * inv;
  return inv * poly_(t, 0.769193049750063, -0.6653825028900567, 0.4953056159699773, -0.3135331566712962, 0.1650203661703374,
                     -0.06911863870657, 0.020795066800837713, -0.002993376766705847, -0.0007978694080104762, 0.0005448990333916385,
                     -5.93756747868249e-05, -4.976265491162685e-05, 1.6681041199627567e-05, 3.98038469260408e-06, -2.7689524242305373e-06,
                     -3.355371466802679e-07, 4.3288402781641423e-07, 4.088039942359726e-08, -6.60114784348929e-08, -8.294730017530825e-09,
                     7.942175576679183e-09, 1.4319475219611992e-09, -3.029044036628428e-10);
}

}  // namespace vm

// The number next to x on the way to y: as integers, numbers of one sign are in the order of their size.
template <class T> RG_INLINE T nextafter_(T x, T y) {
  using I = vm::Int<T>;
  const I b = vm::bits(x);
  const T next = vm::from_bits((y > x) == (x > 0) ? static_cast<I>(b + 1u) : static_cast<I>(b - 1u));
  const T least = copysign_(vm::from_bits(I{1}), y);
  const T moved = x == 0 ? least : next;
  return x != x || y != y ? x + y : x == y ? y : moved;
}

template <class T> RG_INLINE T silu_(T x) { return x * sigmoid_(x); }
template <class T> RG_INLINE T log_sigmoid_(T x) { return (x < 0 ? x : T(-0.0)) - vm::log1p_unit(exp_neg_(-abs_(x))); }
// log(1 + e^(beta x)) / beta, and x itself where beta x > threshold
template <class T> RG_INLINE T softplus_(T x, T beta, T threshold) {
  const T bx = beta * x;
  const T y = ((bx > 0 ? bx : T(0)) + vm::log1p_unit(exp_neg_(-abs_(bx)))) / beta;
  return bx > threshold ? x : y;
}
// tanh(softplus(x)) = (w^2 - 1) / (w^2 + 1) with w = 1 + e^x, both sides times e^(-2x) where x > 0; mish(x) is x times it
template <class T> RG_INLINE T tanh_softplus_(T x) {
  const T e = exp_neg_(-abs_(x));
  const T num = x > 0 ? fma_(T(2), e, T(1)) : e * (e + 2);
  return num / (num + (x > 0 ? 2 * e * e : T(2)));
}
template <class T> RG_INLINE T mish_(T x) { return x * tanh_softplus_(x); }
// The normal distribution function and density. No cancellation in the lower tail: the error is 4 + x^2/2 ulp there, and from where it is below the
// smallest normal number, also times x, it is 0: arithmetic on smaller ones takes many times as long.
// gelu(x) = x normal_cdf_(x), gelu'(x) = normal_cdf_(x) + x normal_pdf_(x)
template <class T> RG_INLINE T normal_cdf_(T x) {
  constexpr T end = sizeof(T) == 4 ? T(13.2) : T(37.7);
  const T a = abs_(x);
  const bool far = a > end;
  const T near = far ? T(0) : a;
  const T tail = exp_neg_(T(-0.5) * near * near) * vm::normal_tail(near);
  const T below = far ? T(0) : tail;
  return x < 0 ? below : 1 - below;
}
template <class T> RG_INLINE T normal_pdf_(T x) {
  constexpr T end = sizeof(T) == 4 ? T(13.2) : T(37.7);
  const bool far = abs_(x) > end;
  const T near = far ? T(0) : x;
  const T density = T(0.3989422804014327) * exp_neg_(T(-0.5) * near * near);
  return far ? T(0) : density;
}
template <class T> RG_INLINE T gelu_(T x) { return x * normal_cdf_(x); }
// gelu(x, approximate="tanh"): 0.5 x (1 + tanh(u)) = x sigmoid(2 u)
template <class T> RG_INLINE T gelu_tanh_(T x) { return x * sigmoid_(T(1.5957691216057308) * x * fma_(T(0.044715) * x, x, T(1))); }
template <class T> RG_INLINE T log_add_exp_(T a, T b) {
  const T y = (a > b ? a : b) + vm::log1p_unit(exp_neg_(-abs_(a - b)));
  return a == b && abs_(a) == kInf<T> ? a : y;  // inf - inf
}

}  // namespace
}  // namespace retrograd::cpu::RG_LEVEL_NS
