// Attention in tiles: shape rules and kernel calls. 16-bit floats are computed as floats and rounded once.
#include "kernels/attention.h"
#include "native_attention.h"
#include "ops/checks.h"
#include "ops/data.h"
#include "ops/dims.h"

namespace retrograd {
namespace {

using kernels::AttentionMask;
using kernels::AttentionShape;
using kernels::HeadRows;

DType exact_dtype(DType t) { return t == DType::Float64 ? t : DType::Float32; }

void check(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& mask) {
  for (const Tensor* t : {&query, &key, &value}) {
    RG_CHECK(t->dim() == 4, "_attention: expected [batch, heads, rows, width], got ", t->sizes());
    check_same_device(query.get(), t->get(), "_attention");
  }
  if (!is_floating(query.dtype())) fail_not_implemented("flash_attention", query.dtype());
  RG_CHECK(query.dtype() == key.dtype() && query.dtype() == value.dtype(), "_attention: expected query, key and value of one dtype, got ",
           dtype_name(query.dtype()), ", ", dtype_name(key.dtype()), " and ", dtype_name(value.dtype()));
  RG_CHECK(query.size(0) == key.size(0) && query.size(0) == value.size(0) && key.size(1) == value.size(1) && key.size(2) == value.size(2) &&
               query.size(3) == key.size(3),
           "_attention: query, key and value do not fit: ", query.sizes(), ", ", key.sizes(), " and ", value.sizes());
  RG_CHECK(key.size(1) == 0 ? query.size(1) == 0 : query.size(1) % key.size(1) == 0, "_attention: ", key.size(1),
           " heads of keys do not divide ", query.size(1), " heads of queries");
  if (!mask) return;
  check_same_device(query.get(), mask.get(), "_attention");
  RG_CHECK(mask.dtype() == DType::Bool || is_floating(mask.dtype()), "_attention: expected a mask of bools or floats, got ",
           dtype_name(mask.dtype()));
  const int64_t sizes[4] = {query.size(0), query.size(1), query.size(2), key.size(2)};
  bool fits = mask.dim() == 4;
  for (int d = 0; fits && d < 4; ++d) fits = mask.size(d) == 1 || mask.size(d) == sizes[d];
  RG_CHECK(fits, "_attention: a mask of ", mask.sizes(), " does not fit ", IntSpan{sizes, 4});
}

AttentionShape shape_of(const Tensor& query, const Tensor& key, const Tensor& value, bool is_causal, double scale) {
  return {query.size(0), query.size(1), key.size(1), query.size(2), key.size(2), query.size(3), value.size(3), scale, is_causal};
}

// A result that lies as `t` does, if elements of its rows touch then.
Spec spec_like(const Tensor& t) { return t.size(3) == 1 || t.stride(3) == 1 ? Spec::like(t) : Spec::of(t); }

// Whether kernels take it as it is: rows of elements that touch, none over the other.
bool is_in_rows(const Tensor& t) { return (t.stride(3) == 1 || t.size(3) == 1) && (t.stride(2) >= t.size(3) || t.size(2) == 1); }
Tensor in_rows(const Tensor& t, DType dtype) {
  const Tensor cast = cast_data(t, dtype);
  return is_in_rows(cast) ? cast : contiguous_data(cast);
}

HeadRows rows_of(const Tensor& t) {
  return {t->data, t.stride(0), t.stride(1), std::max(t.stride(2), t.size(3))};  // the step from one row to none may be anything
}

// A result in memory that kernels can write, which is its own where that will do.
class Target {
 public:
  Target(const Tensor& result, DType dtype) : result_(result) {
    memory_ = result.dtype() == dtype && is_in_rows(result) ? result : empty(result.sizes(), dtype, result.device());
  }
  HeadRows rows() const { return rows_of(memory_); }
  void store() const {
    if (memory_.get() != result_.get()) copy_data(result_, memory_);
  }

 private:
  const Tensor& result_;
  Tensor memory_;
};

struct Mask {
  Tensor memory;
  AttentionMask view{};
  Mask(const Tensor& mask, DType dtype) {
    if (!mask) return;
    const bool is_bool = mask.dtype() == DType::Bool;
    memory = is_bool ? mask : cast_data(mask, dtype);
    const auto step = [&](int64_t d) { return memory.size(d) == 1 ? 0 : memory.stride(d); };
    view = {memory->data, is_bool, step(0), step(1), step(2), step(3)};
  }
};

int64_t work_ns(const AttentionShape& s, DType dtype) {
  const double pairs = static_cast<double>(s.batch * s.heads) * static_cast<double>(s.queries) * static_cast<double>(s.keys);
  return static_cast<int64_t>(pairs * static_cast<double>(s.width + s.value_width + 8) / (dtype == DType::Float32 ? 32 : 16));
}

}  // namespace

namespace rule {

std::array<Spec, 2> _attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool, double) {
  check(query, key, value, attn_mask);
  const Spec sums(ints({query.size(0), query.size(1), query.size(2)}), exact_dtype(query.dtype()), query->device);
  if (query.size(3) == value.size(3)) return {spec_like(query), sums};
  return {Spec(ints({query.size(0), query.size(1), query.size(2), value.size(3)}), query.dtype(), query->device), sums};
}

std::array<Spec, 3> _attention_backward(const Tensor& grad, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key,
                                        const Tensor& value, const Tensor& attn_mask, bool, double, const Tensor& output,
                                        const Tensor& logsumexp) {
  check(query, key, value, attn_mask);
  const int64_t sizes[4] = {query.size(0), query.size(1), query.size(2), value.size(3)};
  for (const Tensor* t : {&grad, &output})
    RG_CHECK(same_sizes(t->sizes(), IntSpan{sizes, 4}), "_attention_backward: expected a result and a gradient of ", IntSpan{sizes, 4},
             ", got ", t->sizes());
  RG_CHECK(same_sizes(logsumexp.sizes(), IntSpan{sizes, 3}) && logsumexp.dtype() == exact_dtype(query.dtype()),
           "_attention_backward: expected logsumexp of ", IntSpan{sizes, 3}, ", got ", logsumexp.sizes());
  RG_CHECK(!grad_logsumexp || (same_sizes(grad_logsumexp.sizes(), IntSpan{sizes, 3}) && grad_logsumexp.dtype() == logsumexp.dtype()),
           "_attention_backward: expected a gradient of logsumexp like it, got ", grad_logsumexp.sizes());
  if (grad_logsumexp) check_same_device(query.get(), grad_logsumexp.get(), "_attention_backward");
  for (const Tensor* t : {&grad, &output, &logsumexp}) check_same_device(query.get(), t->get(), "_attention_backward");
  return {spec_like(query), spec_like(key), spec_like(value)};
}

}  // namespace rule

namespace compute {

void _attention(const Tensor& query, const Tensor& key, const Tensor& value, const Tensor& attn_mask, bool is_causal, double scale,
                const Tensor& output, const Tensor& logsumexp) {
  const DType dtype = logsumexp.dtype();
  const Tensor q = in_rows(query, dtype), k = in_rows(key, dtype), v = in_rows(value, dtype);
  const Mask mask(attn_mask, dtype);
  const Target out(output, dtype);
  const AttentionShape shape = shape_of(query, key, value, is_causal, scale);
  {
    const Launch launch(query, work_ns(shape, dtype));
    kernels::attention(query->device).forward(dtype, shape, rows_of(q), rows_of(k), rows_of(v), mask.view, out.rows(), logsumexp->data);
  }
  out.store();
}

void _attention_backward(const Tensor& grad, const Tensor& grad_logsumexp, const Tensor& query, const Tensor& key, const Tensor& value,
                         const Tensor& attn_mask, bool is_causal, double scale, const Tensor& output, const Tensor& logsumexp,
                         const Tensor& grad_query, const Tensor& grad_key, const Tensor& grad_value) {
  if (query.numel() == 0 || key.size(2) == 0 || value.numel() == 0) {
    for (const Tensor* t : {&grad_query, &grad_key, &grad_value}) fill_data(*t, 0);
    if (query.size(3) != 0 || value.numel() == 0) return;  // without a width all weights are the same, and values count
  }
  const DType dtype = logsumexp.dtype();
  const Tensor g = in_rows(grad, dtype), q = in_rows(query, dtype), k = in_rows(key, dtype), v = in_rows(value, dtype),
               o = in_rows(output, dtype), sums = contiguous_data(logsumexp),
               grad_sums = grad_logsumexp ? contiguous_data(grad_logsumexp) : Tensor();
  const Mask mask(attn_mask, dtype);
  const Target to_query(grad_query, dtype), to_key(grad_key, dtype), to_value(grad_value, dtype);
  const AttentionShape shape = shape_of(query, key, value, is_causal, scale);
  {
    const Launch launch(query, 3 * work_ns(shape, dtype));
    kernels::attention(query->device)
        .backward(dtype, shape, rows_of(g), grad_sums ? grad_sums->data : nullptr, rows_of(q), rows_of(k), rows_of(v), mask.view,
                  rows_of(o), sums->data, to_query.rows(), to_key.rows(), to_value.rows());
  }
  for (const Target* t : {&to_query, &to_key, &to_value}) t->store();
}

}  // namespace compute
}  // namespace retrograd
