// What a node keeps of the forward pass. A saved tensor remembers the version of its memory, so that a write in between is an error
// instead of a wrong gradient. An output is saved without its history, or node and tensor would hold each other; unpacking gives it back.
#pragma once

#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "core/tensor.h"

namespace retrograd {

struct Node;

struct SavedTensor {
  TensorImpl* tensor = nullptr;  // owned; for an output a detached alias; beside `packed` its layers, if it has any (autograd/layers.h)
  PyObject* packed = nullptr;    // owned; what a pack hook returned, instead of the tensor
  uint32_t version = 0;
  uint32_t hidden_writes = 0;
  uint32_t output_nr = 0;
  bool is_output = false;
  bool had_history = false;    // which detach_() must not take away
  bool fingerprinted = false;  // see autograd/fingerprint.h
  bool shared = false;         // with NumPy or DLPack already when it was saved

  void save(TensorImpl* t);
  void save(const Tensor& t) { save(t.get()); }
  void save_output(const Tensor& t, uint32_t nr);
  void pack(const Tensor& t, PyObject* kept);                // takes over what the hooks keep in place of `t`
  void output_moves(uint32_t level, const Tensor& tangent);  // after save_output(): this is the tangent that the output has got
  Tensor unpack(Node* owner) const;                          // throws when the graph was freed or the tensor changed
  Tensor unpack_plain(Node* owner) const;                    // the same tensor without its history
  void release();
  int traverse(visitproc visit, void* arg) const;
};

struct SavedTensorList {
  SavedTensor* items = nullptr;
  uint32_t count = 0;
  void save(std::span<const Tensor> tensors);
  std::vector<Tensor> unpack(Node* owner) const;
  void release();
};

struct SavedOperand {
  SavedTensor tensor;
  Scalar scalar;
  bool is_tensor = false;
  void save(const Operand& o) {
    is_tensor = o.tensor != nullptr;
    if (is_tensor) {
      tensor.save(o.tensor);
    } else {
      scalar = o.scalar;
    }
  }
};

// An unpacked operand, owning its tensor.
struct OwnedOperand {
  Tensor tensor;
  Scalar scalar;
  operator Operand() const { return tensor ? Operand(tensor) : Operand(scalar); }
};

// Small list of integers owned by a node.
struct SavedInts {
  int64_t* values = nullptr;
  uint32_t room = 0;  // how many, plus one; 0: absent, which is what a new node has
  void save(IntSpan s);
  IntSpan get() const { return {values, room ? room - 1 : 0}; }
  bool has_value() const { return room != 0; }
  void release();
};

// A word that chooses a variant of an op ("floor", "tanh", "mean"); the op has checked that it is one of its own, which are short.
struct SavedText {
  char text[15];
  uint8_t length;
  void save(std::string_view s) {
    length = static_cast<uint8_t>(s.size() < sizeof text ? s.size() : sizeof text);
    std::memcpy(text, s.data(), length);
  }
  std::string_view get() const { return {text, length}; }
};

struct SavedOptText {
  SavedText value;
  bool present;
  void save(std::optional<std::string_view> s) {
    present = s.has_value();
    if (s) value.save(*s);
  }
  std::optional<std::string_view> get() const { return present ? std::optional(value.get()) : std::nullopt; }
};

[[noreturn]] void fail_freed(const Node* node);
inline OwnedOperand unpack(const SavedOperand& s, Node* owner) { return {s.is_tensor ? s.tensor.unpack(owner) : Tensor(), s.scalar}; }

// Python hooks around saving (graph.saved_tensors_hooks): set by python/saved_hooks.cpp. What they keep is data: the history of a tensor that
// comes back is that of the tensor that was saved, and so are its layers. `history` is the node that takes its gradient, null where there is none.
struct SavedTensorHooks {
  PyObject* (*pack)(const Tensor& t, Node* history);  // null result: no hooks active
  Tensor (*unpack)(PyObject* packed);
  Node* (*history)(PyObject* packed);                             // borrowed
  std::string (*writer)(const TensorImpl* t, const Node* owner);  // the line that wrote from outside to memory saved for a node, or nothing
};
extern thread_local constinit int saved_hooks_depth;  // 0 in the usual case
extern SavedTensorHooks saved_tensor_hooks;

}  // namespace retrograd
