// Writes that nobody sees. Memory that NumPy or DLPack shares can change without a version moving, so tensors on such memory
// leave a fingerprint when they are saved for backward, and it is compared when they are read again. Up to memory_check_limit
// bytes; memory that nobody else knows costs nothing.
#pragma once

#include "autograd/saved.h"

namespace retrograd {

extern size_t memory_check_limit;  // bytes of a tensor that is checked; 0 switches the check off, SIZE_MAX is strict mode's

void remember_fingerprint(SavedTensor& saved);  // of a tensor on shared memory
void check_fingerprint(const SavedTensor& saved, const Node* owner);
void forget_fingerprint(const SavedTensor& saved);

// Memory that some node saved is handed out: from here on it may change.
void exporting(Storage* storage);

}  // namespace retrograd
