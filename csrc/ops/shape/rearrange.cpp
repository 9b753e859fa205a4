// Elements in other places or several times: repeat, repeat_interleave, flip, roll, rot90, tril, triu.
#include <algorithm>

#include "core/transfer.h"
#include "kernels/copy.h"
#include "kernels/index.h"
#include "native_shape.h"
#include "ops.h"
#include "ops/overlap.h"
#include "ops/shape/shape.h"

namespace retrograd {

using namespace shape;

namespace {

// The repeats as kernels want them; `place` holds a copy where it takes one.
const Tensor& counts_of(const Tensor& repeats, Tensor& place) {
  if (RG_LIKELY(repeats.dtype() == DType::Int64 && repeats.is_contiguous())) return repeats;
  return place = contiguous_data(cast_data(repeats, DType::Int64));
}

// What repeats add up to.
int64_t total_of(const Tensor& repeats) {
  Tensor place;
  const Tensor& counts = counts_of(repeats, place);
  Answer<int64_t> total(counts->device);
  {
    const Launch launch(counts, counts.numel());
    kernels::indexing(counts->device).repeat_total(total.data(), counts.data<int64_t>(), counts.numel());
  }
  RG_CHECK(total.read() >= 0, "repeats can not be negative");
  return total.read();
}

struct Flipped {
  bool dims[kMaxDims] = {};
  Flipped(const Tensor& self, IntSpan given) {
    const uint64_t mask = given.empty() ? 0 : dim_mask(given, self.dim(), "flip");
    for (int64_t d = 0; d < self.dim(); ++d) dims[d] = mask >> d & 1;
  }
};

using Triangle = decltype(&kernels::IndexKernels::tril);

void check_matrices(const Tensor& self, const char* name) {
  RG_CHECK(self.dim() >= 2, name, ": input tensor must have at least 2 dimensions");
}

void write_triangle(const Tensor& out, const Tensor& in, int64_t diagonal, Triangle kernel) {
  const Launch launch(out, out.numel() / 2);
  (kernels::indexing(out->device).*kernel)(out.array(), in.array(),
                                           std::clamp(diagonal, -in.size(-2), in.size(-1)));  // the kernels add to it
}

}  // namespace

namespace rule {

Spec repeat(const Tensor& self, IntSpan repeats) {
  const int64_t n = self.dim(), extra = static_cast<int64_t>(repeats.size()) - n;
  RG_CHECK(extra >= 0, "Number of dimensions of repeat dims can not be smaller than number of dimensions of tensor");
  Spec spec(self.dtype(), self->device);
  for (int64_t d = 0; d < n + extra; ++d) {
    int64_t size;
    RG_CHECK(!__builtin_mul_overflow(d < extra ? 1 : self.size(d - extra), repeats[static_cast<size_t>(d)], &size),
             "Storage size calculation overflowed with repeats=", repeats);
    spec.add_dim(size);
  }
  return spec;
}

Spec repeat_interleave_Tensor(const Tensor& repeats, std::optional<int64_t> output_size) {
  RG_CHECK(repeats.dim() == 1, "repeat_interleave only accept 1D vector as repeat");
  RG_CHECK_AS(NotImplemented, repeats.dtype() == DType::Int64 || repeats.dtype() == DType::Int32,
              "\"repeat_interleave_cpu\" not implemented for '", dtype_title(repeats.dtype()), "'");
  RG_CHECK(output_size || !any_on_meta(repeats), "cannot repeat_interleave a meta tensor without output_size");
  return Spec(ints({output_size ? *output_size : total_of(repeats)}), repeats.dtype(), repeats->device);
}

Spec flip(const Tensor& self, IntSpan dims) {
  Flipped(self, dims);
  return Spec::like(self);
}

Spec roll(const Tensor& self, IntSpan shifts, IntSpan dims) {
  RG_CHECK(!shifts.empty(), "`shifts` required");
  const bool flat = dims.empty() && shifts.size() == 1;
  RG_CHECK(flat || shifts.size() == dims.size(), "shifts and dimensions must align. shifts: ", shifts.size(), ", dims:", dims.size());
  for (size_t i = 0; i < dims.size() && self.numel() != 0; ++i) {  // of nothing, the dims may be any
    RG_CHECK_AS(Index, self.dim() > 0, "Dimension specified as ", dims[i], " but tensor has no dimensions");
    wrap_dim(dims[i], self.dim());
  }
  return Spec::of(self);
}

Spec tril(const Tensor& self, int64_t) { return check_matrices(self, "tril"), Spec::of(self); }
Spec triu(const Tensor& self, int64_t) { return check_matrices(self, "triu"), Spec::of(self); }
void tril_(const Tensor& self, int64_t) { check_matrices(self, "tril_"); }
void triu_(const Tensor& self, int64_t) { check_matrices(self, "triu_"); }

}  // namespace rule

namespace compute {

void repeat(const Tensor& self, IntSpan repeats, const Tensor& out) {
  // Each repeated dimension becomes two, of which self is expanded along the outer.
  Geometry dst, src;
  const int64_t extra = out.dim() - self.dim();
  for (int64_t d = 0; d < out.dim(); ++d) {
    const int64_t have = d < extra ? 1 : self.size(d - extra), r = repeats[static_cast<size_t>(d)];
    if (r != 1) {
      dst.add(r, have * out.stride(d));
      src.add(r, 0);
    }
    if (have != 1) {
      dst.add(have, out.stride(d));
      src.add(have, self.stride(d - extra));
    }
  }
  const Launch launch(self, out.numel() / 2);
  kernels::copy(out->device)
      .copy({out->data, out.dtype(), dst.ndim, dst.sizes, dst.strides}, {self->data, self.dtype(), src.ndim, src.sizes, src.strides});
}

void repeat_interleave_Tensor(const Tensor& repeats, std::optional<int64_t> output_size, const Tensor& out) {
  if (output_size) {
    const int64_t total = total_of(repeats);
    RG_CHECK(*output_size == total, "allocated size does not match required size: output_size is ", *output_size,
             " but the repeats add up to ", total);
  }
  if (out.numel() == 0) return;
  Tensor place;
  const Tensor& counts = counts_of(repeats, place);
  const Tensor found = out.dtype() == DType::Int64 ? out : retrograd::empty(out.sizes(), DType::Int64, out.device());
  {
    const Launch launch(found, found.numel());
    kernels::indexing(found->device).repeat_index(found.data<int64_t>(), counts.data<int64_t>(), counts.numel());
  }
  if (!found.is(out)) copy_data(out, found);
}

void flip(const Tensor& self, IntSpan dims, const Tensor& out) {
  const Launch launch(self, out.numel() / 2);
  kernels::flip(out->device, out.array(), self.array(), Flipped(self, dims).dims);
}

void roll(const Tensor& self, IntSpan shifts, IntSpan dims, const Tensor& out) {
  if (dims.empty()) {
    const Tensor flat = contiguous_data(self);
    const int64_t size[] = {self.numel()}, stride[] = {1};
    const Launch launch(self, out.numel() / 2);
    return kernels::roll(out->device, {out->data, out.dtype(), 1, size, stride}, {flat->data, flat.dtype(), 1, size, stride},
                         shifts.data());
  }
  int64_t shift[kMaxDims] = {};
  for (size_t i = 0; i < dims.size(); ++i) {
    const int64_t d = wrap_dim(dims[i], self.dim()), n = self.size(d);
    shift[d] = (shift[d] + shifts[i] % n) % n;
  }
  const Launch launch(self, out.numel() / 2);
  kernels::roll(out->device, out.array(), self.array(), shift);
}

void tril(const Tensor& self, int64_t diagonal, const Tensor& out) { write_triangle(out, self, diagonal, &kernels::IndexKernels::tril); }
void triu(const Tensor& self, int64_t diagonal, const Tensor& out) { write_triangle(out, self, diagonal, &kernels::IndexKernels::triu); }
void tril_(const Tensor& self, int64_t diagonal) { tril(self, diagonal, self); }
void triu_(const Tensor& self, int64_t diagonal) { triu(self, diagonal, self); }

}  // namespace compute

namespace impl {

Tensor rot90(const Tensor& self, int64_t k, IntSpan dims) {
  RG_CHECK(dims.size() == 2, "expected total rotation dims == 2, but got dims = ", dims.size());
  RG_CHECK(self.dim() >= 2, "expected total dims >= 2, but got total dims = ", self.dim());
  const int64_t a = wrap_dim(dims[0], self.dim()), b = wrap_dim(dims[1], self.dim());
  RG_CHECK(a != b, "expected rotation dims to be different, but got dim0 = ", dims[0], " and dim1 = ", dims[1]);
  switch (((k % 4) + 4) % 4) {
    case 1: return transpose(flip(self, ints({b})), a, b);
    case 2: return flip(self, ints({a, b}));
    case 3: return transpose(flip(self, ints({a})), a, b);
    default: return clone_format(self, MemoryFormat::Contiguous);
  }
}

}  // namespace impl

namespace composite {

Tensor tile(const Tensor& self, IntSpan dims) {
  Shape repeats;
  const int64_t missing = self.dim() - static_cast<int64_t>(dims.size());
  RG_CHECK(dims.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", dims.size());
  for (int64_t i = 0; i < missing; ++i) repeats.sizes[repeats.ndim++] = 1;
  for (const int64_t d : dims) repeats.sizes[repeats.ndim++] = d;
  return ops::repeat(self, repeats);
}

Tensor repeat_interleave_self_int(const Tensor& self, int64_t repeats, std::optional<int64_t> dim, std::optional<int64_t> output_size) {
  RG_CHECK(repeats >= 0, "Repeats must be non-negative");
  const Tensor source = dim ? self : ops::flatten(self, 0, -1);
  RG_CHECK_AS(Index, source.dim() > 0, "Dimension specified as ", dim.value_or(0), " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim.value_or(0), source.dim());
  RG_CHECK(!output_size || *output_size == repeats * source.size(d), "repeat_interleave: Invalid output_size, expected ",
           repeats * source.size(d), " but got ", output_size.value_or(0));
  // A new dimension behind d, expanded and merged into it.
  const Tensor spread = ops::unsqueeze(source, d + 1);
  Shape sizes;
  for (int64_t k = 0; k < spread.dim(); ++k) sizes.sizes[sizes.ndim++] = k == d + 1 ? repeats : spread.size(k);
  return ops::flatten(ops::clone_format(ops::expand(spread, sizes, false), MemoryFormat::Contiguous), d, d + 1);
}

Tensor repeat_interleave_self_Tensor(const Tensor& self, const Tensor& repeats, std::optional<int64_t> dim,
                                     std::optional<int64_t> output_size) {
  const Tensor input = dim ? self : ops::flatten(self, 0, -1);
  RG_CHECK_AS(Index, input.dim() > 0, "Dimension specified as ", dim.value_or(0), " but tensor has no dimensions");
  const int64_t d = wrap_dim(dim.value_or(0), input.dim()), n = input.size(d);
  Tensor counts = repeats;
  if (repeats.dim() == 0 || (repeats.dim() == 1 && repeats.size(0) == 1)) {
    counts = ops::expand(ops::reshape(repeats, ints({1})), ints({n}), false);
  } else {
    RG_CHECK(repeats.dim() == 1, "repeats must be 0-dim or 1-dim tensor");
    RG_CHECK(repeats.size(0) == n, "repeats must have the same size as input along dim, but got repeats.size(0) = ", repeats.size(0),
             " and input.size(", d, ") = ", n);
  }
  return ops::index_select(input, d, ops::repeat_interleave_Tensor(counts, output_size));
}

Tensor fliplr(const Tensor& self) {
  RG_CHECK(self.dim() >= 2, "Input must be >= 2-d.");
  return ops::flip(self, ints({1}));
}

Tensor flipud(const Tensor& self) {
  RG_CHECK(self.dim() >= 1, "Input must be >= 1-d.");
  return ops::flip(self, ints({0}));
}

}  // namespace composite
}  // namespace retrograd
