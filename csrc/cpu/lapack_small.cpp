// One real matrix of an order up to kSmallOrder. Calls and questions within LAPACK (block sizes, which of its letters was meant) take longer than the
// arithmetic there, so reflections are made and applied here, in its order and with its signs; the iterations are LAPACK's own.
#include <cmath>

#include "cpu/lapack.h"

namespace retrograd::cpu {
namespace {

using Bdsqr = void(const char* uplo, const int* n, const int* ncvt, const int* nru, const int* ncc, void* d, void* e, void* vt,
                   const int* ldvt, void* u, const int* ldu, void* c, const int* ldc, void* work, int* info);
using Steqr = void(const char* compz, const int* n, void* d, void* e, void* z, const int* ldz, void* work, int* info);
using Sterf = void(const int* n, void* d, void* e, int* info);

// n numbers, `step` apart.
template <class T> struct Line {
  T* data;
  int n, step;
  T& operator[](int i) const { return data[i * step]; }
};

// The reflection I - tau v v^T that takes x to (beta, 0, ..., 0). The first element of v is 1; the others, and beta in front, take the place of x.
// Returns tau, which is 0 where there is nothing to do.
template <class T> T make_reflection(Line<T> x) {
  // Doubles, also of floats: a column of what remains of a matrix of rank one may be as small as numbers get, and its direction counts nevertheless.
  double values[kSmallOrder], squares = 0, largest = 0, unit = 1;
  bool is_done = true;
  for (int i = 0; i < x.n; ++i) {
    values[i] = x[i];
    squares += values[i] * values[i];
    is_done = is_done && (i == 0 || values[i] == 0);
  }
  if (is_done) return 0;
  if (!(squares > 1e-280 && squares < 1e280)) {
    for (int i = 0; i < x.n; ++i) largest = std::max(largest, std::abs(values[i]));
    unit = std::ldexp(1.0, largest > 0 ? std::min(-std::ilogb(largest), 1000) : 0);  // 0 beside a nan
    squares = 0;
    for (int i = 0; i < x.n; ++i) {
      values[i] *= unit;
      squares += values[i] * values[i];
    }
  }
  const double beta = values[0] < 0 ? std::sqrt(squares) : -std::sqrt(squares), scale = 1 / (values[0] - beta);
  for (int i = 1; i < x.n; ++i) x[i] = static_cast<T>(values[i] * scale);
  x[0] = static_cast<T>(beta / unit);
  return static_cast<T>((beta - values[0]) / beta);
}

// Reflects `count` lines, the first of which is x and which begin `apart` from each other.
template <class T> void reflect_lines(Line<T> v, T tau, T* x, int step, int count, int apart) {
  if (tau == 0) return;
  for (int j = 0; j < count; ++j, x += apart) {
    T sum = x[0];
    for (int i = 1; i < v.n; ++i) sum += v[i] * x[i * step];
    sum *= tau;
    x[0] -= sum;
    for (int i = 1; i < v.n; ++i) x[i * step] -= sum * v[i];
  }
}

// The iterations leave it to their callers to scale what is far from 1.
template <class T> bool is_moderate(const T* a, int64_t n) {
  T largest = 0;
  for (int64_t i = 0; i < n; ++i) largest = std::max(largest, std::abs(a[i]));
  return largest > T(1e-10) && largest < T(1e10);
}

template <class T> void set_identity(T* a, int rows, int columns) {
  std::fill(a, a + rows * columns, T(0));
  for (int i = 0; i < std::min(rows, columns); ++i) a[i * (rows + 1)] = 1;
}

// Q^T A Q = T for the symmetric A in the lower triangle: T's diagonal and the one beside it in d and e, the reflections of Q below that.
template <class T> void make_tridiagonal(int n, T* a, T* d, T* e, T* tau) {
  for (int i = 0; i + 1 < n; ++i) {
    const int left = n - i - 1;
    const Line<T> v{a + i * n + i + 1, left, 1};
    tau[i] = make_reflection(v);
    e[i] = v[0];
    d[i] = a[i * (n + 1)];
    if (tau[i] == 0) continue;
    v[0] = 1;
    T* const rest = a + (i + 1) * (n + 1);  // becomes H rest H = rest - v w^T - w v^T
    const auto element = [&](int r, int c) -> T& { return rest[r >= c ? c * n + r : r * n + c]; };
    T w[kSmallOrder], product = 0;
    for (int r = 0; r < left; ++r) {
      w[r] = 0;
      for (int c = 0; c < left; ++c) w[r] += element(r, c) * v[c];
      w[r] *= tau[i];
      product += w[r] * v[r];
    }
    for (int r = 0; r < left; ++r) w[r] -= tau[i] / 2 * product * v[r];
    for (int c = 0; c < left; ++c)
      for (int r = c; r < left; ++r) rest[c * n + r] -= v[r] * w[c] + w[r] * v[c];
  }
  d[n - 1] = a[n * n - 1];
}

// Q^T A P = B for an A of n columns and as many rows or more, whose elements are `down` and `along` apart: B's diagonal in d, the one above it in e,
// the reflections of Q below the diagonal and those of P beyond the other.
template <class T> class Bidiagonal {
 public:
  T d[kSmallOrder], e[kSmallOrder];

  Bidiagonal(int rows, int n, T* a, int down, int along) : rows_(rows), n_(n), a_(a), down_(down), along_(along) {
    for (int i = 0; i < n; ++i) {
      const Line<T> c = column(i), r = row(i);
      q_[i] = make_reflection(c);
      d[i] = c[0];
      if (r.n == 0) {
        p_[i] = 0;
        continue;
      }
      reflect_lines(c, q_[i], r.data, down, r.n, along);
      p_[i] = make_reflection(r);
      e[i] = r[0];
      reflect_lines(r, p_[i], r.data + down, along, c.n - 1, down);
    }
  }

  // Q times each of `count` lines, whose elements are `step` apart, and P likewise.
  void apply_q(T* x, int step, int count, int apart) const {
    for (int i = n_ - 1; i >= 0; --i) reflect_lines(column(i), q_[i], x + i * step, step, count, apart);
  }
  void apply_p(T* x, int step, int count, int apart) const {
    for (int i = n_ - 2; i >= 0; --i) reflect_lines(row(i), p_[i], x + (i + 1) * step, step, count, apart);
  }

 private:
  Line<T> column(int i) const { return {a_ + i * (down_ + along_), rows_ - i, down_}; }
  Line<T> row(int i) const { return {a_ + i * (down_ + along_) + along_, n_ - i - 1, along_}; }

  const int rows_, n_;
  T* const a_;
  const int down_, along_;
  T q_[kSmallOrder], p_[kSmallOrder];
};

}  // namespace

template <class T> bool small_qr(int rows, int columns, T* a, T* tau) {
  if (std::max(rows, columns) > kSmallOrder) return false;
  for (int i = 0; i < std::min(rows, columns); ++i) {
    const Line<T> v{a + i * (rows + 1), rows - i, 1};
    tau[i] = make_reflection(v);
    reflect_lines(v, tau[i], v.data + rows, 1, columns - i - 1, rows);
  }
  return true;
}

template <class T> bool small_q(int rows, int columns, int steps, T* q, const T* tau) {
  if (std::max(rows, columns) > kSmallOrder) return false;
  for (int j = steps; j < columns; ++j)
    for (int i = 0; i < rows; ++i) q[j * rows + i] = i == j;
  for (int i = steps - 1; i >= 0; --i) {
    const Line<T> v{q + i * (rows + 1), rows - i, 1};
    reflect_lines(v, tau[i], v.data + rows, 1, columns - i - 1, rows);
    for (int k = 1; k < v.n; ++k) v[k] *= -tau[i];
    v[0] = 1 - tau[i];
    std::fill(q + i * rows, v.data, T(0));
  }
  return true;
}

template <class T> bool small_eigh(bool vectors, int n, T* a, T* w, int* verdict) {
  static Sterf* const sterf = routine<T, Sterf>("sterf_");
  static Steqr* const steqr = routine<T, Steqr>("steqr_");
  if (n < 2 || n > kSmallOrder || !is_moderate(a, n * n)) return false;
  T e[kSmallOrder], tau[kSmallOrder], work[2 * kSmallOrder], z[kSmallOrder * kSmallOrder];
  make_tridiagonal(n, a, w, e, tau);
  if (!vectors) {
    sterf(&n, w, e, verdict);
    return true;
  }
  const char from_identity = 'I';
  steqr(&from_identity, &n, w, e, z, &n, work, verdict);
  for (int i = n - 2; i >= 0; --i) reflect_lines(Line<T>{a + i * n + i + 1, n - i - 1, 1}, tau[i], z + i + 1, 1, n, n);
  std::copy(z, z + n * n, a);
  return true;
}

template <class T> bool small_svd(int rows, int columns, bool full, T* a, T* u, T* s, T* vh, int* verdict) {
  static Bdsqr* const bdsqr = routine<T, Bdsqr>("bdsqr_");
  const int n = std::min(rows, columns), most = std::max(rows, columns), kept = full ? most : n;
  // LAPACK factors what is much longer than wide first, which may turn signs.
  if (n < 2 || most > kSmallOrder || (most > n && most >= n * 11 / 6) || !is_moderate(a, rows * columns)) return false;
  const bool wide = rows < columns;  // its transpose is made bidiagonal, which makes it so itself, below the diagonal
  Bidiagonal<T> b(most, n, a, wide ? rows : 1, wide ? 1 : rows);
  const int u_columns = wide ? n : kept, vh_rows = wide ? kept : n, none = 0, wanted = u ? n : 0, vh_ld = u ? vh_rows : 1;
  const char triangle = wide ? 'L' : 'U';
  T work[4 * kSmallOrder];
  if (u) {
    set_identity(u, rows, u_columns);
    set_identity(vh, vh_rows, columns);
  }
  std::copy(b.d, b.d + n, s);
  bdsqr(&triangle, &n, &wanted, &wanted, &none, s, b.e, vh, &vh_ld, u, &rows, nullptr, &n, work, verdict);
  if (!u) return true;
  if (wide) {
    b.apply_p(u, 1, u_columns, rows);
    b.apply_q(vh, vh_rows, vh_rows, 1);
  } else {
    b.apply_q(u, 1, u_columns, rows);
    b.apply_p(vh, vh_rows, vh_rows, 1);
  }
  return true;
}

template bool small_qr(int, int, float*, float*);
template bool small_qr(int, int, double*, double*);
template bool small_q(int, int, int, float*, const float*);
template bool small_q(int, int, int, double*, const double*);
template bool small_eigh(bool, int, float*, float*, int*);
template bool small_eigh(bool, int, double*, double*, int*);
template bool small_svd(int, int, bool, float*, float*, float*, float*, int*);
template bool small_svd(int, int, bool, double*, double*, double*, double*, int*);

}  // namespace retrograd::cpu
