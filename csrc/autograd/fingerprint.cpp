#include "autograd/fingerprint.h"

#include <cstring>
#include <unordered_map>

#include "autograd/node.h"
#include "core/promote.h"
#include "core/state.h"

namespace retrograd {

size_t memory_check_limit = 16384;

namespace {

// What a storage held when it was handed out. Valid while its versions are the same: otherwise a visible write came after.
struct StorageRecord {
  uint32_t version, hidden_writes;
  uint64_t hash;
};
std::unordered_map<const SavedTensor*, uint64_t> of_saved;  // both guarded by the GIL
std::unordered_map<const Storage*, StorageRecord> of_storage;

uint64_t mixed(uint64_t h, uint64_t word) {
  h ^= word;
  h *= 0x9e3779b97f4a7c15u;
  return h ^ (h >> 29);
}

uint64_t hash_bytes(const void* data, size_t n, uint64_t h) {
  const auto* p = static_cast<const unsigned char*>(data);
  uint64_t lanes[4] = {h, h + 1, h + 2, h + 3};
  for (; n >= 32; n -= 32, p += 32)
    for (int i = 0; i < 4; ++i) {
      uint64_t word;
      std::memcpy(&word, p + 8 * i, 8);
      lanes[i] = mixed(lanes[i], word);
    }
  uint64_t out = mixed(mixed(mixed(lanes[0], lanes[1]), lanes[2]), lanes[3]);
  while (n > 0) {
    uint64_t word = 0;
    const size_t step = n < 8 ? n : 8;
    std::memcpy(&word, p, step);
    out = mixed(out, word);
    p += step;
    n -= step;
  }
  return out;
}

uint64_t hash_dim(const TensorImpl* t, int d, const char* data, uint64_t h) {
  const size_t item = static_cast<size_t>(itemsize(t->dtype));
  if (d == t->ndim) return hash_bytes(data, item, h);
  const int64_t step = t->stride(d) * static_cast<int64_t>(item);
  if (d + 1 == t->ndim && t->stride(d) == 1) return hash_bytes(data, static_cast<size_t>(t->size(d)) * item, h);
  for (int64_t i = 0; i < t->size(d); ++i) h = hash_dim(t, d + 1, data + i * step, h);
  return h;
}

uint64_t hash_tensor(const TensorImpl* t) {
  if (t->is_contiguous()) return hash_bytes(t->data, static_cast<size_t>(t->numel * itemsize(t->dtype)), 0);
  return hash_dim(t, 0, static_cast<const char*>(t->data), 0);
}

[[noreturn, gnu::cold]] void fail_written(const SavedTensor& saved, const Node* owner) {
  const TensorImpl* t = saved.tensor;
  std::string text = str_cat("one of the variables needed for gradient computation has been modified by an inplace operation: [torch.",
                             dtype_storage_name(t->dtype), " ", t->shape(),
                             "] was written from outside, through a NumPy array or DLPack capsule that shares its memory.");
  if (owner->site.code) text += "\n  saved for " + std::string(node_name(owner)) + " at " + site_text(owner->site);
  text += "\nHint: hand out a copy (x.detach().clone().numpy(), torch.tensor(array)), or make the change after backward().";
  throw Error(ErrorKind::Runtime, text);
}

}  // namespace

void remember_fingerprint(SavedTensor& saved) {
  const TensorImpl* t = saved.tensor;
  if (t->device.type == DeviceType::Meta || static_cast<size_t>(t->numel * itemsize(t->dtype)) > memory_check_limit) return;
  of_saved[&saved] = hash_tensor(t);
  saved.fingerprinted = true;
}

void check_fingerprint(const SavedTensor& saved, const Node* owner) {
  if (saved.fingerprinted) {
    if (hash_tensor(saved.tensor) != of_saved.at(&saved)) fail_written(saved, owner);
    return;
  }
  const Storage* s = saved.tensor->storage;
  const auto known = of_storage.find(s);
  if (known == of_storage.end() || known->second.version != s->version || known->second.hidden_writes != s->hidden_writes) return;
  if (hash_bytes(s->data, s->nbytes, 0) != known->second.hash) fail_written(saved, owner);
}

void forget_fingerprint(const SavedTensor& saved) { of_saved.erase(&saved); }

void exporting(Storage* s) {
  if (s->flags & kStorageExported) return;
  s->flags |= kStorageExported;
  if (!(s->flags & kStorageSaved) || s->nbytes > memory_check_limit) return;
  s->flags |= kStorageFingerprint;
  of_storage[s] = {s->version, s->hidden_writes, hash_bytes(s->data, s->nbytes, 0)};
  forget_storage = [](const Storage* gone) { of_storage.erase(gone); };
}

}  // namespace retrograd
