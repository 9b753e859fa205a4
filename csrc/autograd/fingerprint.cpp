#include "autograd/fingerprint.h"

#include <unordered_map>

#include "core/region.h"
#include "core/write_notes.h"

namespace retrograd {

size_t memory_check_limit = 16384;

namespace {

std::unordered_map<const SavedTensor*, uint64_t> of_saved;  // guarded by the GIL

bool is_checked(const TensorImpl* t) {
  return t->device.type != DeviceType::Meta && static_cast<size_t>(t->numel * itemsize(t->dtype)) <= memory_check_limit;
}

}  // namespace

void remember_fingerprint(SavedTensor& saved) {
  if (!is_checked(saved.tensor)) return;
  of_saved[&saved] = hash_elements(saved.tensor);
  saved.fingerprinted = true;
}

bool same_fingerprint(const SavedTensor& saved) { return hash_elements(saved.tensor) == of_saved.at(&saved); }

void forget_fingerprint(const SavedTensor& saved) { of_saved.erase(&saved); }

void exporting(const TensorImpl* t) {
  t->storage->flags |= kStorageExported;
  if (is_saved(t->storage) && is_checked(t)) note_export(t);
}

}  // namespace retrograd
