// Copies, conversions and fills. A copy is first simplified: dims of one element go, the rest are ordered by dst's strides and merged where
// both arrays allow. What is left is one of three: a block of memory, a transpose (one array is contiguous along one dim, the
// other along another), or rows.
#include <cstring>
#include <type_traits>

#if defined(__F16C__)
#include <immintrin.h>
#endif

#include "cpu/float8.h"
#include "cpu/isa.h"
#include "cpu/iterate.h"
#include "cpu/kernels/bytes.h"
#include "cpu/kernels/rows.h"
#include "cpu/kernels/transpose.h"
#include "cpu/parallel.h"
#include "kernels/copy.h"
#include "kernels/element.h"

namespace retrograd::cpu {
namespace {

constexpr int64_t kGrainBytes = 256 << 10;  // what a thread should have to do before it is woken

// ---- Conversions of contiguous elements.

template <class To, class From> To cast(From x) {
  if constexpr (std::is_same_v<To, bool>) {
    return x != From(0);
  } else if constexpr (std::is_floating_point_v<From> && std::is_unsigned_v<To> && sizeof(To) >= 4) {
    return truncate_unsigned<To>(x);
  } else if constexpr (std::is_floating_point_v<From> && std::is_integral_v<To>) {
    // Out of range is undefined in C++; give what x86 gives.
    constexpr From limit = sizeof(To) == 8 ? From(0x1p63) : From(0x1p31);
    constexpr To lowest = sizeof(To) == 8 ? To(int64_t{1} << 63) : To(1u << 31);
    const bool fits = x >= -limit && x < limit;
    const To truncated = static_cast<To>(fits ? x : From(0));
    return fits ? truncated : lowest;
  } else {
    return static_cast<To>(x);
  }
}

using Step = void (*)(void* dst, const void* src, int64_t n);

template <class To, class From> void step(void* dst, const void* src, int64_t n) {
  To* __restrict d = static_cast<To*>(dst);
  const From* __restrict s = static_cast<const From*>(src);
  int64_t i = 0;
  if constexpr (std::is_same_v<From, bool> && !std::is_same_v<To, bool>) {  // the compiler branches on each of a few, or on all
    typedef uint8_t Bytes __attribute__((vector_size(16)));
    typedef To Values __attribute__((vector_size(16 * sizeof(To))));
    for (; i + 16 <= n; i += 16) {
      Bytes b;
      std::memcpy(&b, s + i, sizeof b);
      const auto truths = reinterpret_cast<Bytes>(b != 0) & uint8_t{1};
      const Values v = __builtin_convertvector(truths, Values);
      std::memcpy(d + i, &v, sizeof v);
    }
  }
  for (; i < n; ++i) d[i] = cast<To>(element(s + i));
}

#if defined(__F16C__)  // the compiler does not vectorise the scalar conversions of Half
template <> void step<float, Half>(void* dst, const void* src, int64_t n) {
  float* d = static_cast<float*>(dst);
  const Half* s = static_cast<const Half*>(src);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm256_storeu_ps(d + i, _mm256_cvtph_ps(_mm_loadu_si128(reinterpret_cast<const __m128i*>(s + i))));
  for (; i < n; ++i) d[i] = s[i];
}
template <> void step<Half, float>(void* dst, const void* src, int64_t n) {
  Half* d = static_cast<Half*>(dst);
  const float* s = static_cast<const float*>(src);
  int64_t i = 0;
  for (; i + 8 <= n; i += 8) _mm_storeu_si128(reinterpret_cast<__m128i*>(d + i), _mm256_cvtps_ph(_mm256_loadu_ps(s + i), 0));
  for (; i < n; ++i) d[i] = Half(s[i]);
}
#endif

// Direct conversions exist among the four wide types, between each other type and its hub (int32, int64 or float32), and to bool. The others go
// through hubs, a cache-sized piece at a time: 40 loops instead of 160. Every detour is exact or is how PyTorch rounds.
Step direct_step(DType to, DType from) {
  using enum DType;
  if (is_float8(to)) return from == Float32 ? float8_from_floats(to) : nullptr;
  if (is_float8(from)) return to == Float32 ? floats_from_float8(from) : nullptr;
  constexpr auto pair = [](DType t, DType f) { return static_cast<int>(t) * kNumDTypes + static_cast<int>(f); };
  switch (pair(to, from)) {
    case pair(Bool, UInt8): return step<bool, uint8_t>;
    case pair(Bool, Int8): return step<bool, uint8_t>;
    case pair(Bool, Int32): return step<bool, int32_t>;
    case pair(Bool, Int64): return step<bool, int64_t>;
    case pair(Bool, Float32): return step<bool, float>;
    case pair(Bool, Float64): return step<bool, double>;
    case pair(UInt8, Bool):
    case pair(Int8, Bool): return step<bool, bool>;
    case pair(Int32, Bool): return step<int32_t, bool>;
    case pair(Float32, Bool): return step<float, bool>;
    case pair(UInt8, Int32): return step<uint8_t, int32_t>;
    case pair(Int8, Int32): return step<uint8_t, int32_t>;
    case pair(Int16, Int32): return step<int16_t, int32_t>;
    case pair(Int32, UInt8): return step<int32_t, uint8_t>;
    case pair(Int32, Int8): return step<int32_t, int8_t>;
    case pair(Int32, Int16): return step<int32_t, int16_t>;
    case pair(Int32, Int64): return step<int32_t, int64_t>;
    case pair(Int32, Float32): return step<int32_t, float>;
    case pair(Int32, Float64): return step<int32_t, double>;
    case pair(Int64, Int32): return step<int64_t, int32_t>;
    case pair(Int64, Float32): return step<int64_t, float>;
    case pair(Int64, Float64): return step<int64_t, double>;
    case pair(Float16, Float32): return step<Half, float>;
    case pair(BFloat16, Float32): return step<retrograd::BFloat16, float>;
    case pair(Float32, UInt8): return step<float, uint8_t>;
    case pair(Float32, Int32): return step<float, int32_t>;
    case pair(Float32, Int64): return step<float, int64_t>;
    case pair(Float32, Float16): return step<float, Half>;
    case pair(Float32, BFloat16): return step<float, retrograd::BFloat16>;
    case pair(Float32, Float64): return step<float, double>;
    case pair(Float64, Int32): return step<double, int32_t>;
    case pair(Float64, Int64): return step<double, int64_t>;
    case pair(Float64, Float32): return step<double, float>;
    case pair(UInt16, Int32): return step<int16_t, int32_t>;
    case pair(Int32, UInt16): return step<int32_t, uint16_t>;
    case pair(UInt32, Int64): return step<int32_t, int64_t>;
    case pair(UInt32, Float32): return step<uint32_t, float>;
    case pair(UInt32, Float64): return step<uint32_t, double>;
    case pair(Int64, UInt32): return step<int64_t, uint32_t>;
    case pair(UInt64, Int64):
    case pair(Int64, UInt64): return step<int64_t, int64_t>;
    case pair(UInt64, Float32): return step<uint64_t, float>;
    case pair(UInt64, Float64): return step<uint64_t, double>;
    case pair(Float32, UInt64): return step<float, uint64_t>;
    case pair(Float64, UInt64): return step<double, uint64_t>;
    default: return nullptr;
  }
}

DType via(DType to, DType from) {
  using enum DType;
  if (from == Float16 || from == BFloat16 || is_float8(from)) return Float32;
  if (from <= Int16 || from == UInt16) return Int32;
  if (to == Float16 || to == BFloat16 || is_float8(to)) return from == UInt32 ? Int64 : Float32;
  return from >= UInt32 || to >= UInt32 ? Int64 : Int32;
}

// ---- Complex numbers convert part by part; a real target keeps the real part.

void convert(void* dst, DType to, const void* src, DType from, int64_t n);

template <class R> void interleave(Complex<R>* dst, const R* real, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = {real[i], R(0)};
}
template <class R> void real_parts(R* dst, const Complex<R>* src, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = src[i].re;
}

void convert_complex(void* dst, DType to, const void* src, DType from, int64_t n) {
  constexpr int64_t kPiece = 512;
  alignas(64) char part[kPiece * 8];
  if (to == DType::Complex128 && from == DType::Complex64) {
    for (int64_t i = 0; i < n; ++i) static_cast<Complex<double>*>(dst)[i] = Complex<double>(static_cast<const Complex<float>*>(src)[i]);
  } else if (to == DType::Complex64 && from == DType::Complex128) {
    for (int64_t i = 0; i < n; ++i) static_cast<Complex<float>*>(dst)[i] = Complex<float>(static_cast<const Complex<double>*>(src)[i]);
  } else if (to == DType::Bool) {
    visit_complex(from, [&](auto zero) {
      for (int64_t i = 0; i < n; ++i) static_cast<bool*>(dst)[i] = !(static_cast<const decltype(zero)*>(src)[i] == decltype(zero)(0));
    });
  } else if (is_complex(to)) {
    visit_complex(to, [&](auto zero) {
      using C = decltype(zero);
      for (int64_t i = 0; i < n; i += kPiece) {
        const int64_t count = smaller(kPiece, n - i);
        convert(part, real_dtype(to), static_cast<const char*>(src) + i * itemsize(from), from, count);
        interleave(static_cast<C*>(dst) + i, reinterpret_cast<const typename C::real_type*>(part), count);
      }
    });
  } else {
    visit_complex(from, [&](auto zero) {
      using C = decltype(zero);
      for (int64_t i = 0; i < n; i += kPiece) {
        const int64_t count = smaller(kPiece, n - i);
        real_parts(reinterpret_cast<typename C::real_type*>(part), static_cast<const C*>(src) + i, count);
        convert(static_cast<char*>(dst) + i * itemsize(to), to, part, real_dtype(from), count);
      }
    });
  }
}

void convert(void* dst, DType to, const void* src, DType from, int64_t n) {
  if (n == 0) return;  // dst and src may be null
  const int64_t to_size = itemsize(to), from_size = itemsize(from);
  if (to == from || (to_size == from_size && is_integral(to) && is_integral(from))) {
    copy_bytes(dst, src, n * to_size);
    return;
  }
  if (is_complex(to) || is_complex(from)) return convert_complex(dst, to, src, from, n);
  if (const Step one = direct_step(to, from)) return one(dst, src, n);
  constexpr int64_t kPiece = 512;
  alignas(64) char buffer[2][kPiece * 8];
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = smaller(kPiece, n - i);
    const void* here = static_cast<const char*>(src) + i * from_size;
    DType type = from;
    for (int turn = 0;; turn ^= 1) {
      if (const Step last = direct_step(to, type)) {
        last(static_cast<char*>(dst) + i * to_size, here, count);
        break;
      }
      const DType next = via(to, type);
      direct_step(next, type)(buffer[turn], here, count);
      here = buffer[turn];
      type = next;
    }
  }
}

// ---- Rows, and planes of rows, of elements of one size. Strides are in bytes from here on.

struct Dim { int64_t size, ds, ss; };

template <class T> void copy_row(char* d, int64_t ds, const char* s, int64_t ss, int64_t n) {
  constexpr int64_t item = sizeof(T);
  if (ds == item && ss == item) {
    if (n * item >= 64) {
      copy_bytes(d, s, n * item);
    } else {  // shorter than the call
      for (int64_t i = 0; i < n; ++i) reinterpret_cast<T*>(d)[i] = reinterpret_cast<const T*>(s)[i];
    }
  } else if (ds == item && ss == 0) {
    const T value = *reinterpret_cast<const T*>(s);
    T* to = reinterpret_cast<T*>(d);
    for (int64_t i = 0; i < n; ++i) to[i] = value;
  } else if (ds == item && ss == -item) {
    T* __restrict to = reinterpret_cast<T*>(d);
    const T* __restrict from = reinterpret_cast<const T*>(s);
    for (int64_t i = 0; i < n; ++i) to[i] = from[-i];
  } else if (ds == item) {
    T* to = reinterpret_cast<T*>(d);
    for (int64_t i = 0; i < n; ++i) to[i] = *reinterpret_cast<const T*>(s + i * ss);
  } else {
    for (int64_t i = 0; i < n; ++i) *reinterpret_cast<T*>(d + i * ds) = *reinterpret_cast<const T*>(s + i * ss);
  }
}
template <class T> void copy_plane(char* d, const char* s, const Dim& outer, const Dim& inner) {
  for (int64_t i = 0; i < outer.size; ++i) copy_row<T>(d + i * outer.ds, inner.ds, s + i * outer.ss, inner.ss, inner.size);
}
using PlaneFn = void (*)(char* d, const char* s, const Dim& outer, const Dim& inner);
PlaneFn plane_fn(int64_t size) {
  return visit_itemsize(size, [](auto zero) -> PlaneFn { return copy_plane<decltype(zero)>; });
}
using RowFn = void (*)(char* d, int64_t ds, const char* s, int64_t ss, int64_t n);
RowFn row_fn(int64_t size) {
  return visit_itemsize(size, [](auto zero) -> RowFn { return copy_row<decltype(zero)>; });
}

void convert_row(char* d, int64_t ds, DType to, const char* s, int64_t ss, DType from, int64_t n) {
  const int64_t to_size = itemsize(to), from_size = itemsize(from);
  if (ds == to_size && ss == from_size) return convert(d, to, s, from, n);
  constexpr int64_t kPiece = 512;
  alignas(64) char in[kPiece * kMaxItemSize], out[kPiece * kMaxItemSize];
  const RowFn gather = row_fn(from_size), spread = row_fn(to_size);
  for (int64_t i = 0; i < n; i += kPiece) {
    const int64_t count = smaller(kPiece, n - i);
    gather(in, from_size, s + i * ss, ss, count);
    if (ds == to_size) {
      convert(d + i * ds, to, in, from, count);
    } else {
      convert(out, to, in, from, count);
      spread(d + i * ds, ds, out, to_size, count);
    }
  }
}

// ---- Transposes.

using TransposeFn = void (*)(char* d, int64_t d_row, const char* s, int64_t s_row, int64_t rows, int64_t columns);
TransposeFn transpose_fn(int64_t size) {
  return visit_itemsize(size, [](auto zero) -> TransposeFn { return transpose<decltype(zero)>; });
}

// The same with a conversion on the way, by blocks that stay in cache.
void convert_transpose(char* d, int64_t d_row, DType to, const char* s, int64_t s_row, DType from, int64_t rows, int64_t columns) {
  constexpr int64_t kBlock = 32;
  alignas(64) char block[kBlock * kBlock * kMaxItemSize];
  const int64_t to_size = itemsize(to), from_size = itemsize(from);
  const TransposeFn turn = transpose_fn(to_size);
  for (int64_t i = 0; i < rows; i += kBlock) {
    const int64_t height = smaller(kBlock, rows - i);
    for (int64_t j = 0; j < columns; j += kBlock) {
      const int64_t width = smaller(kBlock, columns - j);
      for (int64_t r = 0; r < width; ++r) convert(block + r * kBlock * to_size, to, s + (j + r) * s_row + i * from_size, from, height);
      turn(d + i * d_row + j * to_size, d_row, block, kBlock * to_size, height, width);
    }
  }
}

// ---- Putting rows and transposes together over any number of dims.

// Outer dims first. Returns how many dims remain, -1 if there is nothing to copy.
int simplify(Dim* dims, const Array& dst, const int64_t* src_strides, int64_t src_size) {
  const int64_t dst_size = itemsize(dst.dtype);
  int count = 0;
  for (int d = 0; d < dst.ndim; ++d) {
    if (dst.sizes[d] == 0) return -1;
    if (dst.sizes[d] == 1) continue;
    const Dim dim{dst.sizes[d], dst.strides[d] * dst_size, src_strides ? src_strides[d] * src_size : 0};
    int at = count++;
    for (; at > 0 && dims[at - 1].ds < dim.ds; --at) dims[at] = dims[at - 1];
    dims[at] = dim;
  }
  int kept = 0;
  for (int d = 1; d < count; ++d) {
    Dim& outer = dims[kept];
    const Dim& inner = dims[d];
    if (outer.ds == inner.ds * inner.size && outer.ss == inner.ss * inner.size) {
      outer = {outer.size * inner.size, inner.ds, inner.ss};
    } else {
      dims[++kept] = inner;
    }
  }
  return count ? kept + 1 : 0;
}

// Calls f(d, s) for the positions [begin, end) of the row-major walk over dims.
template <class F> void walk(const Dim* dims, int count, char* d, const char* s, int64_t begin, int64_t end, F&& f) {
  int64_t at[kMaxDims];
  for (int i = 0; i < count; ++i) at[i] = 0;
  int64_t rest = begin;
  for (int i = count - 1; rest > 0; --i) {
    at[i] = rest % dims[i].size;
    rest /= dims[i].size;
    d += at[i] * dims[i].ds;
    s += at[i] * dims[i].ss;
  }
  for (int64_t n = begin; n < end; ++n) {
    f(d, s);
    for (int i = count - 1; i >= 0; --i) {
      d += dims[i].ds;
      s += dims[i].ss;
      if (++at[i] < dims[i].size) break;
      d -= dims[i].ds * at[i];
      s -= dims[i].ss * at[i];
      at[i] = 0;
    }
  }
}

int64_t product(const Dim* dims, int count) {
  int64_t n = 1;
  for (int i = 0; i < count; ++i) n *= dims[i].size;
  return n;
}

// Plane by plane; what is large is shared among threads, row by row, with long rows cut in pieces.
template <class F> void copy_planes(const Dim* dims, int count, char* d, const char* s, int64_t element_bytes, F&& plane) {
  const Dim inner = dims[count - 1];
  const int64_t rows = product(dims, count - 1);
  constexpr Dim once{1, 0, 0};
  if (rows * inner.size * element_bytes <= kGrainBytes) {
    if (count == 1) return plane(d, s, once, inner);
    const Dim outer = dims[count - 2];
    walk(dims, count - 2, d, s, 0, rows / outer.size, [&](char* dp, const char* sp) { plane(dp, sp, outer, inner); });
    return;
  }
  const int64_t piece = larger(1, smaller(inner.size, kGrainBytes / element_bytes));
  const int64_t pieces = (inner.size + piece - 1) / piece;
  const int64_t grain = larger(1, kGrainBytes / (piece * element_bytes));
  parallel_for(0, rows * pieces, grain, [&](int64_t begin, int64_t end) {
    while (begin < end) {  // as much of a plane as there is, or one piece of a row
      const int64_t r = begin / pieces, p = begin % pieces;
      const Dim above = count > 1 ? dims[count - 2] : once;
      const int64_t run = pieces > 1 ? 1 : smaller(end - begin, above.size - r % above.size);
      const Dim outer{run, above.ds, above.ss}, part{smaller(piece, inner.size - p * piece), inner.ds, inner.ss};
      walk(dims, count - 1, d + p * piece * inner.ds, s + p * piece * inner.ss, r, r + 1,
           [&](char* dp, const char* sp) { plane(dp, sp, outer, part); });
      begin += run;
    }
  });
}

// dims[count - 1] is contiguous in dst, dims[across] in src. Blocks of kRows x kColumns of dst are the unit of work.
template <class F> void copy_transposed(Dim* dims, int count, int across, char* d, const char* s, int64_t element_bytes, F&& turn) {
  constexpr int64_t kRows = 128, kColumns = 512;
  const Dim columns = dims[count - 1], rows = dims[across];
  for (int i = across; i < count - 2; ++i) dims[i] = dims[i + 1];
  const int outer = count - 2;
  const int64_t down = (rows.size + kRows - 1) / kRows, along = (columns.size + kColumns - 1) / kColumns;
  const int64_t units = product(dims, outer) * down * along;
  if (units == 1) return turn(d, rows.ds, s, columns.ss, rows.size, columns.size);
  const int64_t unit_bytes = smaller(rows.size, kRows) * smaller(columns.size, kColumns) * element_bytes;
  parallel_for(0, units, larger(1, kGrainBytes / unit_bytes), [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t i = unit / along % down * kRows, j = unit % along * kColumns, at = unit / along / down;
      walk(dims, outer, d, s, at, at + 1, [&](char* dp, const char* sp) {
        turn(dp + i * rows.ds + j * columns.ds, rows.ds, sp + i * rows.ss + j * columns.ss, columns.ss, smaller(kRows, rows.size - i),
             smaller(kColumns, columns.size - j));
      });
    }
  });
}

bool is_contiguous(const Array& a) {
  int64_t expected = 1;
  for (int d = a.ndim - 1; d >= 0; --d) {
    if (a.strides[d] != expected && a.sizes[d] != 1) return false;
    expected *= a.sizes[d];
  }
  return true;
}

void copy_block(char* d, const char* s, int64_t bytes) {
  parallel_for(0, bytes, larger(kGrainBytes, 4096), [=](int64_t begin, int64_t end) { copy_bytes(d + begin, s + begin, end - begin); });
}

void copy_general(const Array& dst, const Array& src) {
  const int64_t to_size = itemsize(dst.dtype), from_size = itemsize(src.dtype);
  char* const d = dst.ptr<char>();
  const char* const s = src.ptr<const char>();
  const bool same = dst.dtype == src.dtype;
  Dim dims[kMaxDims];
  int count = simplify(dims, dst, src.strides, from_size);
  if (count < 0) return;
  if (count == 0) return convert(d, dst.dtype, s, src.dtype, 1);
  const Dim& inner = dims[count - 1];
  const int64_t element_bytes = to_size + from_size;

  if (inner.ds == to_size && inner.ss != from_size && inner.size >= 4) {
    for (int across = count - 2; across >= 0; --across) {
      if (dims[across].ss != from_size || dims[across].size < 4) continue;
      if (same) {
        copy_transposed(dims, count, across, d, s, element_bytes, transpose_fn(to_size));
      } else {
        copy_transposed(
            dims, count, across, d, s, element_bytes,
            [to = dst.dtype, from = src.dtype](char* dp, int64_t d_row, const char* sp, int64_t s_row, int64_t rows, int64_t columns) {
              convert_transpose(dp, d_row, to, sp, s_row, from, rows, columns);
            });
      }
      return;
    }
  }
  if (same) {
    copy_planes(dims, count, d, s, element_bytes, plane_fn(to_size));
  } else {
    copy_planes(dims, count, d, s, element_bytes,
                [to = dst.dtype, from = src.dtype](char* dp, const char* sp, const Dim& outer, const Dim& inner) {
                  for (int64_t i = 0; i < outer.size; ++i)
                    convert_row(dp + i * outer.ds, inner.ds, to, sp + i * outer.ss, inner.ss, from, inner.size);
                });
  }
}

// Small copies are worth a way around simplify().
constexpr int64_t kSmall = 256;

void copy_array(const Array& dst, const Array& src) {
  const bool same = dst.dtype == src.dtype;
  const int64_t n = dst.numel(), size = itemsize(dst.dtype);
  if (is_contiguous(dst) && is_contiguous(src)) {
    if (same && dst.data != src.data) return copy_block(dst.ptr<char>(), src.ptr<const char>(), n * size);
    if (same) return;
    if (n <= kSmall) return convert(dst.data, dst.dtype, src.data, src.dtype, n);
  } else if (same && dst.ndim <= 2 && n <= kSmall) {  // 0-d is contiguous, so there are 1 or 2 dims
    const bool plane = dst.ndim == 2;
    const Dim outer{plane ? dst.sizes[0] : 1, dst.strides[0] * size, src.strides[0] * size};
    const int in = plane ? 1 : 0;
    const Dim inner{dst.sizes[in], dst.strides[in] * size, src.strides[in] * size};
    return plane_fn(size)(dst.ptr<char>(), src.ptr<const char>(), outer, inner);
  }
  copy_general(dst, src);
}

void fill_array(const Array& dst, const void* value) {
  const int64_t n = dst.numel(), size = itemsize(dst.dtype);
  if (n <= kSmall && is_contiguous(dst))
    return visit_itemsize(size, [&](auto element) {
      std::memcpy(&element, value, sizeof element);
      auto* to = dst.ptr<decltype(element)>();
      for (int64_t i = 0; i < n; ++i) to[i] = element;
    });
  Dim dims[kMaxDims];
  const int count = simplify(dims, dst, nullptr, 0);
  if (count < 0) return;
  if (count == 0) {
    std::memcpy(dst.data, value, static_cast<size_t>(size));
    return;
  }
  copy_planes(dims, count, dst.ptr<char>(), static_cast<const char*>(value), size, plane_fn(size));
}

void copy_rows(void* dst, int64_t dst_step, const void* src, int64_t rows, size_t bytes) {
  for (int64_t i = 0; i < rows; ++i)
    std::memcpy(static_cast<char*>(dst) + i * dst_step, static_cast<const char*>(src) + i * static_cast<int64_t>(bytes), bytes);
}

}  // namespace

RG_EXPORT_KERNELS(CopyKernels, copy) = {.copy = copy_array, .fill = fill_array, .rows = copy_rows, .convert = convert};

}  // namespace retrograd::cpu
