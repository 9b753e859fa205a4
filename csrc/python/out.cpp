#include "python/out.h"

#include <algorithm>
#include <string>

#include "autograd/history.h"
#include "autograd/untracked.h"
#include "boxed_arguments.h"
#include "core/promote.h"
#include "ops.h"
#include "ops/data.h"
#include "ops/out.h"
#include "ops/overlap.h"

namespace retrograd {

PyObject* intercept_out(OpRecord& op, const Parsed& p) {
  const std::span<const ParamSpec> params = op.group->signatures[static_cast<size_t>(op.overload)].params;
  const auto count = static_cast<Py_ssize_t>(params.size());
  PyObject* const out = p.out_object();
  RG_CHECK_AS(Type, is_tensor(out) ? op.outs == 1 : PySequence_Fast_GET_SIZE(out) == op.outs, "out= must be a tuple of ", int{op.outs},
              " Tensors");
  PyObject* args = checked(PyTuple_New(count + op.outs));
  for (Py_ssize_t i = 0; i < count; ++i) PyTuple_SET_ITEM(args, i, boxed(p, static_cast<int>(i), params[static_cast<size_t>(i)].kind));
  if (is_tensor(out)) {
    PyTuple_SET_ITEM(args, count, Py_NewRef(out));
  } else {
    for (Py_ssize_t i = 0; i < op.outs; ++i) PyTuple_SET_ITEM(args, count + i, Py_NewRef(PySequence_Fast_GET_ITEM(out, i)));
  }
  Py_DECREF(call_handler(op, args));
  return Py_NewRef(out);
}

void check_out(const Parsed& p, const char* op, bool needs_grad) {
  PyObject* out = p.out_object();
  auto check = [&](PyObject* o) {
    const bool wants = needs_grad || requires_grad(Tensor::borrow(o));
    RG_CHECK(!(wants && thread_state.grad_mode), op,
             "(): functions with out=... arguments don't support automatic differentiation, but one of the arguments "
             "requires grad.\n  Hint: leave out= away and use the result, or call it under torch.no_grad().");
    check_inplace(Tensor::borrow(o), false);  // inference tensors
  };
  if (is_tensor(out)) return check(out);
  for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(out); ++i) check(PySequence_Fast_GET_ITEM(out, i));
}

PyObject* finish_out(const Parsed& p) {
  wrote_inplace(p.out());
  return Py_NewRef(p.out_object());
}

namespace {

void check_out_dtype(const Tensor& out, const Tensor& result, const OutRule& rule, size_t i) {
  const DType have = out.dtype(), want = result.dtype();
  if (have == want || (rule.bytes && have == DType::UInt8)) return;
  if (!rule.exact.empty()) fail_out_dtype(rule.exact[std::min(i, rule.exact.size() - 1)], have, want);
  if (!can_cast(want, have) || (rule.same_kind && is_complex(have) && !is_complex(want)))
    fail_out_dtype(rule.cast ? std::string_view(rule.cast) : kCannotCast, have, want);
}

void write_one(const Tensor& out, const Tensor& result, bool silent) {
  RG_CHECK_AS(
      NotImplemented, !any_tangent(result, out),
      "Trying to use forward AD with an out= function that does not support it because it is an out= function\n  Hint: leave out= away "
      "and use the result.");
  if (RG_UNLIKELY(result->has(kBatched) || out->has(kBatched))) {
    RG_CHECK(same_sizes(out.sizes(), result.sizes()), "out= cannot be resized inside vmap: it has size ", out.sizes(), ", the result has ",
             result.sizes());
    ops::copy_(out, result, false);
    return;
  }
  silent ? resize_data(out, result.sizes()) : resize_out(out, result.sizes());
  check_no_internal_overlap(out);
  copy_data(out, result);
  wrote_inplace(out);
  if (!requires_grad(out)) set_cut(out.get(), note_of(result.get()));
}

}  // namespace

PyObject* write_out(const Parsed& p, const Tensor& result, const OutRule& rule) {
  RG_CHECK_AS(Type, is_tensor(p.out_object()), "out= must be a Tensor, not ", Py_TYPE(p.out_object())->tp_name);
  check_out_dtype(p.out(), result, rule, 0);
  write_one(p.out(), result, rule.silent);
  return Py_NewRef(p.out_object());
}

PyObject* write_out(const Parsed& p, std::span<const Tensor> results, const OutRule& rule) {
  PyObject* out = p.out_object();
  RG_CHECK_AS(Type, !is_tensor(out) && PySequence_Fast_GET_SIZE(out) == static_cast<Py_ssize_t>(results.size()), "out= must be a tuple of ",
              results.size(), " Tensors");
  const auto item = [&](size_t i) { return Tensor::borrow(PySequence_Fast_GET_ITEM(out, static_cast<Py_ssize_t>(i))); };
  for (size_t i = 0; i < results.size(); ++i) check_out_dtype(item(i), results[i], rule, i);
  for (size_t i = 0; i < results.size(); ++i) write_one(item(i), results[i], rule.silent);
  return Py_NewRef(out);
}

// ---- out= of factories ----

DType begin_create(const Parsed& p, const char* op, std::optional<DType> dtype) {
  RG_CHECK_AS(Type, is_tensor(p.out_object()), "out= must be a Tensor, not ", Py_TYPE(p.out_object())->tp_name);
  check_out(p, op, false);
  const DType have = p.out().dtype();
  RG_CHECK(!dtype || *dtype == have, "dtype ", dtype_title(*dtype), " does not match dtype of out parameter (", dtype_title(have), ")");
  return have;
}

namespace {

PyObject* created(const Parsed& p, bool needs_grad) {
  const Tensor& out = p.out();
  if (needs_grad) {
    RG_CHECK(is_differentiable(out.dtype()), "Only Tensors of floating point and complex dtype can require gradients, and this one is of ",
             dtype_name(out.dtype()));
    out->flags |= kRequiresGrad;
  }
  return Py_NewRef(p.out_object());
}

}  // namespace

PyObject* finish_create(const Parsed& p, const Tensor& result, Creates what, bool needs_grad) {
  const Tensor& out = p.out();
  if (RG_UNLIKELY(result->has(kBatched) || out->has(kBatched))) {
    write_one(out, result, true);
    return created(p, needs_grad);
  }
  const bool fits = same_sizes(out.sizes(), result.sizes());
  // A sequence fills whatever shape has room for it.
  const bool keeps = (what == Creates::Sequence || what == Creates::Range) && out.numel() == result.numel();
  if (what == Creates::Range && !keeps && out.numel() > 0) {
    const std::string text = str_cat("The number of elements in the out tensor of shape ", out.sizes(), " is ", out.numel(),
                                     " which does not match the computed number of elements ", result.numel(),
                                     ". The tensor is resized. Rounding of the step can be the reason.");
    if (PyErr_WarnEx(PyExc_UserWarning, text.c_str(), 1) != 0) throw PythonError();
  }
  if (!fits && !keeps) resize_data(out, result.sizes());
  if (what == Creates::Nothing) {
    if (!fits) wrote_inplace(out);
    return created(p, needs_grad);
  }
  if (what != Creates::OneValue) check_no_internal_overlap(out);
  copy_data(out, keeps && !fits ? impl::view(result, out.sizes()) : result);
  wrote_inplace(out);
  return created(p, needs_grad);
}

void begin_draw(const Parsed& p, IntSpan size, bool counts) {
  if (same_sizes(p.out().sizes(), size)) return;
  resize_data(p.out(), size);
  if (counts) wrote_inplace(p.out());
}

PyObject* finish_draw(const Parsed& p, bool needs_grad) { return created(p, needs_grad); }

}  // namespace retrograd
