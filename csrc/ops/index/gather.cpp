// gather, scatter and their relatives: one index per element. take and put address the flattened tensor.
#include "native_index.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/index/index.h"
#include "ops/lazy.h"
#include "ops/pointwise/checks.h"

namespace retrograd {

kernels::Reduce parse_reduce(std::string_view reduce) {
  if (reduce == "sum") return kernels::Reduce::Sum;
  if (reduce == "prod") return kernels::Reduce::Prod;
  if (reduce == "mean") return kernels::Reduce::Mean;
  if (reduce == "amax") return kernels::Reduce::Amax;
  if (reduce == "amin") return kernels::Reduce::Amin;
  fail(ErrorKind::Runtime, "reduce argument must be either sum, prod, mean, amax or amin, got ", reduce);
}

namespace {

int64_t at_least_one(int64_t ndim) { return ndim ? ndim : 1; }
int64_t size_of(const Tensor& t, int64_t d) { return t.dim() ? t.size(d) : 1; }

void check_index_dtype(const Tensor& index, const char* op) {
  if (RG_LIKELY(index.dtype() == DType::Int64)) return;
  RG_CHECK(index.dtype() == DType::Int32 || index.numel() == 0, op, "(): Expected dtype int32/int64 for index");
}

// index [.., j, ..] must fit into `self` but along dim, and into `src` (may be null) everywhere.
void check_index_sizes(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  if (index.numel() == 0) return;
  RG_CHECK(at_least_one(index.dim()) == at_least_one(self.dim()), "Index tensor must have the same number of dimensions as self tensor");
  if (src) {
    RG_CHECK(at_least_one(index.dim()) == at_least_one(src.dim()), "Index tensor must have the same number of dimensions as src tensor");
  }
  for (int64_t d = 0; d < at_least_one(index.dim()); ++d) {
    const bool fits = (d == dim || size_of(index, d) <= size_of(self, d)) && (!src || size_of(index, d) <= size_of(src, d));
    if (RG_LIKELY(fits)) continue;
    if (!src)
      fail(ErrorKind::Runtime, "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ",
           dim);
    fail(ErrorKind::Runtime, "Expected index ", index.sizes(), " to be no larger than self ", self.sizes(), " apart from dimension ", dim,
         " and to be no larger size than src ", src.sizes());
  }
}

void check_scatter(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_index_sizes(self, wrap_dim(dim, self.dim()), index, src);
  check_same_device(self.get(), index.get(), op);
  if (src) {
    RG_CHECK(self.dtype() == src.dtype(), "scatter(): Expected self.dtype to be equal to src.dtype");
    check_same_device(self.get(), src.get(), op);
  }
  check_index_dtype(index, op);
  check_no_internal_overlap(self);
}

// Calls scatter(kernels, dim, index, error), with the index converted and out of the memory of self.
template <class F> void run_scatter(const Tensor& self, int64_t dim, const Tensor& index, int cost, F scatter) {
  if (index.numel() == 0) return;
  const Tensor at = apart_from(cast_data(index, DType::Int64), self);
  IndexSlot e(self->device);
  {
    const Launch launch(self, index.numel() * cost);
    scatter(kernels::indexing(self->device), static_cast<int>(wrap_dim(dim, self.dim())), vector_array(at), e.data());
  }
  check_index_found(e.read(), ErrorKind::Runtime);
}

[[noreturn]] void fail_take(const kernels::IndexError& e) {
  fail(ErrorKind::Index, "out of range: tried to access index ", e.value, " on a tensor of ", e.size, " elements.");
}

}  // namespace

namespace rule {

Spec gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  dim = wrap_dim(dim, self.dim());
  check_same_device(self.get(), index.get(), "gather");
  check_index_dtype(index, "gather");
  if (index.numel() == 0) return Spec::of(index, self.dtype());
  RG_CHECK(at_least_one(index.dim()) == at_least_one(self.dim()), "Index tensor must have the same number of dimensions as input tensor");
  for (int64_t d = 0; d < at_least_one(index.dim()); ++d) {
    RG_CHECK(d == dim || size_of(index, d) <= size_of(self, d), "Size does not match at dimension ", d, " expected index ", index.sizes(),
             " to be no larger than self ", self.sizes(), " apart from dimension ", dim);
  }
  return Spec::of(index, self.dtype());
}

void scatter_src_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter("scatter", self, dim, index, src);
}

void scatter_value_into(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  check_scatter("scatter", self, dim, index, {});
  if (index.numel()) impl::check_representable(value, self.dtype());
}

void scatter_add_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  check_scatter("scatter_reduce", self, dim, index, src);
}

void scatter_reduce_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce, bool) {
  parse_reduce(reduce);
  check_scatter("scatter_reduce", self, dim, index, src);
}

Spec take(const Tensor& self, const Tensor& index) {
  RG_CHECK(index.dtype() == DType::Int64, "take(): Expected a long tensor for index, but got ", dtype_title(index.dtype()));
  RG_CHECK_AS(Index, self.numel() != 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  check_same_device(self.get(), index.get(), "take");
  return Spec::of(index, self.dtype());
}

void put_into(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  if (accumulate) check_known("put", self);
  RG_CHECK(index.dtype() == DType::Int64, "put_(): Expected a long tensor for index, but got ", dtype_title(index.dtype()));
  RG_CHECK(self.dtype() == source.dtype(),
           "put_(): self and source expected to have the same dtype, but got self.dtype = ", dtype_title(self.dtype()),
           " and source.dtype = ", dtype_title(source.dtype()));
  RG_CHECK_AS(Index, index.numel() == source.numel(),
              "put_(): Expected source and index to have the same number of elements, but got source.numel() = ", source.numel(),
              ", index.numel() = ", index.numel());
  RG_CHECK_AS(Index, self.numel() != 0 || index.numel() == 0, "put_(): Tried to put elements into an empty tensor");
  check_same_device(self.get(), index.get(), "put_");
  check_same_device(self.get(), source.get(), "put_");
  check_no_internal_overlap(self);
}

}  // namespace rule

namespace compute {

void gather(const Tensor& self, int64_t dim, const Tensor& index, bool, const Tensor& out) {
  const Tensor at = cast_data(index, DType::Int64);
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel() * 2);
    kernels::indexing(self->device)
        .gather(vector_array(out), vector_array(self), static_cast<int>(wrap_dim(dim, self.dim())), vector_array(at), e.data());
  }
  check_index_found(e.read(), ErrorKind::Runtime);
}

void scatter_src_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  const Tensor from = apart_from(src, self);
  run_scatter(self, dim, index, 2, [&](const kernels::IndexKernels& k, int d, const kernels::Array& at, kernels::IndexError* e) {
    k.scatter(vector_array(self), d, at, vector_array(from), e);
  });
}

void scatter_value_into(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  run_scatter(self, dim, index, 2, [&](const kernels::IndexKernels& k, int d, const kernels::Array& at, kernels::IndexError* e) {
    k.scatter_value(vector_array(self), d, at, Element(value, self.dtype()).get(), e);
  });
}

void scatter_reduce_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                         bool include_self) {
  const Tensor from = apart_from(src, self);
  run_scatter(self, dim, index, 4, [&](const kernels::IndexKernels& k, int d, const kernels::Array& at, kernels::IndexError* e) {
    k.scatter_reduce(vector_array(self), d, at, vector_array(from), parse_reduce(reduce), include_self, e);
  });
}

void scatter_add_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_reduce_into(self, dim, index, src, "sum", true);
}

void take(const Tensor& self, const Tensor& index, const Tensor& out) {
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel() * 2);
    kernels::indexing(self->device).take(vector_array(out), vector_array(self), vector_array(index), e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_take(e.read());
}

void put_into(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  if (index.numel() == 0) return;
  const int64_t n = index.numel(), one = 1;
  const Tensor at = contiguous_data(apart_from(index, self)), src = contiguous_data(apart_from(source, self));
  IndexSlot e(self->device);
  {
    const Launch launch(self, n * 4);
    kernels::indexing(self->device)
        .put(vector_array(self), {at->data, DType::Int64, 1, &n, &one}, {src->data, src->dtype, 1, &n, &one}, accumulate, e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_take(e.read());
}

}  // namespace compute
}  // namespace retrograd
