#include "python/look.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <string_view>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include "autograd/cut.h"
#include "autograd/doctor.h"
#include "autograd/engine.h"
#include "autograd/history.h"
#include "autograd/sparse.h"
#include "autograd/untracked.h"
#include "python/autograd.h"
#include "python/doctor.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/interpreter.h"

namespace retrograd {
namespace {

// What an op is to the checks, by its name.
enum Meaning : uint8_t { kShapes = 1, kPairs = 2, kCuts = 4, kWanted = 8 };

// Tensors, or memory, that a check follows, by address. What is gone may be in it: the check finds out.
enum Follower : uint8_t { kByHand, kBadValues, kFollowers };

struct Shaped {
  const TensorImpl* tensor = nullptr;  // the address of one that may be gone
  Site at;                             // owned
};

struct {
  std::unordered_map<std::string, uint8_t> names;
  std::unordered_map<const OpRecord*, uint8_t> meanings;  // of ops that were met
  std::unordered_set<const void*> followed[kFollowers];
  bool follows_cuts = false;                         // the results of what cut a history are followed too
  std::unordered_set<const TensorImpl*> used;        // leaves that went into ops which recorded
  std::unordered_map<const TensorImpl*, bool> sent;  // in this run: leaves that got a gradient, and whether it had something in it
  Shaped shaped[8];                                  // the last that were given dimensions on purpose
  size_t next_shaped = 0;
  bool paused = false;             // the doctor itself computes
  uint64_t ops = 0, most_ops = 0;  // so far, and after how many the look is over; 0: never
} seen;

uint8_t meaning_of(const OpRecord& op) {
  const auto [entry, is_new] = seen.meanings.try_emplace(&op, uint8_t{0});
  if (is_new) {
    const std::string_view full = op.name;
    const auto found = seen.names.find(std::string(full.substr(0, full.find('.'))));
    if (found != seen.names.end()) entry->second = found->second;
  }
  return entry->second;
}

// How many elements lie side by side in memory and are all that a tensor has, however often and in whatever order; 0 where there are gaps.
int64_t dense_count(const TensorImpl* t) {
  if (t->is_contiguous()) return t->numel;
  int64_t count = 1;
  for (int found = 0; found < t->ndim; ++found) {
    int at = -1;
    for (int d = 0; d < t->ndim && at < 0; ++d)
      if (t->size(d) > 1 && t->stride(d) == count) at = d;
    if (at < 0) break;
    count *= t->size(at);
  }
  int64_t all = 1;
  for (int d = 0; d < t->ndim; ++d)
    if (t->size(d) > 1 && t->stride(d) != 0) all *= t->size(d);
  return count == all ? count : 0;
}

// Whether there may be values that can be read here and be anything but finite.
bool has_floats(const TensorImpl* t) {
  return (is_floating(t->dtype) || is_complex(t->dtype)) && t->device.is_cpu() && !t->has(kBatched) && !is_sparse(t);
}

}  // namespace

std::optional<double> magnitude(const TensorImpl* t) {
  if (!has_floats(t) || (t->dtype != DType::Float32 && t->dtype != DType::Float64)) return std::nullopt;
  if (!t->numel) return 0;
  const int64_t count = dense_count(t);
  if (!count) return std::nullopt;
  return largest_element(Tensor::borrow(const_cast<TensorImpl*>(t)), count);
}

namespace {

bool may_be_bad(const TensorImpl* t) {
  if (!has_floats(t)) return false;
  const std::optional<double> largest = magnitude(t);
  return !largest || !std::isfinite(*largest);
}

bool has_kind(uint32_t note, bool (*wanted)(CutKind)) {
  if (!note) return false;
  const Cut& cut = cut_of(note);
  if (wanted(cut.kind)) return true;
  return std::ranges::any_of(cut.parts, [&](uint32_t part) { return has_kind(part, wanted); });
}
bool has_no_derivative(CutKind kind) { return kind == CutKind::NonDifferentiable; }
bool is_followed(CutKind kind) { return kind == CutKind::NoGrad || kind == CutKind::Inference || kind == CutKind::NonDifferentiable; }

bool is_learned_leaf(const TensorImpl* t) { return (t->flags & kRequiresGrad) && !t->grad_fn; }

void remember_shaped(const TensorImpl* t) {
  Shaped& entry = seen.shaped[seen.next_shaped++ % std::size(seen.shaped)];
  const Site old = std::exchange(entry, Shaped{t, current_site()}).at;
  Py_XDECREF(reinterpret_cast<PyObject*>(old.code));
}

void flatten(std::vector<const TensorImpl*>& tensors, std::span<const SeenPart> parts) {
  tensors.clear();
  for (const SeenPart& part : parts) {
    if (part.one) tensors.push_back(part.one);
    for (const Tensor& t : part.list)
      if (t) tensors.push_back(t.get());
  }
}

// Operands of different dimensions that made something larger than both. Nothing need be learned there: it may be a target.
bool meet_unlike(std::span<const TensorImpl* const> arguments, std::span<const TensorImpl* const> results) {
  if (arguments.size() < 2 || results.empty()) return false;
  const TensorImpl *a = arguments[arguments.size() - 2], *b = arguments.back();
  if (a->ndim == b->ndim) return false;
  return std::ranges::any_of(results, [&](const TensorImpl* r) { return r->numel > std::max(a->numel, b->numel); });
}

}  // namespace

void count_reading() {
  if (seen.most_ops) seen.ops = std::min(seen.ops + 20, std::max(seen.ops, seen.most_ops - 1));  // the next op ends the look
}

void note_data_use(const TensorImpl* t) {
  if (in_module && !seen.paused && is_learned_leaf(t)) seen.used.insert(t);
}

bool matters(const OpRecord& op, std::span<const SeenPart> given, std::span<const SeenPart> made) {
  if (seen.paused) return false;
  static std::vector<const TensorImpl*> arguments, results;  // the GIL guards them, and nothing here gives it up
  flatten(arguments, given);
  flatten(results, made);
  if (RG_UNLIKELY(++seen.ops == seen.most_ops)) return true;
  const uint8_t meaning = meaning_of(op);
  bool told = meaning & kWanted;
  const bool recorded = std::ranges::any_of(results, [](const TensorImpl* t) { return requires_grad(t); });
  // What is written to a parameter is no use of it: the result is the parameter itself.
  const bool reads = recorded && std::ranges::any_of(results, [](const TensorImpl* t) { return requires_grad(t) && !is_learned_leaf(t); });
  if (reads || ((meaning & kCuts) && in_module))
    for (const TensorImpl* t : arguments)
      if (is_learned_leaf(t)) seen.used.insert(t);
  if (!op.composite)  // whose result is that of a part
    for (Shaped& entry : seen.shaped)
      if (RG_UNLIKELY(entry.tensor != nullptr) && std::ranges::find(results, entry.tensor) != results.end()) entry.tensor = nullptr;
  if (meaning & kShapes)
    for (const TensorImpl* t : results) remember_shaped(t);
  if (meaning & kPairs) told |= meet_unlike(arguments, results);

  const auto follows = [&](Follower who) {
    const auto& all = seen.followed[who];
    return !all.empty() &&
           std::ranges::any_of(arguments, [&](const TensorImpl* t) { return all.contains(t) || (t->data && all.contains(t->data)); });
  };
  told |= follows(kBadValues) || (!in_backward() && follows(kByHand));
  if (seen.follows_cuts)
    told |= std::ranges::any_of(arguments, [](const TensorImpl* t) { return !requires_grad(t) && has_kind(note_of(t), is_followed); });
  // Gradients have the notes of what the forward made without a derivative, such as the weight of a mean.
  if (!in_backward() &&
      std::ranges::any_of(results, [](const TensorImpl* t) { return !requires_grad(t) && has_kind(note_of(t), has_no_derivative); }))
    told |= std::ranges::any_of(arguments, [](const TensorImpl* t) { return requires_grad(t); });

  if (told || op.uninitialized) return told;
  for (const TensorImpl* t : results) {
    // Of a view that leaves gaps: what it is a view of.
    const bool view = op.aliases != Aliases::None && op.aliases != Aliases::Same && !arguments.empty() && has_floats(t) && !dense_count(t);
    if (may_be_bad(view ? arguments[0] : t)) return true;
  }
  return false;
}

void begin_run() { seen.sent.clear(); }

bool matters(const Node* node, std::span<const Tensor> sent, std::span<const Tensor> received) {
  if (node->info == &accumulate_grad_info) return false;
  bool zeros = false, bad = false;
  for (size_t i = 0; i < sent.size(); ++i) {
    if (!sent[i]) continue;
    const TensorImpl* t = sent[i].get();
    const std::optional<double> largest = magnitude(t);
    const bool zero = largest && *largest == 0;
    bad |= largest ? !std::isfinite(*largest) : has_floats(t);
    zeros |= zero || !largest;
    const Node* next = i < node->num_edges ? node->edges[i].node : nullptr;
    if (next && next->info == &accumulate_grad_info) {
      const TensorImpl* leaf = static_cast<const AccumulateGrad*>(next)->variable;
      if (leaf) seen.sent[leaf] |= !zero;
    }
  }
  if (!zeros && !bad) return false;
  bool from_something = false, from_bad = false;
  for (const Tensor& grad : received) {
    if (!grad) continue;
    const std::optional<double> largest = magnitude(grad.get());
    from_something |= !largest || *largest != 0;
    from_bad |= largest && !std::isfinite(*largest);
  }
  return (zeros && from_something) || (bad && !from_bad);
}

namespace {

// (names: {name: meaning}, most ops): nothing was seen yet.
PyObject* py_begin(PyObject*, PyObject* args) {
  PyObject* names;
  unsigned long long most;
  if (!PyArg_ParseTuple(args, "O!K", &PyDict_Type, &names, &most)) return nullptr;
  return guarded([&]() -> PyObject* {
    seen.names.clear();
    seen.meanings.clear();
    PyObject *key, *value;
    for (Py_ssize_t at = 0; PyDict_Next(names, &at, &key, &value);) {
      const char* text = PyUnicode_AsUTF8(key);
      const long meaning = PyLong_AsLong(value);
      if (!text || PyErr_Occurred()) throw PythonError();
      seen.names[text] = static_cast<uint8_t>(meaning);
    }
    for (auto& all : seen.followed) all.clear();
    seen.follows_cuts = false;
    seen.used.clear();
    seen.sent.clear();
    for (Shaped& entry : seen.shaped) {
      const Site old = std::exchange(entry, Shaped{}).at;
      Py_XDECREF(reinterpret_cast<PyObject*>(old.code));
    }
    seen.ops = 0;
    seen.most_ops = most;
    Py_RETURN_NONE;
  });
}

PyObject* py_follow(PyObject*, PyObject* args) {
  int who, anew;
  PyObject* addresses;
  if (!PyArg_ParseTuple(args, "iOp", &who, &addresses, &anew)) return nullptr;
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Value, who >= 0 && who < kFollowers, "_look_follow(): nobody is follower ", int64_t{who});
    auto& all = seen.followed[who];
    if (anew) all.clear();
    const Owned list(checked(PySequence_Fast(addresses, "_look_follow() takes a sequence of addresses")));
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(list.get()); ++i) {
      void* address = PyLong_AsVoidPtr(PySequence_Fast_GET_ITEM(list.get(), i));
      if (PyErr_Occurred()) throw PythonError();
      if (address) all.insert(address);
    }
    Py_RETURN_NONE;
  });
}

PyObject* py_follow_cuts(PyObject*, PyObject*) {
  seen.follows_cuts = true;
  Py_RETURN_NONE;
}

// What is allocated meanwhile is the doctor's, so the peak that the program is told of stays what it was.
PyObject* py_pause(PyObject*, PyObject* on) {
  static int64_t peak;
  const bool was = std::exchange(seen.paused, on == Py_True);
  if (!was && seen.paused) peak = storage_counts.peak_allocated;
  if (was && !seen.paused) storage_counts.peak_allocated = std::max(peak, storage_counts.allocated);
  return PyBool_FromLong(was);
}

PyObject* py_used(PyObject*, PyObject* forget) {
  return guarded([&]() -> PyObject* {
    Owned set(checked(PySet_New(nullptr)));
    for (const TensorImpl* t : seen.used) {
      const Owned key(checked(PyLong_FromVoidPtr(const_cast<TensorImpl*>(t))));
      if (PySet_Add(set.get(), key.get()) < 0) throw PythonError();
    }
    if (forget == Py_True) seen.used.clear();
    return set.release();
  });
}

PyObject* py_sent(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    Owned dict(checked(PyDict_New()));
    for (const auto& [leaf, nonzero] : seen.sent) {
      const Owned key(checked(PyLong_FromVoidPtr(const_cast<TensorImpl*>(leaf))));
      if (PyDict_SetItem(dict.get(), key.get(), nonzero ? Py_True : Py_False) < 0) throw PythonError();
    }
    seen.sent.clear();
    return dict.release();
  });
}

PyObject* py_shaped(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_tensor(o), "_look_shaped() takes a Tensor, got ", Py_TYPE(o)->tp_name);
    const Shaped* last = nullptr;
    for (size_t i = 1; i <= std::size(seen.shaped) && !last; ++i) {
      const Shaped& entry = seen.shaped[(seen.next_shaped - i) % std::size(seen.shaped)];
      if (entry.tensor == reinterpret_cast<TensorImpl*>(o)) last = &entry;
    }
    if (!last || !last->at.code) Py_RETURN_NONE;
    return Py_BuildValue("(OiO)", last->at.code->co_filename, site_line(last->at), last->at.code->co_qualname);
  });
}

PyObject* py_is_over(PyObject*, PyObject*) { return PyBool_FromLong(seen.most_ops && seen.ops >= seen.most_ops); }

// Every node that can be reached, each once, a node before those that only it leads to.
PyObject* py_reachable(PyObject*, PyObject* roots) {
  return guarded([&]() -> PyObject* {
    const Owned given(checked(PySequence_Fast(roots, "_reachable() takes a sequence of nodes")));
    const Owned list(checked(PyList_New(0)));
    std::unordered_set<Node*> met;
    std::vector<Node*> stack;
    for (Py_ssize_t i = 0; i < PySequence_Fast_GET_SIZE(given.get()); ++i) {
      PyObject* o = PySequence_Fast_GET_ITEM(given.get(), i);
      RG_CHECK_AS(Type, is_node(o), "_reachable() takes nodes, got ", Py_TYPE(o)->tp_name);
      stack.push_back(reinterpret_cast<Node*>(o));
    }
    while (!stack.empty()) {
      Node* n = stack.back();
      stack.pop_back();
      if (!met.insert(n).second) continue;
      if (PyList_Append(list.get(), n->object()) < 0) throw PythonError();
      for (size_t i = 0; i < n->num_edges; ++i)
        if (n->edges[i].node) stack.push_back(n->edges[i].node);
    }
    return Py_NewRef(list.get());
  });
}

PyObject* py_is_leaf_node(PyObject*, PyObject* o) {
  return PyBool_FromLong(is_node(o) && reinterpret_cast<Node*>(o)->info == &accumulate_grad_info);
}

PyMethodDef methods[] = {
    {"_look_begin", py_begin, METH_VARARGS,
     "({name of an op: 1 shapes, 2 pairs, 4 cuts}, ops): a close look begins, for so many ops; 0: without end"},
    {"_look_pause", py_pause, METH_O, "(on): whether ops are not looked at; gives what was"},
    {"_look_follow", py_follow, METH_VARARGS,
     "(0 by hand or 1 bad values, addresses of tensors or of memory, anew): ops on these are told"},
    {"_look_follow_cuts", py_follow_cuts, METH_NOARGS, "ops on what a mode, or an op without a derivative, cut off are told"},
    {"_look_used", py_used, METH_O, "(forget): the identities of leaves that went into ops which recorded, since they were last forgotten"},
    {"_look_sent", py_sent, METH_NOARGS, "{identity of a leaf: whether a gradient that is not zero was sent to it} in the last backward"},
    {"_look_shaped", py_shaped, METH_O, "(tensor): (file, line, function) where it was given dimensions, if that was lately"},
    {"_look_is_over", py_is_over, METH_NOARGS, "whether all ops that the look is for have run"},
    {"_reachable", py_reachable, METH_O, "(nodes): all nodes behind them, and they"},
    {"_is_leaf_node", py_is_leaf_node, METH_O, "(node): whether gradients end there, in a leaf"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_look(PyObject* module) { PyModule_AddFunctions(module, methods); }

}  // namespace retrograd
