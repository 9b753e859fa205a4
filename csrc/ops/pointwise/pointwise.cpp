#include "ops/pointwise/pointwise.h"

#include <algorithm>
#include <cstring>
#include <vector>

#include "core/format.h"
#include "core/promote.h"
#include "core/transfer.h"
#include "ops/checks.h"
#include "ops/data.h"
#include "ops/out.h"
#include "ops/overlap.h"

namespace retrograd {
namespace {

constexpr int kMaxInputs = 3;

int64_t work_ns(int64_t numel, int cost) { return numel * cost / 8; }
bool is_quick(int64_t numel, int cost) { return numel * cost < 8 * 10'000; }  // not worth other threads, nor giving up the GIL

DType result_dtype(const PointwiseInfo& op, DType compute) {
  return op.out == PointwiseOut::Bool ? DType::Bool : op.out == PointwiseOut::Real ? real_dtype(compute) : compute;
}

[[noreturn, gnu::cold]] void fail_dtype(const PointwiseInfo& op, DType dtype) {
  if (is_complex(dtype)) fail_complex_in_words(op.name);
  std::string name = dtype_storage_name(dtype);
  name.resize(name.size() - std::strlen("Tensor"));
  std::string taken;
  for (const DType t : {DType::Bool, DType::UInt8, DType::Int64, DType::Float16, DType::Float32, DType::Float64, DType::Complex64})
    if (op.dtypes >> loop_of(t) & 1) taken += str_cat(taken.empty() ? "" : ", ", dtype_name(t));
  fail(ErrorKind::NotImplemented, "\"", op.name, "_cpu\" not implemented for '", name,
       "'\n  Hint: convert the tensor to a dtype that it takes: ", taken, ".");
}

// The CPU's loop, of a dtype that is no guest.
kernels::Loop find_loop(const PointwiseInfo& op, DType dtype) {
  kernels::Loop loop = kernels::pointwise(Device{}).loops[op.row][static_cast<int>(dtype)];
  if (RG_UNLIKELY(!loop)) fail_dtype(op, dtype);
  return loop;
}

bool has_loop(const PointwiseInfo& op, DType dtype) { return op.dtypes >> loop_of(dtype) & 1; }

// What stands in for a guest dtype. Floats of 8 bits are asked, not computed with.
DType stand_in(const PointwiseInfo& op, DType guest) {
  if (!is_float8(guest)) return DType::UInt64;
  if (op.out != PointwiseOut::Bool) fail_dtype(op, guest);
  return DType::Float32;
}

void check_dtype(const PointwiseInfo& op, DType dtype) {
  if (RG_UNLIKELY(!has_loop(op, is_guest(dtype) ? stand_in(op, dtype) : dtype))) fail_dtype(op, dtype);
}

// Everything contiguous and of one dtype: the row is the whole tensor.
void run_flat(const PointwiseInfo& op, DType dtype, int64_t numel, int count, void* const* data, const int64_t* items, const void* params) {
  if (RG_LIKELY(is_quick(numel, op.cost))) {
    if (numel) find_loop(op, dtype)(numel, reinterpret_cast<char* const*>(data), items, params);
    return;
  }
  const int64_t one[1] = {1}, zero[1] = {0}, size[1] = {numel};
  kernels::Operands ops;
  ops.ndim = 1;
  ops.sizes = size;
  for (int i = 0; i < count; ++i) ops.add(data[i], items[i] ? one : zero, items[i] ? items[i] : 1);
  const Launch launch(Device{}, work_ns(numel, op.cost));
  kernels::pointwise(Device{}).run(op.row, dtype, ops, params, op.cost);
}

bool number_fits(const Scalar& s, DType dtype) {
  if (is_floating(dtype)) return !s.is_complex();
  return is_complex(dtype) || (!s.is_float() && (s.is_bool() || dtype != DType::Bool));
}

// Contiguous memory of the CPU, as the loops know it.
inline bool is_ordinary(const TensorImpl* t) {
  return (traits_word(t) & (kNotCpuBits | kLazyBits | kGuestBits | flag_bits(kContiguous))) == flag_bits(kContiguous);
}

// One element, be it in the place of many, as the gradients of sums and means are.
inline bool is_spread(const TensorImpl* t) {
  for (int d = 0; d < t->ndim; ++d)
    if (t->stride(d) != 0) return false;
  return true;
}

// The common cases, decided by a few loads: contiguous tensors alike in dtype and sizes, and beside them numbers, tensors without dims,
// of no higher category, and such as have one element in the place of all.
struct Flat {
  const TensorImpl* a;  // the first tensor, or the first that has more than one element, says what "alike" means
  void* data[kMaxInputs + 1];
  int64_t items[kMaxInputs + 1];
  alignas(16) char numbers[kMaxInputs][kMaxItemSize];

  bool inputs(const PointwiseInfo& op, std::span<const Operand> in) {
    a = in[0].tensor;
    if (RG_UNLIKELY(!a || is_spread(a)))
      for (const Operand& o : in)
        if (o.tensor && (!a || (is_spread(a) && !is_spread(o.tensor)))) a = o.tensor;
    if (!a || !is_ordinary(a) || (op.out == PointwiseOut::Float && !is_differentiable(a->dtype))) return false;
    for (size_t k = 0; k < in.size(); ++k) {
      const TensorImpl* b = in[k].tensor;
      if (!b) {
        if (!number(k, in[k].scalar)) return false;
        continue;
      }
      const uint64_t unlike = traits_word(a) ^ traits_word(b);
      if (unlike & (kDeviceBits | kLazyBits | kGuestBits)) return false;
      const bool spread = RG_UNLIKELY(unlike & flag_bits(kContiguous)) && is_spread(b);
      if (unlike & flag_bits(kContiguous) && !spread) return false;
      const bool one = b->ndim == 0 && a->ndim != 0;
      if (unlike & kDtypeBits) {
        if (!one || !number(k, read_scalar(b))) return false;
        continue;
      }
      if (!one && !same_sizes(a, b)) return false;
      data[k + 1] = b->data;
      items[k + 1] = one || spread ? 0 : itemsize(a->dtype);
    }
    return true;
  }

  bool number(size_t k, const Scalar& value) {
    if (!number_fits(value, a->dtype)) return false;
    value.store(a->dtype, numbers[k]);
    data[k + 1] = numbers[k];
    items[k + 1] = 0;
    return true;
  }

  void check(const PointwiseInfo& op) const {
    if (RG_UNLIKELY(!has_loop(op, a->dtype))) fail_dtype(op, a->dtype);
  }
  void run(const PointwiseInfo& op, size_t count, const void* params, TensorImpl* out) {
    data[0] = out->data;
    items[0] = itemsize(out->dtype);
    run_flat(op, a->dtype, out->numel, static_cast<int>(count) + 1, data, items, params);
  }
};

// Few elements, all tensors contiguous and alike: what most small ops are.
inline bool is_easy(const PointwiseInfo& op, const TensorImpl* a) {
  return is_ordinary(a) && is_quick(a->numel, op.cost) && (op.out != PointwiseOut::Float || is_differentiable(a->dtype));
}
inline bool alike(const TensorImpl* a, const TensorImpl* b) {
  constexpr uint64_t same = kDtypeBits | kDeviceBits | kNdimBits | kLazyBits | flag_bits(kContiguous);
  return !((traits_word(a) ^ traits_word(b)) & same) && same_sizes(a, b);
}

template <class... Others> inline Tensor run_easy(const PointwiseInfo& op, const void* params, const TensorImpl* a,
                                                  const Others*... others) {
  const DType dtype = a->dtype;
  const int64_t item = itemsize(dtype);
  kernels::Loop loop = find_loop(op, dtype);  // before there is an output
  Tensor out = empty_dense(a, result_dtype(op, dtype));
  char* const data[] = {static_cast<char*>(out->data), static_cast<char*>(a->data), static_cast<char*>(others->data)...};
  const int64_t items[] = {op.out == PointwiseOut::Same ? item : itemsize(out->dtype), item, (static_cast<void>(others), item)...};
  if (RG_LIKELY(a->numel)) loop(a->numel, data, items, params);
  return out;
}

// The same with a number.
inline bool is_easy(const PointwiseInfo& op, const TensorImpl* a, const Scalar& b) {
  const bool rounds = op.exact_numbers && itemsize(a->dtype) == 2;  // see loses_digits()
  return is_easy(op, a) && !rounds && number_fits(b, a->dtype);
}
inline void run_easy(kernels::Loop loop, const void* params, const TensorImpl* out, const TensorImpl* a, const Scalar& b) {
  alignas(16) char number[kMaxItemSize];
  b.store(a->dtype, number);
  char* const data[] = {static_cast<char*>(out->data), static_cast<char*>(a->data), number};
  const int64_t items[] = {itemsize(out->dtype), itemsize(a->dtype), 0};
  if (RG_LIKELY(a->numel)) loop(a->numel, data, items, params);
}

Tensor try_fast(const PointwiseInfo& op, std::span<const Operand> in, const void* params) {
  Flat flat;
  if (!flat.inputs(op, in)) return {};
  flat.check(op);  // before there is an output
  Tensor out = empty_dense(flat.a, result_dtype(op, flat.a->dtype));
  flat.run(op, in.size(), params, out.get());
  return out;
}

// In place, into the first input; the others are the same tensor or share no memory with it.
bool try_fast_inplace(const PointwiseInfo& op, std::span<const Operand> in, const void* params, TensorImpl* out) {
  if (in[0].tensor != out || result_dtype(op, out->dtype) != out->dtype) return false;
  if (in.size() == 2 && !in[1].tensor && is_easy(op, out, in[1].scalar)) {
    run_easy(find_loop(op, out->dtype), params, out, out, in[1].scalar);
    return true;
  }
  for (const Operand& o : in)
    if (o.tensor && o.tensor != out && o.tensor->storage == out->storage) return false;
  Flat flat;
  if (!flat.inputs(op, in) || flat.a != out) return false;
  flat.check(op);
  flat.run(op, in.size(), params, out);
  return true;
}

// Inputs brought together.
struct Together {
  Device device;
  Shape shape;
  const TensorImpl* layout = nullptr;  // a full-size input whose stride order the output follows

  Spec spec(DType dtype) const {
    if (!layout) return Spec(shape, dtype, device);
    Spec like = Spec::like(Tensor::borrow(const_cast<TensorImpl*>(layout)), dtype);
    like.on(device);
    return like;
  }
};

void bring_together(Together& p, std::span<const Operand> in, const char* name) {
  const TensorImpl* first = nullptr;
  for (const Operand& o : in) {
    if (!o.tensor) continue;
    if (first && first->device != o.tensor->device) {
      // A CPU scalar goes with tensors of any device.
      if (first->ndim == 0 && first->device.is_cpu()) {
        first = o.tensor;
      } else if (!(o.tensor->ndim == 0 && o.tensor->device.is_cpu())) {
        check_same_device(first, o.tensor, name);
      }
    }
    if (!first) first = o.tensor;
    broadcast_into(p.shape, o.tensor->shape());
  }
  p.device = first ? first->device : Device{};
  for (const Operand& o : in)
    if (o.tensor && !p.layout && same_sizes(o.tensor->shape(), p.shape)) p.layout = o.tensor;
}

struct Prepared : Together {
  DType compute;
  Prepared(const PointwiseInfo& op, std::span<const Operand> in) {
    Promotion promotion;
    for (const Operand& o : in) promotion.add(o);
    bring_together(*this, in, op.name);
    compute = promotion.result();
    if (op.out == PointwiseOut::Float && !is_differentiable(compute)) compute = default_dtype();
  }
};

void run(const PointwiseInfo& op, const Prepared& p, std::span<const Operand> in, const void* params, const Tensor& out) {
  if (!has_elements(out)) return;
  check_dtype(op, p.compute);
  const IntSpan shape = p.shape;
  Tensor converted[kMaxInputs];
  alignas(16) char numbers[kMaxInputs][kMaxItemSize];
  int64_t strides[kMaxInputs][kMaxDims];
  kernels::Operands ops;
  ops.ndim = p.shape.ndim;
  ops.sizes = p.shape.sizes;
  ops.add(out.array());
  for (size_t i = 0; i < in.size(); ++i) {
    if (in[i].tensor) {
      converted[i] = cast_data(Tensor::borrow(in[i].tensor), p.compute);
      broadcast_strides(converted[i].get(), shape, strides[i]);
      if (RG_UNLIKELY(converted[i]->device != out->device)) {  // a CPU scalar beside tensors of another device
        ops.add_host(converted[i]->data, strides[i], itemsize(p.compute));
        continue;
      }
      ops.add(converted[i]->data, strides[i], itemsize(p.compute));
    } else {
      in[i].scalar.store(p.compute, numbers[i]);
      for (int d = 0; d < p.shape.ndim; ++d) strides[i][d] = 0;
      ops.add_host(numbers[i], strides[i], itemsize(p.compute));
    }
  }
  const Launch launch(out, work_ns(out.numel(), op.cost));
  kernels::pointwise(out->device).run(op.row, p.compute, ops, params, op.cost);
}

// The general case, apart from the easy one so that its array does not cost that a larger frame.
template <class... In> [[gnu::noinline]] Tensor pointwise_of(const PointwiseInfo& op, std::span<const KernelParam> params,
                                                             const In&... in) {
  const Operand operands[] = {Operand(in)...};
  return pointwise(op, operands, params);
}

// Whether there is a number beside a 16-bit tensor that its dtype cannot hold, such as 1e-8.
bool loses_digits(const PointwiseInfo& op, std::span<const Operand> in) {
  if (RG_LIKELY(!op.exact_numbers)) return false;
  for (size_t i = 0; i < 2; ++i) {
    const TensorImpl *beside = in[1 - i].tensor, *t = in[i].tensor;
    if (!beside || in[i].scalar.is_complex() || (beside->dtype != DType::Float16 && beside->dtype != DType::BFloat16)) continue;
    double value;
    if (!t) {
      value = in[i].scalar.to_double();
    } else if (t->ndim == 0 && beside->ndim > 0 && (t->dtype == DType::Float32 || t->dtype == DType::Float64)) {
      if (!t->device.is_cpu()) return true;  // it may; asking would mean to wait, and a number that fits gives the same bits either way
      value = read_scalar(t).to_double();
    } else {
      continue;
    }
    const float single = static_cast<float>(value);
    const float held = beside->dtype == DType::Float16 ? float(Half(single)) : float(BFloat16(single));
    return held != single && value == value;
  }
  return false;
}

// Computed in float32, and rounded once. Undefined where that is not what is to be computed in anyway.
Tensor pointwise_wide(const PointwiseInfo& op, std::span<const Operand> in, std::span<const KernelParam> params) {
  Prepared p(op, in);
  if (p.compute != DType::Float16 && p.compute != DType::BFloat16) return Tensor();
  const DType narrow = std::exchange(p.compute, DType::Float32);
  check_dtype(op, p.compute);
  Tensor wide = make(p.spec(DType::Float32));
  run(op, p, in, params.data(), wide);
  return cast_data(wide, narrow);
}

// Computed in another dtype, from operands that were rounded to the guest's first, and rounded again: see Note [Guest dtypes].
Tensor pointwise_guest(const PointwiseInfo& op, const Prepared& given, std::span<const Operand> in, std::span<const KernelParam> params) {
  check_dtype(op, given.compute);
  Tensor held[kMaxInputs];
  std::vector<Operand> operands;
  for (size_t i = 0; i < in.size(); ++i) {
    held[i] = in[i].tensor ? Tensor::borrow(in[i].tensor) : scalar_tensor(in[i].scalar, given.compute);
    operands.emplace_back(held[i] = cast_data(held[i], given.compute));
  }
  Prepared p = given;
  p.compute = stand_in(op, given.compute);
  Tensor wide = make(p.spec(result_dtype(op, p.compute)));
  run(op, p, operands, params.data(), wide);
  return cast_data(wide, result_dtype(op, given.compute));
}

}  // namespace

Tensor pointwise(const PointwiseInfo& op, std::span<const Operand> in, std::span<const KernelParam> params) {
  if (RG_UNLIKELY(loses_digits(op, in)))
    if (Tensor exact = pointwise_wide(op, in, params)) return exact;
  if (Tensor fast = try_fast(op, in, params.data())) return fast;
  const Prepared p(op, in);
  if (RG_UNLIKELY(is_guest(p.compute))) return pointwise_guest(op, p, in, params);
  check_dtype(op, p.compute);
  Tensor out = make(p.spec(result_dtype(op, p.compute)));
  run(op, p, in, params.data(), out);
  return out;
}

Tensor pointwise(const PointwiseInfo& op, TensorImpl* in, std::span<const KernelParam> params) {
  if (RG_LIKELY(is_easy(op, in))) return run_easy(op, params.data(), in);
  return pointwise_of(op, params, in);
}

Tensor pointwise(const PointwiseInfo& op, TensorImpl* a, TensorImpl* b, std::span<const KernelParam> params) {
  if (RG_LIKELY(is_easy(op, a) && alike(a, b))) return run_easy(op, params.data(), a, b);
  return pointwise_of(op, params, a, b);
}

Tensor pointwise(const PointwiseInfo& op, TensorImpl* a, const Scalar& b, std::span<const KernelParam> params) {
  if (RG_UNLIKELY(!is_easy(op, a, b))) return pointwise_of(op, params, a, b);
  kernels::Loop loop = find_loop(op, a->dtype);  // before there is an output
  Tensor out = empty_dense(a, result_dtype(op, a->dtype));
  run_easy(loop, params.data(), out.get(), a, b);
  return out;
}

void pointwise_out(const PointwiseInfo& op, std::span<const Operand> in, std::span<const KernelParam> params, const Tensor& out) {
  const bool exact = loses_digits(op, in);
  if (!exact && try_fast_inplace(op, in, params.data(), out.get())) return;
  // The order of the checks is PyTorch's: memory, shapes, dtypes.
  bool inplace = false, apart = true;
  if (!op.any_overlap) {
    check_no_internal_overlap(out);
    for (const Operand& o : in)
      if (o.tensor) apart &= check_no_partial_overlap(out.get(), o.tensor);
  }
  for (const Operand& o : in) inplace |= o.tensor == out.get();
  const Prepared p(op, in);
  const DType dtype = result_dtype(op, p.compute);
  RG_CHECK(!(inplace && op.out == PointwiseOut::Real && is_complex(out.dtype())), "In-place ", op.name,
           " is not supported for complex tensors.");
  const bool fits = same_sizes(out.sizes(), p.shape);
  if (RG_UNLIKELY(!fits && inplace)) fail_inplace_shape(out.sizes(), p.shape);
  if (RG_UNLIKELY(op.out_exact && !inplace && dtype != out.dtype())) fail_out_dtype(op.out_exact, out.dtype(), dtype);
  if (RG_UNLIKELY(!can_cast(dtype, out.dtype())))
    fail_out_dtype(op.out_cast ? std::string_view(op.out_cast) : kCannotCast, out.dtype(), dtype);
  if (!fits) {
    check_dtype(op, p.compute);  // fails before anything is changed
    resize_out(out, p.shape);
    if (p.layout && !p.layout->is_contiguous()) {  // it gets the strides a new tensor would have
      int64_t strides[kMaxDims];
      like_strides(p.layout, MemoryFormat::Preserve, strides);
      set_geometry(out.get(), p.shape, {strides, static_cast<size_t>(p.shape.ndim)});
    }
  }
  check_dtype(op, p.compute);
  RG_CHECK(out->device == p.device, "Expected all tensors to be on the same device, but found at least two devices, ",
           device_name(out.device()), " and ", device_name(p.device), "!");
  const bool direct = apart && out.dtype() == dtype && !(out->flags & kLazy) && !is_guest(p.compute);
  if (Tensor wide; RG_UNLIKELY(exact) && (wide = pointwise_wide(op, in, params))) {
    copy_data(out, wide);
  } else if (direct) {
    run(op, p, in, params.data(), out);
  } else if (is_guest(p.compute)) {
    copy_data(out, pointwise_guest(op, p, in, params));
  } else {
    Tensor result = make(p.spec(dtype));
    run(op, p, in, params.data(), result);
    copy_data(out, result);
  }
}

Spec broadcast_spec(std::span<const Operand> in, DType dtype, const char* op) {
  if (const TensorImpl* t = in[0].tensor; t && std::ranges::all_of(in.subspan(1), [t](const Operand& o) {
                                            return o.tensor && o.tensor->device == t->device && same_sizes(o.tensor, t);
                                          }))
    return Spec::like(Tensor::borrow(in[0].tensor), dtype);
  Together together;
  bring_together(together, in, op);
  return together.spec(dtype);
}

void broadcast_into(Shape& shape, IntSpan sizes) {
  const int n = static_cast<int>(sizes.size());
  if (n > shape.ndim) {
    const int shift = n - shape.ndim;
    for (int d = shape.ndim - 1; d >= 0; --d) shape.sizes[d + shift] = shape.sizes[d];
    for (int d = 0; d < shift; ++d) shape.sizes[d] = 1;
    shape.ndim = n;
  }
  for (int d = 0; d < n; ++d) {
    int64_t& have = shape.sizes[shape.ndim - n + d];
    const int64_t want = sizes[static_cast<size_t>(d)];
    if (have == want || want == 1) continue;
    RG_CHECK(
        have == 1, "The size of tensor a (", have, ") must match the size of tensor b (", want, ") at non-singleton dimension ",
        shape.ndim - n + d,
        "\n  Sizes are compared from the last dimension on, and have to be equal, or one of them 1.\n  Hint: unsqueeze(), transpose() or "
        "expand() one of the tensors so that they are.");
    have = want;
  }
}

Shape broadcast_shapes(IntSpan a, IntSpan b) {
  Shape shape;
  broadcast_into(shape, a);
  broadcast_into(shape, b);
  return shape;
}

void broadcast_strides(const TensorImpl* t, IntSpan shape, int64_t* strides) {
  const int shift = static_cast<int>(shape.size()) - t->ndim;
  for (int d = 0; d < shift; ++d) strides[d] = 0;
  for (int d = 0; d < t->ndim; ++d) strides[shift + d] = t->size(d) == 1 ? 0 : t->stride(d);
}

void fail_devices(const TensorImpl* a, const TensorImpl* b, const char* op) {
  fail(ErrorKind::Runtime, "Expected all tensors to be on the same device, but found at least two devices, ", device_name(a->device),
       " and ", device_name(b->device), "! (in ", op,
       ")\n  Hint: move one of them with .to(device); a model and its input belong together.");
}

}  // namespace retrograd
