// What sparse tensors are computed with: products by the places of elements, and the places that are the same. See retrograd/_ops/sparse.
#include "kernels/sparse.h"

#include "core/launch.h"
#include "core/transfer.h"
#include "native_sparse.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/data.h"
#include "ops/dims.h"

namespace retrograd {
namespace {

void check_places(const char* name, const Tensor& rows, const Tensor& columns) {
  RG_CHECK(rows.dim() == 1 && columns.dim() == 1 && rows.numel() == columns.numel() && rows.dtype() == DType::Int64 &&
               columns.dtype() == DType::Int64,
           name, ": expected rows and columns to be vectors of as many int64 each, got ", rows.sizes(), " and ", columns.sizes());
}

void check_elements(const char* name, const Tensor& a, const Tensor& b) {
  RG_CHECK(a.dtype() == b.dtype(), "expected m1 and m2 to have the same dtype, but got: ", cpp_type_name(a.dtype()),
           " != ", cpp_type_name(b.dtype()));
  const DType t = a.dtype();
  RG_CHECK_AS(NotImplemented, t == DType::Float32 || t == DType::Float64 || t == DType::Int64 || is_complex(t), "\"", name,
              "\" not implemented for '", dtype_title(t), "'");
}

}  // namespace

namespace rule {

Spec _sparse_mm(const Tensor& rows, const Tensor& columns, const Tensor& values, const Tensor& mat, int64_t size) {
  check_places("_sparse_mm", rows, columns);
  RG_CHECK(values.dim() == 1 && values.numel() == rows.numel() && mat.dim() == 2 && size >= 0,
           "_sparse_mm: expected a value for each place and a matrix, got ", values.sizes(), " and ", mat.sizes());
  check_elements("_sparse_mm", values, mat);
  check_same_device(values.get(), mat.get(), "_sparse_mm");
  check_same_device(values.get(), rows.get(), "_sparse_mm");
  return Spec(ints({size, mat.size(1)}), mat.dtype(), mat->device);
}

Spec _sparse_dots(const Tensor& rows, const Tensor& columns, const Tensor& a, const Tensor& b) {
  check_places("_sparse_dots", rows, columns);
  RG_CHECK(a.dim() == 2 && b.dim() == 2 && a.size(1) == b.size(1), "_sparse_dots: expected matrices of rows of one length, got ", a.sizes(),
           " and ", b.sizes());
  check_elements("_sparse_dots", a, b);
  check_same_device(a.get(), b.get(), "_sparse_dots");
  check_same_device(a.get(), rows.get(), "_sparse_dots");
  return Spec(ints({rows.numel()}), a.dtype(), a->device);
}

std::array<Spec, 2> _group_keys(const Tensor& keys) {
  RG_CHECK(keys.dim() == 1 && keys.dtype() == DType::Int64, "_group_keys: expected a vector of int64, got ", keys.sizes(), " of dtype ",
           dtype_title(keys.dtype()));
  return {Spec::of(keys), Spec::of(keys)};
}

}  // namespace rule

namespace compute {

void _sparse_mm(const Tensor& rows, const Tensor& columns, const Tensor& values, const Tensor& mat, int64_t, const Tensor& out) {
  const Tensor r = contiguous_data(rows), c = contiguous_data(columns), v = contiguous_data(values), m = contiguous_data(mat);
  IndexSlot e(out->device);
  {
    const Launch launch(out, v.numel() * mat.size(1) / 2);
    kernels::sparse(out->device).mm(out.array(), r.array(), c.array(), v.array(), m.array(), e.data());
  }
  check_index_found(e.read(), ErrorKind::Index);
}

void _sparse_dots(const Tensor& rows, const Tensor& columns, const Tensor& a, const Tensor& b, const Tensor& out) {
  const Tensor r = contiguous_data(rows), c = contiguous_data(columns), x = contiguous_data(a), y = contiguous_data(b);
  IndexSlot e(out->device);
  {
    const Launch launch(out, r.numel() * a.size(1) / 2);
    kernels::sparse(out->device).dots(out.array(), r.array(), c.array(), x.array(), y.array(), e.data());
  }
  check_index_found(e.read(), ErrorKind::Index);
}

void _group_keys(const Tensor& keys, const Tensor& order, const Tensor& group) {
  const Tensor k = contiguous_data(keys), spare = empty(ints({2 * keys.numel()}), DType::Int64, keys->device);
  Answer<int64_t> count(keys->device);
  {
    const Launch launch(keys, keys.numel() * 10);
    kernels::sparse(keys->device)
        .group(order.data<int64_t>(), group.data<int64_t>(), spare.data<int64_t>(), count.data(), k.data<int64_t>(), keys.numel());
  }
  RG_CHECK_AS(Index, count.read() >= 0, "_group_keys: a negative key is out of range");
}

}  // namespace compute
}  // namespace retrograd
