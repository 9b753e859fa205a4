// resize_, set_: giving a tensor other memory or another size. Neither has a derivative.
#include <utility>

#include "autograd/engine.h"
#include "autograd/history.h"
#include "autograd/untracked.h"
#include "core/guards.h"
#include "core/write_notes.h"
#include "ops.h"
#include "ops/create/create.h"
#include "ops/shape/shape.h"

namespace retrograd::composite {

void resize_(const Tensor& self, IntSpan size, std::optional<MemoryFormat> memory_format) {
  RG_CHECK(!requires_grad(self) || thread_state.inference_mode, "cannot resize variables that require grad");
  RG_CHECK(!self->has(kBatched), "resize_() cannot be used inside vmap: a sample has no memory of its own");
  RG_CHECK(memory_format != MemoryFormat::Preserve,
           "Unsupported memory formatPreserve: resize_() makes a new layout, there is none to keep. "
           "Leave memory_format out, or name the one you want");
  check_inplace(self, false);
  const std::vector<int64_t> sizes(size.begin(), size.end());  // may be the sizes of self itself
  const bool same = same_sizes(self.sizes(), sizes) && (!memory_format || has_format(self.get(), *memory_format));
  if (same) return;
  resize_data(self, sizes);
  if (memory_format) {
    int64_t strides[kMaxDims];
    format_strides(sizes, *memory_format, strides);
    set_geometry(self.get(), sizes, {strides, sizes.size()});
  }
  wrote_inplace(self);
}

void resize_as_(const Tensor& self, const Tensor& the_template, std::optional<MemoryFormat> memory_format) {
  if (memory_format == MemoryFormat::Preserve) memory_format = apparent_format(the_template.get());
  resize_(self, the_template.sizes(), memory_format);
}

namespace {

const NodeInfo not_implemented = {.name = "NotImplemented",
                                  .bytes = sizeof(Node),
                                  .edges_offset = 0,
                                  .apply = [](Call&) { fail(ErrorKind::Runtime, "derivative for set_ is not implemented"); },
                                  .saved = {}};

// What self is now has nothing to do with what it was computed from, and nobody can say how it follows from source.
Owned<Node> set_node(const Tensor& self, const Tensor& source) {
  Owned node(new_node(not_implemented, 2));
  node.get()->set_edge(0, self.get());
  node.get()->set_edge(1, source.get());
  return node;
}

void use_memory(const Tensor& self, const Tensor& source, IntSpan sizes, IntSpan strides, int64_t offset, bool records) {
  RG_CHECK(self.dtype() == source.dtype(), "Could not set tensor of type ", dtype_title(source.dtype()), " to a tensor of type ",
           dtype_title(self.dtype()));
  RG_CHECK(self.device() == source.device(), "Attempted to set the storage of a tensor on device \"", device_name(self.device()),
           "\" to a storage on different device \"", device_name(source.device()), "\"");
  check_inplace(self, requires_grad(self) || requires_grad(source));
  RG_CHECK(!self->has(kBatched) && !source->has(kBatched), "set_() cannot be used inside vmap: a sample has no memory of its own");
  drop_tangents(self.get());
  const bool recorded = records && thread_state.grad_mode && (requires_grad(self) || requires_grad(source));
  Owned<Node> history = recorded ? set_node(self, source) : Owned<Node>();
  const Tensor made = impl::as_strided(source, sizes, strides, offset);
  move_to(self.get(), made->storage);
  self->data = made->data;
  set_geometry(self.get(), made.sizes(), made.strides());
  before_write(self.get());  // it counts as a write, to whoever shares the new memory too, and changes nothing there
  wrote_inplace(self);
  if (!self->grad_fn)
    self->accumulator = nullptr;  // another leaf: what was computed from the old one leads to a node that this one has left
  if (recorded) return rebase_history(self, history.release());
  if (any_tracked_or_cut(self, source)) note_written("set_", false, self, source);
}

}  // namespace

void set_(const Tensor& self) {
  const Tensor nothing = retrograd::empty(ints({0}), self.dtype(), self.device());
  use_memory(self, nothing, nothing.sizes(), nothing.strides(), 0, true);
}

void set_source_Tensor_(const Tensor& self, const Tensor& source) {
  use_memory(self, source, source.sizes(), source.strides(), source->offset(), true);
}

void set_source_Tensor_storage_offset_(const Tensor& self, const Tensor& source, int64_t storage_offset, IntSpan size, IntSpan stride) {
  RG_CHECK(source.is_contiguous(), "passed in tensor to be used as storage must be contiguous");
  int64_t strides[kMaxDims];
  RG_CHECK(size.size() <= static_cast<size_t>(kMaxDims), "a tensor has at most ", kMaxDims, " dimensions, got ", size.size());
  if (stride.empty()) {
    format_strides(size, MemoryFormat::Contiguous, strides);
    stride = {strides, size.size()};
  }
  use_memory(self, source, size, stride, source->offset() + storage_offset, false);
}

Tensor sum_to_size(const Tensor& self, IntSpan size) {
  bool fits = size.size() <= static_cast<size_t>(self.dim());
  const size_t extra = fits ? static_cast<size_t>(self.dim()) - size.size() : 0;
  for (size_t d = 0; fits && d < size.size(); ++d) fits = size[d] == 1 || size[d] == self.sizes()[d + extra];
  RG_CHECK(fits, "size {", size, "} is not expandable to size {", self.sizes(), "}.");
  int64_t dims[kMaxDims];
  size_t count = 0;
  for (size_t d = 0; d < static_cast<size_t>(self.dim()); ++d)
    if (d < extra || (size[d - extra] == 1 && self.sizes()[d] != 1)) dims[count++] = static_cast<int64_t>(d);
  if (size.empty()) return ops::sum(self, std::nullopt);  // of a number too: integers become int64
  if (count == 0) return self;
  const Tensor kept = ops::sum_dim(self, IntSpan{dims, count}, true, std::nullopt);
  return extra ? ops::view(kept, size) : kept;
}

}  // namespace retrograd::composite
