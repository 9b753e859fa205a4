// Ops that name whole slices along one dimension by a vector of indices.
#include "native_index.h"
#include "ops.h"
#include "ops/checks.h"
#include "ops/dims.h"
#include "ops/index/index.h"
#include "ops/pointwise/checks.h"

namespace retrograd {
namespace {

// self and source agree but along dim, where source has one slice per index.
void check_slices(const char* op, const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  RG_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, op,
           "(): Expected dtype int32/int64 for index but got: ", dtype_title(index.dtype()));
  RG_CHECK_AS(Index, index.dim() <= 1, op, "(): Index is supposed to be a vector, but got dim: ", index.dim(),
              " with type: ", dtype_title(index.dtype()), " and size: ", index.sizes());
  RG_CHECK(self.dtype() == source.dtype(), op, "(): self (", dtype_title(self.dtype()), ") and source (", dtype_title(source.dtype()),
           ") must have the same scalar type");
  bool match = self.dim() == source.dim();
  for (int64_t d = 0; match && d < self.dim(); ++d) match = d == dim || self.size(d) == source.size(d);
  RG_CHECK(match, "source tensor shape must match self tensor shape, excluding the specified dimension. Got self.shape = ", self.sizes(),
           " source.shape = ", source.sizes());
  const int64_t along = source.dim() ? source.size(dim) : 1;
  RG_CHECK_AS(Index, source.dim() > 0 || index.numel() == 1, "Dimension specified as 0 but tensor has no dimensions");
  RG_CHECK(index.numel() == along, op, "(): Number of indices (", index.numel(), ") should be equal to source.size(dim): (", along,
           "), for dim: ", dim);
  check_same_device(self.get(), index.get(), op);
  check_same_device(self.get(), source.get(), op);
  check_no_internal_overlap(self);
}

// The sizes of self with `n` along dim.
Shape with_size(const Tensor& self, int64_t dim, int64_t n) {
  Shape shape;
  shape.ndim = self->ndim;
  for (int d = 0; d < self->ndim; ++d) shape.sizes[d] = d == dim ? n : self->size(d);
  return shape;
}

// Calls write(kernels, dim, index, error), with the index converted and out of the memory of self; gives what was wrong with it.
template <class F> kernels::IndexError write_slices(const Tensor& self, int64_t dim, const Tensor& index, int64_t work, F write) {
  const Tensor at = apart_from(cast_data(index, DType::Int64), self);
  IndexSlot e(self->device);
  {
    const Launch launch(self, work);
    write(kernels::indexing(self->device), static_cast<int>(wrap_dim(dim, self.dim())), vector_array(at), e.data());
  }
  return e.read();
}

}  // namespace

namespace rule {

Spec index_select(const Tensor& self, int64_t dim, const Tensor& index) {
  dim = wrap_dim(dim, self.dim());
  RG_CHECK_AS(Index, index.dim() <= 1, "index_select(): Index is supposed to be a vector");
  RG_CHECK(index.dtype() == DType::Int64 || index.dtype() == DType::Int32, "index_select(): Expected dtype int32 or int64 for index");
  check_same_device(self.get(), index.get(), "index_select");
  const int64_t n = index.numel();
  if (self.dim() == 0) {
    RG_CHECK(n == 1, "index_select(): Index to scalar can have only 1 value, got ", n, " value(s)");
  }
  Spec spec(self.dtype(), self->device);
  for (int d = 0; d < self->ndim; ++d) spec.add_dim(d == dim ? n : self->size(d));
  return spec;
}

void index_add_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  check_slices("index_add_", self, wrap_dim(dim, self.dim()), index, source);
  check_fits(alpha, self.dtype());
}

void index_reduce_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                       bool include_self) {
  dim = wrap_dim(dim, self.dim());
  RG_CHECK(reduce == "prod" || reduce == "mean" || reduce == "amax" || reduce == "amin",
           "index_reduce(): Expected reduce to be one of prod, mean, amax or amin but got ", reduce, ".");
  check_slices("index_reduce_", self, dim, index, source);
  if (self.dtype() == DType::Bool && (!include_self || reduce == "mean")) fail_not_implemented("index_reduce_func", self.dtype());
}

void index_copy_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  dim = wrap_dim(dim, self.dim());
  RG_CHECK_AS(Index, index.dim() <= 1, "index_copy_(): Index should have dimension 1 or 0 (got ", index.dim(), ")");
  const int64_t n = index.numel();
  RG_CHECK_AS(Index, source.dim() != 0 || n == 1, "index_copy_(): When source is scalar, index should have one element (got ", n, ")");
  RG_CHECK_AS(Index, source.dim() == self.dim() || source.dim() == 0 || self.dim() == 0,
              "index_copy_(): When source and destination are not scalars, their dimensionality must match. Got a source of ", source.dim(),
              " dimensions and a destination of ", self.dim(), ".");
  RG_CHECK(index.dtype() == DType::Int64, "index_copy_(): Expected a long tensor for index, but got ", dtype_title(index.dtype()));
  RG_CHECK(self.dtype() == source.dtype(), "index_copy_(): self and source expected to have the same dtype, but got (self) ",
           dtype_title(self.dtype()), " and (source) ", dtype_title(source.dtype()));
  if (source.dim() && self.dim()) {
    for (int64_t d = 0, at = 0; d < self.dim(); ++d) {
      if (d == dim) continue;
      RG_CHECK(self.size(d) == source.size(d),
               "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: ", self.size(d),
               " at dimension ", at, " and source slice shape: ", source.size(d), " at dimension ", at, ".");
      ++at;
    }
    RG_CHECK_AS(Index, source.size(dim) == n, "index_copy_(): Number of indices (", n, ") should be equal to source.size(dim) (",
                source.size(dim), ")");
  } else {
    // Into a 0-d tensor each of several elements is written, the last one stays.
    const bool listed = source.dim() == 1 && self.dim() == 0 && source.numel() == n;
    RG_CHECK(listed || (source.numel() == 1 && checked_numel(with_size(self, dim, n)) == 1),
             "index_copy_(): Source/destination tensor must have same slice shapes. Destination slice shape: ", self.sizes(),
             " at dimension 0 and source slice shape: ", source.sizes(), " at dimension 0.");
  }
  check_same_device(self.get(), index.get(), "index_copy_");
  check_same_device(self.get(), source.get(), "index_copy_");
  check_no_internal_overlap(self);
}

void index_fill_into(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  wrap_dim(dim, self.dim());
  RG_CHECK_AS(Index, index.dtype() == DType::Int64, "index_fill_(): Expected dtype int64 for index.");
  RG_CHECK(index.dim() <= 1, "Index has to be a vector/scalar");
  check_same_device(self.get(), index.get(), "index_fill_");
  RG_CHECK(!value.is_complex() || is_complex(self.dtype()),
           "index_fill_(): Converting complex Scalar to non-complex type is not supported");
  impl::check_representable(value, self.dtype());
  warn_expanded_write(self, "index_fill_");
}

void index_fill_tensor_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  RG_CHECK(value.dim() == 0, "index_fill_ only supports a 0-dimensional value tensor, but got tensor with ", value.dim(), " dimension(s).");
  if (!value->device.is_cpu()) check_same_device(self.get(), value.get(), "index_fill_");
  const bool far = !value->device.is_cpu();
  index_fill_into(self, dim, index, !far ? read_scalar(value.get()) : is_complex(value.dtype()) ? Scalar(Complex<double>()) : Scalar(0));
}

}  // namespace rule

namespace compute {

void index_select(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& out) {
  if (index.numel() == 0) return;
  const Tensor at = cast_data(index, DType::Int64);
  IndexSlot e(self->device);
  {
    const Launch launch(self, out.numel());
    kernels::indexing(self->device)
        .index_select(vector_array(out), vector_array(self), static_cast<int>(wrap_dim(dim, self.dim())), vector_array(at), e.data());
  }
  if (RG_UNLIKELY(!e.read().ok)) fail_range(e.read());
}

void index_add_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, Scalar alpha) {
  if (index.numel() == 0) return;
  const Tensor src = apart_from(alpha.is_complex() ? impl::mul(source, alpha) : source, self);
  if (alpha.is_complex()) alpha = Scalar(1);
  const auto e = write_slices(self, dim, index, source.numel() * 2, [&](const auto& k, int d, const auto& at, auto* error) {
    k.index_add(vector_array(self), d, at, vector_array(src), alpha.to_double(), error);
  });
  if (RG_UNLIKELY(!e.ok) && self.dim() <= 1) fail_range(e);
  check_index_found(e, ErrorKind::Runtime);
}

void index_reduce_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source, std::string_view reduce,
                       bool include_self) {
  if (index.numel() == 0) return;
  const Tensor src = apart_from(source, self);
  const auto e = write_slices(self, dim, index, source.numel() * 4, [&](const auto& k, int d, const auto& at, auto* error) {
    k.index_reduce(vector_array(self), d, at, vector_array(src), parse_reduce(reduce), include_self, error);
  });
  if (RG_UNLIKELY(!e.ok)) fail_range(e);
}

void index_copy_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& source) {
  const int64_t n = index.numel();
  if (n == 0) return;
  Tensor src = apart_from(source, self);
  const bool listed = self.dim() == 0 && src.dim() == 1 && n > 1;  // the last of them stays
  if (src.dim() != self.dim() && !listed) {
    src = expand_data(src.dim() ? alias_as(src, {}, {}, src->offset()) : src, with_size(self, wrap_dim(dim, self.dim()), n));
  }
  const auto e = write_slices(self, dim, index, source.numel() * 2, [&](const auto& k, int d, const auto& at, auto* error) {
    k.index_copy(vector_array(self), d, at, vector_array(src), error);
  });
  if (RG_UNLIKELY(!e.ok))
    fail(ErrorKind::Index, "index_copy_(): index ", e.value, " is out of bounds for dimension ", e.dim, " with size ", e.size);
}

void index_fill_into(const Tensor& self, int64_t dim, const Tensor& index, Scalar value) {
  if (index.numel() == 0) return;
  const Element element(value, self.dtype());
  const auto e = write_slices(self, dim, index, self.numel(), [&](const auto& k, int d, const auto& at, auto* error) {
    k.index_fill(vector_array(self), d, at, element.get(), error);
  });
  check_index_found(e, ErrorKind::Index);
}

void index_fill_tensor_into(const Tensor& self, int64_t dim, const Tensor& index, const Tensor& value) {
  index_fill_into(self, dim, index, read_scalar(value));
}

}  // namespace compute
}  // namespace retrograd
