// The CPU's kernels as the guarded device calls them: each call may be written down, and what it is handed is looked at first. By the rule of
// kernels/family.h pointers are addresses of the device, unless their name says `host`.
#include <type_traits>

#include "core/promote.h"
#include "kernels/attention.h"
#include "kernels/channel_norm.h"
#include "kernels/conv.h"
#include "kernels/copy.h"
#include "kernels/create.h"
#include "kernels/ctc.h"
#include "kernels/distance.h"
#include "kernels/embedding.h"
#include "kernels/fft.h"
#include "kernels/image.h"
#include "kernels/index.h"
#include "kernels/lapack.h"
#include "kernels/loss.h"
#include "kernels/matmul.h"
#include "kernels/norm.h"
#include "kernels/optim.h"
#include "kernels/pointwise.h"
#include "kernels/pool.h"
#include "kernels/random.h"
#include "kernels/recurrence.h"
#include "kernels/recurrent.h"
#include "kernels/reduce.h"
#include "kernels/scan.h"
#include "kernels/select.h"
#include "kernels/softmax.h"
#include "kernels/sort.h"
#include "kernels/sparse.h"
#include "kernels/values.h"
#include "testing/guarded.h"

namespace retrograd::guarded_device {
namespace {

using namespace kernels;

// Kernels whose `void*` is a value, or parameters, in the memory of the process.
template <auto kernel> constexpr bool kTakesHost = false;
template <> constexpr bool kTakesHost<&CopyKernels::fill> = true;
template <> constexpr bool kTakesHost<&IndexKernels::scatter_value> = true;
template <> constexpr bool kTakesHost<&IndexKernels::index_fill> = true;
template <> constexpr bool kTakesHost<&IndexKernels::masked_fill> = true;
template <> constexpr bool kTakesHost<&OptimKernels::adam> = true;
template <> constexpr bool kTakesHost<&PointwiseKernels::run> = true;

// One call: `look` at each argument, then the text is complete.
struct Call {
  const char* kernel;
  bool takes_host;
  std::string text{};

  void host(const void* at) const {
    if (at && is_inside(at)) note_fault(kernel, "memory of the device for a pointer to the process");
  }
  void device(const void* from, size_t bytes) const {
    if (from && !is_owned(from, bytes)) note_fault(kernel, is_inside(from) ? "memory that no tensor owns" : "memory of the process");
  }
  void strided(const void* data, int64_t item, int ndim, const int64_t* sizes, const int64_t* strides) {
    int64_t low = 0, high = 1;
    bool empty = false;
    for (int d = 0; d < ndim; ++d) {
      say(sizes[d]);
      empty |= sizes[d] == 0;
      (strides[d] < 0 ? low : high) += (sizes[d] - 1) * strides[d];
    }
    if (data && !empty) device(static_cast<const char*>(data) + low * item, static_cast<size_t>((high - low) * item));
  }

  void say(int64_t number) { (text += ' ') += std::to_string(number); }
  void look(const Array& a) {
    (text += ' ') += dtype_name(a.dtype);
    strided(a.data, itemsize(a.dtype), a.ndim, a.sizes, a.strides);
  }
  void look(const Array* a) {
    if (a) look(*a);
  }
  void look(const Matrix& m) {
    say(m.rs);
    say(m.cs);
    device(m.data, 0);
  }
  void look(const HeadRows& r) {
    for (const int64_t step : {r.batch_step, r.head_step, r.row_step}) say(step);
    device(r.data, 0);
  }
  void look(const AttentionMask& m) { device(m.data, 0); }
  void look(const AttentionShape& s) {
    for (const int64_t size : {s.batch, s.heads, s.key_heads, s.queries, s.keys, s.width, s.value_width}) say(size);
  }
  void look(const Matrices& m) {
    look(m.dtype);
    for (const int64_t size : {m.count, m.rows, m.columns}) say(size);
    device(m.data, static_cast<size_t>(m.count * m.rows * m.columns * itemsize(m.dtype)));
  }
  void look(const Operands& ops) {
    for (int i = 0; i < ops.count; ++i) {
      if (ops.host >> i & 1) {
        host(ops.data[i]);
      } else {
        strided(ops.data[i], ops.itemsize[i], ops.ndim, ops.sizes, ops.strides[i]);
      }
    }
  }
  void look(const Indexing& plan) {
    for (int i = 0; i < plan.count; ++i) strided(plan.index[i], sizeof(int64_t), plan.index_ndim, plan.sizes + plan.at, plan.strides[i]);
  }
  void look(const PoolShape& s) {
    for (const int64_t size : {s.outer, s.inner, s.in[0], s.in[1], s.in[2], s.out[0], s.out[1], s.out[2]}) say(size);
  }
  void look(const CtcShape& s) {
    for (const int64_t size : {s.steps, s.batch, s.classes, s.longest}) say(size);
    for (const int64_t* const p : {s.host_input_lengths, s.host_target_lengths, s.host_target_starts}) host(p);
  }
  void look(const RecurrentShape& s) {
    look(s.kind);
    for (const int64_t size : {s.steps, s.elements, s.input, s.hidden, s.shown}) say(size);
    host(s.host_batch_sizes);
    host(s.host_offsets);
  }
  void look(const RecurrentWeights& w) {
    for (const void* const p : {w.w_ih, w.w_hh, w.b_ih, w.b_hh, w.w_hr}) device(p, 0);
  }
  void look(const RecurrentGradients& g) {
    for (const void* const p : {g.input, g.w_ih, g.w_hh, g.b_ih, g.b_hh, g.w_hr}) device(p, 0);
  }
  void look(DType dtype) { (text += ' ') += dtype_name(dtype); }
  void look(const void* p) { takes_host ? host(p) : device(p, 0); }
  void look(void* p) { look(const_cast<const void*>(p)); }
  void look(AdamStep* p) { host(p); }
  template <class T> void look(const T& value) {
    if constexpr (std::is_pointer_v<T>) {
      device(value, sizeof(*value));
    } else if constexpr (std::is_integral_v<T> || std::is_enum_v<T>) {
      say(static_cast<int64_t>(value));
    } else if constexpr (std::is_floating_point_v<T>) {
      (text += ' ') += std::to_string(value);
    }
  }
};

template <size_t N> struct Name {
  char text[N];
  constexpr Name(const char (&from)[N]) {
    for (size_t i = 0; i < N; ++i) text[i] = from[i];
  }
};

template <Name name, auto kernel> struct Checked;
template <Name name, class Family, class... Args, Kernel<void(Args...)> Family::* kernel> struct Checked<name, kernel> {
  static void run(Args... args) {
    Call call{name.text, kTakesHost<kernel>};
    if (!is_open()) note_fault(name.text, "no Launch");
    (call.look(args), ...);
    if (noting) note_call(name.text + call.text);
    (family<Family>(Device{}).*kernel)(args...);
  }
};

// RG_EACH(Family, a, b, ...): an initializer for each.
#define RG_PARENS ()
#define RG_MORE(...) RG_MORE3(RG_MORE3(RG_MORE3(__VA_ARGS__)))
#define RG_MORE3(...) RG_MORE2(RG_MORE2(RG_MORE2(__VA_ARGS__)))
#define RG_MORE2(...) RG_MORE1(RG_MORE1(RG_MORE1(__VA_ARGS__)))
#define RG_MORE1(...) __VA_ARGS__
#define RG_NEXT(Family, field, ...) \
  .field = Checked<#Family "." #field, &Family::field>::run, __VA_OPT__(RG_AGAIN RG_PARENS(Family, __VA_ARGS__))
#define RG_AGAIN() RG_NEXT
#define RG_EACH(Family, ...) RG_MORE(RG_NEXT(Family, __VA_ARGS__))

#define RG_PROVIDE(Family, ...)                                       \
  do {                                                                \
    static constexpr Family checked = {RG_EACH(Family, __VA_ARGS__)}; \
    provide(type, checked);                                           \
  } while (false)

}  // namespace

// A kernel that is missing here is missing on the device, and whoever calls it hears so.
void provide_kernels(DeviceType type) {
  // A workspace is a question of sizes alone.
  static const ChannelNormKernels channel_norms = {
      .workspace = channel_norm(Device{}).workspace,
      RG_EACH(ChannelNormKernels, batch_norm, batch_norm_backward, group_norm, group_norm_backward)};
  provide(type, channel_norms);
  RG_PROVIDE(AttentionKernels, forward, backward);
  // The workspace is a question of sizes alone.
  static const ConvKernels convolutions = {.workspace = conv(Device{}).workspace, RG_EACH(ConvKernels, out, in, weight, unfold, fold)};
  provide(type, convolutions);
  RG_PROVIDE(CopyKernels, copy, fill, rows, convert);
  RG_PROVIDE(CreateKernels, count, step, spread, triangle, window);
  RG_PROVIDE(CtcKernels, loss, backward);
  RG_PROVIDE(DistanceKernels, cdist, pdist, shrink, cross);
  RG_PROVIDE(EmbeddingKernels, bags, bags_backward, weights_backward);
  static const FftKernels transforms = {.workspace = fft(Device{}).workspace, RG_EACH(FftKernels, c2c, r2c, c2r)};
  provide(type, transforms);
  RG_PROVIDE(ImageKernels, resize, resize_backward, pad, pad_backward, sample, sample_backward);
  RG_PROVIDE(IndexKernels, gather, scatter, scatter_value, scatter_reduce, index_select, index_copy, index_fill, index_add, index_reduce,
             embedding_backward, take, put, index, index_put, masked_fill, masked_select, masked_scatter, count_nonzero, nonzero, tril,
             triu, one_hot, share_out, repeat_total, repeat_index);
  RG_PROVIDE(LapackKernels, lu, lu_solve, determinant, log_determinant, permutation, cholesky, solve_triangular, ldl, ldl_solve, qr, copy_r,
             make_q, reflect, eigh, eig, svd, invert);
  RG_PROVIDE(LossKernels, nll_loss, nll_loss_backward);
  RG_PROVIDE(MatmulKernels, gemm, gemm_bias, bmm, dot);
  RG_PROVIDE(NormKernels, layer_norm, layer_norm_backward);
  RG_PROVIDE(OptimKernels, sgd, adam);
  RG_PROVIDE(PointwiseKernels, run, next_after);
  RG_PROVIDE(PoolKernels, max, fractional_max, mean, mean_backward, take, put);
  RG_PROVIDE(RandomKernels, uniform, normal, normal_serial, log_normal, exponential, cauchy, geometric, bernoulli, bernoulli_each,
             random_from, random_full, randperm, check_weights, multinomial, poisson, gamma, dirichlet, binomial);
  RG_PROVIDE(RecurrenceKernels, linear);
  RG_PROVIDE(RecurrentKernels, forward, backward);
  RG_PROVIDE(ReduceKernels, sum, nansum, mean, prod, max, min, min_max, any, all, count_nonzero, exclusive_or, small_sum, largest, norm,
             var_mean, argmax, argmin, max_with_index, min_with_index);
  RG_PROVIDE(ScanKernels, cumsum, cumprod, cummax, cummin, logcumsumexp);
  RG_PROVIDE(SelectKernels, select);
  RG_PROVIDE(SoftmaxKernels, softmax, log_softmax, softmax_backward, log_softmax_backward, logsumexp);
  RG_PROVIDE(SortKernels, sort, topk, kthvalue, median, mode, searchsorted, among, unique, unique_dim, histc, histogram, bins, bincount,
             segments);
  RG_PROVIDE(SparseKernels, mm, dots, group);
  RG_PROVIDE(ValueKernels, any);
}

void provide_scans(bool on) {
  static const ScanKernels& provided = scan(Device{DeviceType::Plugin});
  provide(DeviceType::Plugin, on ? provided : no_kernels<ScanKernels>);
}

}  // namespace retrograd::guarded_device
