// Writes that nobody sees. Memory that NumPy or DLPack shares can change without a version moving, so tensors on such memory
// leave a fingerprint when they are saved for backward, and it is compared when they are read again. Up to memory_check_limit
// bytes; memory that nobody else knows costs nothing. What was saved before its memory was handed out is compared with what it held
// at that moment: Note [Hidden writes] in core/write_notes.h.
#pragma once

#include "autograd/saved.h"

namespace retrograd {

extern size_t memory_check_limit;  // bytes of a tensor that is checked; 0 switches the check off, SIZE_MAX is strict mode's

void remember_fingerprint(SavedTensor& saved);  // of a tensor on shared memory
bool same_fingerprint(const SavedTensor& saved);
void forget_fingerprint(const SavedTensor& saved);

void exporting(const TensorImpl* t);  // its elements are handed out: from here on they may change

}  // namespace retrograd
