// Which writes touched memory that somebody saved, and what it held before: how a saved tensor whose counters moved can tell whether
// its own elements changed, and by which line. Only memory with live saves has notes (Storage::notes); they go with the last of them.
// Touched with the GIL held.
//
// Note [Hidden writes]
// A clock of a storage is the number of writes to it (version + hidden_writes); a saved tensor knows the time it was saved at. Before a write
// its region is noted with the time and a hash of what it holds. A saved tensor is unchanged if each region that was written since
// and has a byte in common with it holds again what it held before the first write to it since: of a byte that was written, the first
// write belongs to such a region. Small regions keep a copy beside the hash, and where the rule above says no, the copies tell byte
// by byte what was saved. Nothing is noted twice between two saves, and the same contents of a region again only prolong a note. What cannot
// be noted (too many regions, memory without data, a write that is known only afterwards) counts as a change.
#pragma once

#include "core/tensor.h"

namespace retrograd {

// Before a write, and before bump_version(): a test on the way of every write in place.
void note_write(const TensorImpl* t);
inline void before_write(const TensorImpl* t) {
  if (RG_UNLIKELY(is_saved(t->storage))) note_write(t);
}
void note_written(const TensorImpl* t);  // by bump_version(): what was not announced is noted without its contents
void note_export(const TensorImpl* t);   // from here on its elements may change unseen
void lose_order(Storage* s);             // somebody set a version: times mean nothing any more

// Before `t` gets other memory (x.data = y, set_()): what it holds now is what its saves are to find. The count of saves moves along.
void note_move(TensorImpl* t, Storage* to);

// Whether the elements of `t` are what they were at the time of a save that noted these counters.
struct Change {
  bool found = false;
  bool outside = false;  // by nobody we know: the memory was handed out, at `site`
  Site site;             // borrowed, until the next write; may be unknown
};
Change find_change(const TensorImpl* t, uint32_t version, uint32_t unseen, bool watch_outside);
// The last write that touched elements of `t` since, or any element of its memory where none did.
Site find_write(const TensorImpl* t, uint32_t version, uint32_t unseen, bool& touched);

}  // namespace retrograd
