// gather, scatter and their relatives: one index per element. take and put address the flattened tensor.
#include <cstring>

#include "ops.h"
#include "ops/checks.h"
#include "ops/index/index.h"

namespace retrograd {

Tensor index_as_int64(const Tensor& index, const char* op) {
  if (RG_LIKELY(index.dtype() == DType::Int64)) return index;
  RG_CHECK(index.dtype() == DType::Int32 || index.numel() == 0, op, "(): Expected dtype int32/int64 for index");
  return cast_data(index, DType::Int64);
}

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

// index [.., j, ..] must fit into `self` but along dim, and into `src` (may be null) everywhere.
void check_scatter(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
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

// The arguments of a scatter, checked, converted and out of each other's memory.
struct Scatter {
  int dim;
  Tensor index, src;
  bool empty;

  Scatter(const char* op, const Tensor& self, int64_t d, const Tensor& i, const Tensor& s) {
    dim = static_cast<int>(wrap_dim(d, self.dim()));
    check_scatter(self, dim, i, s);
    check_same_device(self.get(), i.get(), op);
    if (s) {
      RG_CHECK(self.dtype() == s.dtype(), "scatter(): Expected self.dtype to be equal to src.dtype");
      check_same_device(self.get(), s.get(), op);
      src = apart_from(s, self);
    }
    index = apart_from(index_as_int64(i, op), self);
    check_no_internal_overlap(self);
    empty = i.numel() == 0 || is_meta(self);
  }
};

}  // namespace

namespace impl {

Tensor gather(const Tensor& self, int64_t dim, const Tensor& index, bool) {
  dim = wrap_dim(dim, self.dim());
  check_same_device(self.get(), index.get(), "gather");
  const Tensor at = index_as_int64(index, "gather");
  Tensor out = empty(index.sizes(), self.dtype(), self.device());
  if (index.numel() == 0) return out;
  RG_CHECK(at_least_one(index.dim()) == at_least_one(self.dim()), "Index tensor must have the same number of dimensions as input tensor");
  for (int64_t d = 0; d < at_least_one(index.dim()); ++d) {
    RG_CHECK(d == dim || size_of(index, d) <= size_of(self, d), "Size does not match at dimension ", d, " expected index ", index.sizes(),
             " to be no larger than self ", self.sizes(), " apart from dimension ", dim);
  }
  if (is_meta(out)) return out;
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel() * 2);
    kernels::indexing(self->device).gather(vector_array(out), vector_array(self), static_cast<int>(dim), vector_array(at), e.data());
  }
  check_index_found(e.read(), ErrorKind::Runtime);
  return out;
}

void scatter_src_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  const Scatter s("scatter", self, dim, index, src);
  if (s.empty) return;
  IndexSlot e(self->device);
  {
    const Launch launch(self, index.numel() * 2);
    kernels::indexing(self->device).scatter(vector_array(self), s.dim, vector_array(s.index), vector_array(s.src), e.data());
  }
  check_index_found(e.read(), ErrorKind::Runtime);
}

void scatter_value_into(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  const Scatter s("scatter", self, dim, index, {});
  if (s.empty) return;
  const Element element(value, self.dtype());
  IndexSlot e(self->device);
  {
    const Launch launch(self, index.numel() * 2);
    kernels::indexing(self->device).scatter_value(vector_array(self), s.dim, vector_array(s.index), element.get(), e.data());
  }
  check_index_found(e.read(), ErrorKind::Runtime);
}

void scatter_reduce_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                         bool include_self) {
  const kernels::Reduce kind = parse_reduce(reduce);
  const Scatter s("scatter_reduce", self, dim, index, src);
  if (s.empty) return;
  IndexSlot e(self->device);
  {
    const Launch launch(self, index.numel() * 4);
    kernels::indexing(self->device)
        .scatter_reduce(vector_array(self), s.dim, vector_array(s.index), vector_array(s.src), kind, include_self, e.data());
  }
  check_index_found(e.read(), ErrorKind::Runtime);
}

void scatter_add_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  scatter_reduce_into(self, dim, index, src, "sum", true);
}

Tensor scatter_src(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = contiguous_copy(self);
  scatter_src_into(out, dim, index, src);
  return out;
}

Tensor scatter_value(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  Tensor out = contiguous_copy(self);
  scatter_value_into(out, dim, index, value);
  return out;
}

Tensor scatter_add(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src) {
  Tensor out = contiguous_copy(self);
  scatter_add_into(out, dim, index, src);
  return out;
}

Tensor scatter_reduce_two(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& src, std::string_view reduce,
                          bool include_self) {
  Tensor out = contiguous_copy(self);
  scatter_reduce_into(out, dim, index, src, reduce, include_self);
  return out;
}

namespace {

[[noreturn]] void fail_take(const kernels::IndexError& e) {
  fail(ErrorKind::Index, "out of range: tried to access index ", e.value, " on a tensor of ", e.size, " elements.");
}

}  // namespace

Tensor take(const Tensor& self, const Tensor& index) {
  RG_CHECK(index.dtype() == DType::Int64, "take(): Expected a long tensor for index, but got ", dtype_title(index.dtype()));
  RG_CHECK_AS(Index, self.numel() != 0 || index.numel() == 0, "take(): tried to take from an empty tensor");
  check_same_device(self.get(), index.get(), "take");
  Tensor out = empty(index.sizes(), self.dtype(), self.device());
  if (out.numel() == 0 || is_meta(out)) return out;
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel() * 2);
    kernels::indexing(self->device).take(vector_array(out), vector_array(self), vector_array(index), e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_take(e.read());
  return out;
}

void put_into(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
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
  if (index.numel() == 0 || is_meta(self)) return;
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

Tensor put(const Tensor& self, const Tensor& index, const Tensor& source, bool accumulate) {
  Tensor out = clone_data(self);
  put_into(out, index, source, accumulate);
  return out;
}

}  // namespace impl
}  // namespace retrograd
