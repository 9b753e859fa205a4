// From Python arguments to C++ calls. A Group is one Python name (torch.sum, Tensor.sum): its overloads in order, each a Signature with a
// table of parameters and a thunk that calls the op. Parsing is driven by the tables; generated code is only tables and thunks.
// Nothing is allocated on the way for tensors, numbers and short lists of integers.
#pragma once

#include <Python.h>

#include <optional>
#include <span>
#include <string_view>
#include <tuple>
#include <vector>

#include "core/format.h"
#include "core/tensor.h"
#include "ops/record.h"
#include "param_kinds.h"  // generated from optable/types.py
#include "python/torch_function.h"
#include "python/wrap.h"

namespace retrograd {

struct Generator;

enum ParamFlags : uint8_t { kKeywordOnly = 1, kHasDefault = 2, kSelf = 4 };  // kSelf: input of a function is self in its schema

struct DefaultValue {
  bool none = false;
  int64_t i = 0;
  double d = 0;
  bool is_float = false;
  int count = 0;
  int64_t ints[4] = {};
  const char* text = nullptr;
};

struct ParamSpec {
  const char* name;
  Kind kind;
  uint8_t flags;
  DefaultValue fallback;
  mutable PyObject* interned = nullptr;
};

class Parsed;

struct Signature {
  const char* text;  // "(Tensor input, *, torch.dtype dtype = None)", for error messages
  std::span<const ParamSpec> params;
  PyObject* (*call)(Parsed&);
  OpRecord* record;
  OpRecord* out;        // of the form that writes into out=; null where there is none
  bool hidden = false;  // kept out of error messages
};

struct Group {
  const char* name;
  std::span<const Signature> signatures;
  bool method;
  const char* doc;
  bool internal = false;                 // not in the public namespace
  mutable PyObject* callable = nullptr;  // what Python code sees under this name
};

class Parsed {
 public:
  static constexpr int kMaxParams = 20;
  static constexpr int kMaxInts = 96;
  Parsed() {}

  const Tensor& tensor(int i) const { return reinterpret_cast<const Tensor&>(v_[i].tensor); }
  Operand operand(int i) const { return v_[i].tensor ? Operand(v_[i].tensor) : Operand(v_[i].scalar); }
  std::span<const Tensor> tensors(int i) const { return lists_[v_[i].list]; }
  Scalar scalar(int i) const { return v_[i].scalar; }
  std::optional<Scalar> opt_scalar(int i) const { return v_[i].none ? std::nullopt : std::optional(v_[i].scalar); }
  int64_t integer(int i) const { return v_[i].scalar.i; }
  std::optional<int64_t> opt_integer(int i) const { return v_[i].none ? std::nullopt : std::optional(v_[i].scalar.i); }
  double number(int i) const { return v_[i].scalar.d; }
  std::optional<double> opt_number(int i) const { return v_[i].none ? std::nullopt : std::optional(v_[i].scalar.d); }
  bool boolean(int i) const { return v_[i].scalar.i != 0; }
  std::optional<bool> opt_boolean(int i) const { return v_[i].none ? std::nullopt : std::optional(v_[i].scalar.i != 0); }
  IntSpan ints(int i) const { return {v_[i].ints, v_[i].count}; }
  OptInts opt_ints(int i) const { return v_[i].none ? OptInts() : OptInts(ints(i)); }
  DType dtype(int i) const { return static_cast<DType>(v_[i].scalar.i); }
  std::optional<DType> opt_dtype(int i) const { return v_[i].none ? std::nullopt : std::optional(dtype(i)); }
  std::optional<Device> opt_device(int i) const { return v_[i].none ? std::nullopt : std::optional(v_[i].device); }
  std::optional<MemoryFormat> opt_memory_format(int i) const {
    return v_[i].none ? std::nullopt : std::optional(static_cast<MemoryFormat>(v_[i].scalar.i));
  }
  std::optional<Layout> opt_layout(int i) const { return v_[i].none ? std::nullopt : std::optional(static_cast<Layout>(v_[i].scalar.i)); }
  std::string_view text(int i) const { return v_[i].text; }
  std::optional<std::string_view> opt_text(int i) const { return v_[i].none ? std::nullopt : std::optional(v_[i].text); }
  Generator* generator(int i) const { return reinterpret_cast<Generator*>(v_[i].tensor); }

  bool has_out() const { return out_ != nullptr; }
  const Tensor& out() const { return reinterpret_cast<const Tensor&>(out_); }
  PyObject* out_object() const { return reinterpret_cast<PyObject*>(out_); }

  // Reads one argument; false when it does not fit (no error set). Throws only for values that fit the kind but are bad (overflow).
  bool read(int i, const ParamSpec& spec, PyObject* object) {
    const bool tensor = spec.kind == Kind::Tensor || spec.kind == Kind::TensorOpt || spec.kind == Kind::Operand;
    if (RG_UNLIKELY(!tensor || !is_plain_tensor(object))) return read_other(i, spec, object);
    v_[i].none = false;
    v_[i].tensor = reinterpret_cast<TensorImpl*>(object);
    note_device(v_[i].tensor);
    return true;
  }
  void fill_default(int i, const ParamSpec& spec) {
    v_[i].none = spec.fallback.none;
    v_[i].tensor = nullptr;
    if (!spec.fallback.none) fill_value(i, spec);
  }
  bool read_ints(int i, PyObject* const* items, Py_ssize_t count);
  bool set_out(PyObject* object);
  void reset() {
    used_ints_ = 0;
    out_ = nullptr;
    overloaded_ = false;
    devices_ = 0;
    if (!lists_.empty()) lists_.clear();
  }
  bool overloaded_ = false;                     // some argument has __torch_function__
  uint8_t devices_ = 0;                         // bit per device type among the tensors
  static constexpr uint8_t kScalarOnCpu = 128;  // for 0-d CPU tensors, which elementwise ops take beside tensors of any device

 private:
  struct Value {
    bool none;
    uint8_t list;
    Device device;
    uint32_t count;
    TensorImpl* tensor;
    Scalar scalar;
    const int64_t* ints;
    std::string_view text;
  };
  bool read_other(int i, const ParamSpec& spec, PyObject* object);
  void fill_value(int i, const ParamSpec& spec);
  bool read_tensor_list(int i, PyObject* object, bool optional_items);
  void note_device(const TensorImpl* t) {
    const bool scalar = t->ndim == 0 && t->storage->device.is_cpu();
    devices_ |= static_cast<uint8_t>(scalar ? kScalarOnCpu : 1 << static_cast<int>(t->storage->device.type));
  }
  union {  // not initialised: every value is written before it is read, and most calls have two or three
    Value v_[kMaxParams];
  };
  int64_t ints_[kMaxInts];
  int used_ints_ = 0;
  std::vector<std::vector<Tensor>> lists_;
  std::vector<std::vector<int64_t>> long_ints_;
  TensorImpl* out_ = nullptr;  // borrowed; may be a tuple or a list of tensors instead: see out_object()
};

// Parses and calls; never throws. `self` is null for functions.
// `flat`: keyword-only parameters may come by position too, as op handlers pass them on.
PyObject* call_group(const Group& group, PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames,
                     bool flat = false) noexcept;

template <const Group& G> PyObject* entry(PyObject* self, PyObject* const* args, Py_ssize_t nargs, PyObject* kwnames) {
  return call_group(G, G.method ? self : nullptr, args, nargs, kwnames);
}

using FastCall = PyObject* (*)(PyObject*, PyObject* const*, Py_ssize_t, PyObject*);
struct GroupEntry {
  const char* name = nullptr;
  const Group* group = nullptr;
  FastCall call = nullptr;
};

// One Python number or 0-d tensor; false when it is neither. Shared with the number slots.
bool read_scalar(PyObject* object, Scalar& out);
bool read_int(PyObject* object, int64_t& out);
bool read_bool(PyObject* object, bool& out);
bool read_dtype(PyObject* object, DType& out);
bool read_device(PyObject* object, Device& out);
bool read_sizes(PyObject* object, std::vector<int64_t>& out);  // a sequence of ints

void init_bindings(PyObject* module, PyTypeObject* tensor);

}  // namespace retrograd
