// Why a tensor has no history.
//
// Note [Where the history was cut]
// Where a history ends against the user's intention (no_grad, detach, a conversion to integers), backward fails much later, on a tensor far
// from the cut. So the result of the cut carries a note, and everything computed from it inherits the note: `TensorImpl::cut`, a number
// that stands for an entry in a table of all notes. Entries are interned: a program has as many as it has places that cut, so inheriting is
// copying a number, and no tensor, graph or frame is kept alive; a code object is, until a sweep finds that no living tensor
// has the note. What neither has a history nor comes from a cut costs nothing: `tracked_or_cut` (untracked.h) tests the flag together with kRequiresGrad.
//
// Notes are of three ranks, and one of a higher rank replaces those of a lower one where tensors meet; of notes of the same rank a result keeps a few:
// a cut is between the tensor and something that required grad; Frozen is a leaf that once required grad; the others are leaves that never did.
//
// Note [Inference tensors]
// A tensor that is made in inference mode, from whatever, has a note that says where (core/birth.h), and keeps it: what it was computed from
// may have notes of its own, but the mode is what the next use will fail for.
// The GIL guards the table.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "core/state.h"
#include "core/tensor.h"

namespace retrograd {

enum class CutKind : uint8_t {
  Merged,  // several others
  // leaves that do not require grad
  Made,       // from Python data, or memory of somebody else
  Parameter,  // with requires_grad=False
  Frozen,     // requires_grad_(False)
  // cuts
  NoGrad,             // mode: where gradients were switched off, at: the op
  Inference,          // likewise; without an op, where a tensor was made: Note [Inference tensors]
  Forward,            // inside the forward of a custom Function, whose apply() was at `mode`
  Backward,           // by a backward without create_graph, which was called at `mode`
  Hook,               // in a hook on saved tensors
  Detach,             // at
  Data,               // .data
  NonDifferentiable,  // of an op without a derivative, or with integers or booleans as result
  Copied,             // torch.tensor() of a tensor that requires grad
  NumPy,              // memory that came back from NumPy
};

struct Cut {
  static constexpr int kParts = 3;
  CutKind kind;
  const char* op = nullptr;  // static
  Site mode{}, at{};         // owned by the table
  uint32_t parts[kParts] = {};
};

// The number of a note; sites are borrowed. A number lives until the next make_room() unless a tensor has it.
uint32_t cut_note(const Cut& cut);
uint32_t merge_cuts(uint32_t a, uint32_t b);
const Cut& cut_of(uint32_t note);
extern bool crowded;
void sweep_cuts();
inline void make_room() {  // before the first note of an op is made
  if (RG_UNLIKELY(crowded)) sweep_cuts();
}

inline void set_cut(TensorImpl* t, uint32_t note) {
  t->cut = note;
  t->has_cut = note != 0;
}

// A note of this kind at the running line; and the same for a tensor that has lost its history there.
uint32_t cut_here(CutKind kind, const char* op = nullptr);
void note_cut(TensorImpl* t, CutKind kind, const char* op = nullptr);
// Where an inference tensor was made, and the running line that uses it: lines of an error message.
std::string inference_story(const TensorImpl* t);
// What is noted when an op computes, without recording, from something that requires grad.
uint32_t cut_by_op(const char* op);

}  // namespace retrograd
