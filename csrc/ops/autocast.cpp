#include "ops/autocast.h"

#include <algorithm>
#include <unordered_map>
#include <utility>

#include "autograd/history.h"
#include "autograd/layers.h"
#include "core/errors.h"
#include "core/promote.h"
#include "ops.h"

namespace retrograd {

const AutocastDevice kAutocastDevice[kAutocastDevices] = {
    {"cpu", DType::BFloat16}, {"cuda", DType::Float16},         {"xpu", DType::Float16}, {"mps", DType::Float16},
    {"hpu", DType::BFloat16}, {"xla", DType::BFloat16},         {"ipu", DType::Float16}, {"maia", DType::BFloat16},
    {"mtia", DType::Float16}, {"privateuseone", DType::Float16}};

namespace {

int row_of(DeviceType type) {
  switch (type) {
    case DeviceType::CPU: return 0;
    case DeviceType::CUDA: return 1;
    case DeviceType::Meta: return -1;
    case DeviceType::Plugin: return kAutocastDevices - 1;
  }
  return -1;
}

// The row of a tensor that autocast may cast; -1: it stays as it is.
int eligible_row(const TensorImpl* t) {
  if (!is_floating(t->dtype) || t->dtype == DType::Float64) return -1;
  const int row = row_of(t->storage->device.type);  // a sample of a vmap is on meta, and says where it is from
  return row >= 0 && (thread_state.autocast >> row & 1) ? row : -1;
}

// A cast that is kept. `memory` and the counts say what it was made from: a weight that was written since, or has other memory, is cast anew.
struct Kept {
  Tensor source, cast;
  Storage* memory = nullptr;  // held
  uint32_t version = 0, hidden_writes = 0;
  bool used = true;  // since the last sweep

  Kept() = default;
  Kept(const Kept&) = delete;
  Kept& operator=(const Kept&) = delete;
  ~Kept() {
    if (memory) release(memory);
  }
  Tensor keep(const Tensor& from, const Tensor& made) {  // the cast that was there: letting go of it may run code of the program
    retain(from->storage);
    if (memory) release(memory);
    memory = from->storage;
    version = memory->version;
    hidden_writes = memory->hidden_writes;
    source = from;
    used = true;
    return std::exchange(cast, made);
  }
  bool serves(const Tensor& t, DType to) const {
    return cast && cast.dtype() == to && memory == t->storage && version == memory->version && hidden_writes == memory->hidden_writes &&
           (!thread_state.grad_mode || requires_grad(cast));
  }
};
using Casts = std::unordered_map<const TensorImpl*, Kept>;

constexpr size_t kFirstSweep = 256;

// Behind pointers: a thread that ends has no say in Python objects any more.
struct ThreadCasts {
  AutocastState state;
  Casts* casts;
  size_t sweep_at;
};
ThreadCasts& own() {
  thread_local ThreadCasts* made = [] {
    auto* t = new ThreadCasts{{}, nullptr, kFirstSweep};
    for (int i = 0; i < kAutocastDevices; ++i) t->state.dtype[i] = kAutocastDevice[i].dtype;
    return t;
  }();
  return *made;
}

// A region that goes on for long meets leaves that come and go: those that were not used for a while are forgotten.
void sweep(ThreadCasts& t) {
  std::vector<Tensor> dropped;  // freed when the map is whole again: that may run code of the program
  for (auto it = t.casts->begin(); it != t.casts->end();) {
    if (std::exchange(it->second.used, false)) {
      ++it;
      continue;
    }
    dropped.push_back(it->second.source);
    dropped.push_back(it->second.cast);
    it = t.casts->erase(it);
  }
  t.sweep_at = std::max(kFirstSweep, 2 * t.casts->size());
}

bool is_kept(const Tensor& t, DType to, const ThreadCasts& own, int row) {
  return own.state.keeps_casts && own.state.nesting > 0 && t.dtype() == DType::Float32 && to == own.state.dtype[row] &&
         t->has(kRequiresGrad) && !t->grad_fn && !t->base && !thread_state.mapped && thread_state.transform_depth == 0 && !has_layers(t);
}

Tensor cast_to(const Tensor& t, DType to, int row) {
  ThreadCasts& mine = own();
  if (!is_kept(t, to, mine, row)) return ops::_to_copy(t, to, std::nullopt);
  if (!mine.casts) mine.casts = new Casts;
  if (const auto found = mine.casts->find(t.get()); found != mine.casts->end() && found->second.serves(t, to)) {
    found->second.used = true;
    return found->second.cast;
  }
  Tensor made = ops::_to_copy(t, to, std::nullopt);  // a handler may leave autocast, and enter it again
  if (!mine.casts) return made;
  if (mine.casts->size() >= mine.sweep_at) sweep(mine);
  if (!mine.casts) return made;
  const Tensor before = (*mine.casts)[t.get()].keep(t, made);
  return made;
}

}  // namespace

AutocastState& autocast_state() { return own().state; }

void forget_casts() {
  delete std::exchange(own().casts, nullptr);
  own().sweep_at = kFirstSweep;
}

void Casting::widen(const TensorImpl* t) {
  const int row = eligible_row(t);
  if (row < 0) return;
  const DType lower = own().state.dtype[row];
  if (!any_) widest_ = lower;
  any_ = true;
  if (widest_ == DType::Float32 || t->dtype == DType::Float32) {
    widest_ = DType::Float32;
    return;
  }
  RG_CHECK(t->dtype == lower, "Unexpected floating ScalarType in at::autocast::prioritize: got a tensor of ", dtype_title(t->dtype),
           " where autocast computes in ", dtype_title(lower), ". Cast it first, or leave autocast for this op");
}

Tensor Casting::cast(const Tensor& t) const {
  if (!t || policy_ == Autocast::AsIs) return t;
  const int row = eligible_row(t.get());
  if (row < 0) return t;
  const DType to = policy_ == Autocast::LowerPrecision ? own().state.dtype[row] : policy_ == Autocast::Promote ? widest_ : DType::Float32;
  return to == t.dtype() ? t : cast_to(t, to, row);
}

}  // namespace retrograd
