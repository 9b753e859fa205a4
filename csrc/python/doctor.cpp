#include "python/doctor.h"

#include <cmath>
#include <cstdlib>
#include <string_view>
#include <utility>

#include "autograd/cut.h"
#include "autograd/history.h"
#include "autograd/untracked.h"
#include "core/guards.h"
#include "core/transfer.h"
#include "python/autograd.h"
#include "python/guard.h"
#include "python/intercept.h"
#include "python/interpreter.h"
#include "python/look.h"
#include "python/wrap.h"

namespace retrograd {

thread_local constinit bool in_module = false;

namespace {

// Bits of what is out of the ordinary in a run, for after_backward().
enum Trouble : unsigned { kBadGradient = 1, kGrowing = 2, kZeros = 4, kJump = 8 };

PyObject* watcher = nullptr;

PyObject* the_watcher() {
  if (!watcher) {
    const Owned module(checked(PyImport_ImportModule("retrograd.doctor._watch")));
    watcher = checked(PyObject_GetAttrString(module.get(), "watcher"));
  }
  return watcher;
}

// How large the gradients were that the backwards of one place gave: their largest elements. Growth by a step is a jump when it is far beyond all that was before,
// and also when it goes on, beyond all that was before it: a row of growing gradients counts without its largest factor, which may be the end of a slow start.
// Gradients below one count for less, down to a hundredth, below which they are next to nothing. Where a reward, a hard sample or a term of the loss comes now and then,
// those between are of a small regulariser, or of what is known already, and say little of how large one is that comes of something: the smaller they were, the
// farther a jump has to go, to 100 after gradients of the order of one and to 10,000 after next to nothing.
struct Sizes {
  static constexpr double kJumpBy = 100, kGrowth = 1.5, kGrownBy = 300;
  static constexpr double kNothing = 0.01;
  double before = 0, last = 0, now = 0;  // the largest until the last run, of the last and of the present one
  double grown = 1, factor = 1;          // over the row, and the largest factor in it
  double base = 0;                       // the largest before the row
  uint32_t runs = 0;

  bool add(double largest) {  // whether it is a jump
    before = std::max(before, last);
    last = now;
    now = largest;
    if (!runs++) return false;
    before = std::max(before, last);
    const double by = now / last;
    if (grown == 1) base = before;
    grown = by >= kGrowth ? grown * by : 1;
    factor = by >= kGrowth ? std::max(factor, by) : 1;
    if (now <= kJumpBy / std::clamp(before, kNothing, 1.0)) return false;
    return (runs > 3 && now > kJumpBy * before) || (grown > kGrownBy * factor && now > kJumpBy * base);
  }
};

// How many nodes lived after the backwards of one place: each time more, or in twice as many runs now and then more and never less, or, where graphs differ in
// size, with each row of runs more at the least.
// The number is compared with itself at the same place alone: of the backwards of a step each leaves its own.
struct Growth {
  static constexpr uint32_t kRow = 8, kRows = 4, kGrowths = 4;
  size_t last = 0, least = 0, least_before = 0;
  uint32_t row = 0, growths = 0, since = 0, runs = 0, rows = 0;  // `row` of growths

  bool add(size_t live) {  // whether it goes on growing
    if (live < last) growths = since = 0;
    growths += live > last;
    row = live > last ? row + 1 : 0;
    ++since;
    last = live;
    least = runs ? std::min(least, live) : live;
    if (++runs == kRow) {
      rows = least > least_before ? rows + 1 : 0;
      least_before = least;
      runs = 0;
    }
    const bool slowly = growths >= kGrowths && since >= 2 * kRow;
    if (row < kRow && !slowly && rows <= kRows) return false;  // the first row has none before it
    row = growths = since = rows = 0;
    return true;
  }
};

// Places of the program that were met before, with the code they are in. When it is full the oldest is forgotten, and is new again.
struct Places {
  static constexpr size_t kRoom = 512;
  struct Known : Site {
    Sizes sizes;
    Growth growth;
    bool again = false;  // it is to count as new
  };
  Known known[kRoom];

  static size_t home(const Site& s) { return ((reinterpret_cast<uintptr_t>(s.code) >> 4) + static_cast<size_t>(s.lasti)) % kRoom; }
  bool holds(size_t slot, const Site& s) const { return known[slot].code == s.code && known[slot].lasti == s.lasti; }
  size_t slot(const Site& s) const {
#if PY_VERSION_HEX < 0x030c0000
    // A call is two instructions, PRECALL and CALL. Once it is specialised the first does all of it, and is where the frame stands.
    const Site call{s.code, s.lasti + 4};
    if (RG_UNLIKELY(!holds(home(s), s)) && holds(home(call), call)) return home(call);
#endif
    return home(s);
  }
  bool meet(Site site) { return meet(site, slot(site)); }
  bool meet(Site site, size_t slot) {  // takes over the reference; true where it is new
    if (!site.code) return false;
    Known& place = known[slot];
    if (RG_LIKELY(place.code == site.code && (place.lasti == site.lasti || &place != &known[home(site)]))) {
      Py_DECREF(reinterpret_cast<PyObject*>(site.code));
      return std::exchange(place.again, false);
    }
    const Site old = std::exchange(place, Known{site, {}, {}});
    Py_XDECREF(reinterpret_cast<PyObject*>(old.code));
    return true;
  }
  void forget() {
    for (Known& place : known) {
      const Site old = std::exchange(place, Known{});
      Py_XDECREF(reinterpret_cast<PyObject*>(old.code));
    }
  }
};
Places places;

constexpr uint32_t kZeroRuns = 4, kMostZeroRuns = 1024;

// Over the runs of the program.
struct {
  uint32_t zero_runs = 0;
  uint32_t patience =
      kZeroRuns;  // runs with a gradient of zeros before a look; twice as many after each, as a model that has learned all there is has them now and then
  Sizes sizes;  // of the place of the last run
} history;

unsigned trouble_of_run(size_t slot) {
  unsigned trouble = doctor.bad ? kBadGradient : 0u;
  if (places.known[slot].growth.add(live_nodes())) trouble |= kGrowing;
  history.zero_runs = doctor.zeros ? history.zero_runs + 1 : 0;
  if (history.zero_runs == history.patience) {
    trouble |= kZeros;
    history.patience = std::min(2 * history.patience, kMostZeroRuns);
  }
  if (Sizes& sizes = places.known[slot].sizes; doctor.largest > 0 && !doctor.bad && sizes.add(doctor.largest)) {
    history.sizes = sizes;
    trouble |= kJump;
  }
  return trouble;
}

bool is_bad_loss(PyObject* root) {
  if (!is_tensor(root)) return false;
  const Tensor t = Tensor::borrow(root);
  if (t.numel() != 1 || !t->device.is_cpu() || !is_floating(t.dtype()) || t->has(kBatched) || t->storage->nbytes == 0) return false;
  if (const std::optional<double> value = magnitude(t.get())) return !std::isfinite(*value);
  return !std::isfinite(read_scalar(t).to_double());
}

}  // namespace

// The running line of the program: of a loop inside a library that which called it, so that another call is another place.
static Site users_site() {
  const Restore user(skip_libraries, true);
  return current_site();
}

void WatchedRun::begin(PyObject* roots, const RunOptions& options, PyObject* inputs) {
  active_ = true;
  roots_ = roots;
  if (RG_UNLIKELY(doctor.nodes)) begin_run();
  doctor.bad = false;
  doctor.zeros = 0;
  doctor.largest = 0;
  if (RG_UNLIKELY(doctor.has_origin)) forget_origin();
  const Site site = users_site();
  slot_ = places.slot(site);
  const bool is_new = places.meet(site, slot_) | doctor.new_parameters;
  if (std::exchange(doctor.new_parameters, false)) places.known[slot_].sizes = {};
  const bool single = is_tensor(roots) || PySequence_Fast_GET_SIZE(roots) == 1;
  const bool bad = single && is_bad_loss(is_tensor(roots) ? roots : PySequence_Fast_GET_ITEM(roots, 0));
  if (RG_LIKELY(!doctor.close && !is_new && !bad)) return;
  told_ = true;
  const Owned list(is_tensor(roots) ? checked(PyTuple_Pack(1, roots)) : checked(PySequence_Tuple(roots)));
  const auto flag = [](bool value) { return value ? Py_True : Py_False; };
  Py_DECREF(checked(PyObject_CallMethod(the_watcher(), "before_backward", "OOOOOOO", list.get(), flag(options.keep_graph),
                                        flag(options.create_graph), flag(options.accumulate), inputs ? inputs : Py_None, flag(is_new),
                                        flag(bad))));
}

void WatchedRun::finish() {
  told_ = false;
  advance_training_step();
  const unsigned trouble = trouble_of_run(slot_);
  if (RG_LIKELY(!doctor.close && !trouble)) return;
  const Owned list(is_tensor(roots_) ? checked(PyTuple_Pack(1, roots_)) : checked(PySequence_Tuple(roots_)));
  Py_DECREF(checked(PyObject_CallMethod(the_watcher(), "after_backward", "IO", trouble, list.get())));
}

// An error is on its way, in C++ or in Python.
void WatchedRun::give_up() noexcept {
  PyObject *type, *value, *trace;
  PyErr_Fetch(&type, &value, &trace);
  PyObject* done = watcher ? PyObject_CallMethod(watcher, "failed_backward", nullptr) : nullptr;
  if (!done) PyErr_Clear();
  Py_XDECREF(done);
  PyErr_Restore(type, value, trace);
}

bool tell_call(PyObject* module, PyObject* args, PyObject* kwargs) {
  const bool is_new = places.meet(users_site());
  if (RG_LIKELY(!doctor.close && !is_new)) return false;
  Py_DECREF(checked(
      PyObject_CallMethod(the_watcher(), "before_module", "OOOO", module, args, kwargs ? kwargs : Py_None, is_new ? Py_True : Py_False)));
  return true;
}

void tell_return(PyObject* module, PyObject* result) {
  // A module that raised is told too, without a result: the error goes on.
  PyObject *type = nullptr, *value = nullptr, *trace = nullptr;
  if (!result) PyErr_Fetch(&type, &value, &trace);
  PyObject* done = PyObject_CallMethod(the_watcher(), "after_module", "OO", module, result ? result : Py_None);
  if (type) {
    if (!done) PyErr_Clear();
    PyErr_Restore(type, value, trace);
    Py_XDECREF(done);
    return;
  }
  Py_DECREF(checked(done));
}

void tell_function(PyObject* cls, PyObject* const* args, Py_ssize_t nargs, PyObject* ctx, PyObject* results) {
  if (thread_state.transform_depth || thread_state.mapped || in_backward()) return;
  const Owned list(checked(PyTuple_New(nargs)));
  for (Py_ssize_t i = 0; i < nargs; ++i) PyTuple_SET_ITEM(list.get(), i, Py_NewRef(args[i]));
  Py_DECREF(checked(PyObject_CallMethod(the_watcher(), "function", "OOOO", cls, list.get(), ctx, results)));
}

// Of a learned leaf, or of what lost its history: the values of others matter to no check.
void tell_read(const TensorImpl* t) {
  if (t->grad_fn || !(note_of(t) || requires_grad(t))) return;
  count_reading();
  Py_DECREF(checked(PyObject_CallMethod(the_watcher(), "read", "O", const_cast<TensorImpl*>(t)->object())));
}

namespace {

void watched_node(Node* node, std::span<const Tensor> out, std::span<const Tensor> in) {
  if (RG_LIKELY(!matters(node, out, in))) return;
  const auto tuple = [](std::span<const Tensor> list) {
    PyObject* o = checked(PyTuple_New(static_cast<Py_ssize_t>(list.size())));
    for (size_t i = 0; i < list.size(); ++i)
      PyTuple_SET_ITEM(o, static_cast<Py_ssize_t>(i), list[i] ? Py_NewRef(list[i]->object()) : Py_NewRef(Py_None));
    return o;
  };
  const Owned received(tuple(in)), sent(tuple(out));
  Py_DECREF(checked(PyObject_CallMethod(the_watcher(), "node", "OOO", node->object(), received.get(), sent.get())));
}

PyObject* describe(const Site& site) {
  if (!site.code) Py_RETURN_NONE;
  return Py_BuildValue("(OiO)", site.code->co_filename, site_line(site), site.code->co_qualname);
}

PyObject* py_set(PyObject*, PyObject* args) {
  int on, close, nodes;
  if (!PyArg_ParseTuple(args, "ppp", &on, &close, &nodes)) return nullptr;
  doctor.on = on;
  doctor.close = on && close;
  doctor.nodes = doctor.close && nodes;
  skip_libraries = doctor.close;
  Py_RETURN_NONE;
}

PyObject* py_state(PyObject*, PyObject*) {
  return Py_BuildValue("(OOO)", doctor.on ? Py_True : Py_False, doctor.close ? Py_True : Py_False, doctor.nodes ? Py_True : Py_False);
}

PyObject* py_forget(PyObject*, PyObject*) {
  places.forget();
  history = {};
  Py_RETURN_NONE;
}

PyObject* py_forget_places(PyObject*, PyObject*) {
  for (auto& place : places.known) place.again = true;
  Py_RETURN_NONE;
}

PyObject* py_site(PyObject*, PyObject*) {
  const Site site = users_site();
  PyObject* place = describe(site);
  Py_XDECREF(reinterpret_cast<PyObject*>(site.code));
  return place;
}

// Living tensors with a history that began before a step, as it is counted by outermost backwards.
PyObject* py_old_tensors(PyObject*, PyObject* before) {
  const unsigned long limit = PyLong_AsUnsignedLong(before);
  if (PyErr_Occurred()) return nullptr;
  return guarded([&]() -> PyObject* {
    struct Found {
      unsigned long limit;
      std::vector<TensorImpl*> tensors;
    } found{limit, {}};
    for_each_pooled(
        [](TensorImpl* t, void* context) {
          auto& all = *static_cast<Found*>(context);
          if (t->grad_fn && t->grad_fn->step < all.limit && Py_REFCNT(t->object()) > 0) all.tensors.push_back(t);
        },
        &found);
    PyObject* list = checked(PyList_New(static_cast<Py_ssize_t>(found.tensors.size())));
    for (size_t i = 0; i < found.tensors.size(); ++i)
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_NewRef(found.tensors[i]->object()));
    return list;
  });
}

PyObject* py_live_tensors(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::vector<TensorImpl*> found;
    for_each_tensor(
        [](TensorImpl* t, void* context) {
          if (Py_REFCNT(t->object()) > 0) static_cast<std::vector<TensorImpl*>*>(context)->push_back(t);
        },
        &found);
    PyObject* list = checked(PyList_New(static_cast<Py_ssize_t>(found.size())));
    for (size_t i = 0; i < found.size(); ++i) PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i), Py_NewRef(found[i]->object()));
    return list;
  });
}

// As the allocator counts it; what is somebody else's counts nothing.
Py_ssize_t memory_of(const Storage* s) { return s->flags & kStorageExternal ? 0 : static_cast<Py_ssize_t>(s->nbytes); }

// What graphs hold: for each living node its name, place and sequence number, and (address, bytes) of the memory of each tensor that it keeps.
PyObject* py_graph_memory(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    std::vector<Node*> nodes;
    for_each_node(
        [](Node* n, void* context) {
          if (n->info != &accumulate_grad_info) static_cast<std::vector<Node*>*>(context)->push_back(n);
        },
        &nodes);
    const Owned list(checked(PyList_New(0)));
    for (Node* n : nodes) {
      std::vector<const Storage*> kept;
      node_traverse(
          n->object(),
          [](PyObject* o, void* context) {
            if (is_tensor(o)) static_cast<std::vector<const Storage*>*>(context)->push_back(reinterpret_cast<TensorImpl*>(o)->storage);
            return 0;
          },
          &kept);
      if (kept.empty()) continue;
      const Owned memory(checked(PyList_New(0)));
      for (const Storage* s : kept) {
        const Owned item(checked(Py_BuildValue("(Kn)", reinterpret_cast<unsigned long long>(s), memory_of(s))));
        if (PyList_Append(memory.get(), item.get()) < 0) throw PythonError();
      }
      const Owned row(
          checked(Py_BuildValue("(sNKO)", node_name(n), describe(n->site), static_cast<unsigned long long>(n->sequence), memory.get())));
      if (PyList_Append(list.get(), row.get()) < 0) throw PythonError();
    }
    return Py_NewRef(list.get());
  });
}

// Where a step is, and what it took on the way there: (number of the node that is made next, of the node that runs, the most bytes since the last call,
// bytes now). Of nodes that run, -1 stands for none and for those that accumulate. Starts the peak again, which `_look_pause` keeps for the program.
PyObject* py_moment(PyObject*, PyObject*) {
  const Node* n = current_node();
  const long long running = n && n->info != &accumulate_grad_info ? static_cast<long long>(n->sequence) : -1;
  const int64_t most = std::exchange(storage_counts.peak_allocated, storage_counts.allocated);
  return Py_BuildValue("(KLLL)", static_cast<unsigned long long>(next_sequence), running, static_cast<long long>(most),
                       static_cast<long long>(storage_counts.allocated));
}

// (address, bytes) of the memory of a tensor, as the allocator counts it; 0 bytes where it is somebody else's.
PyObject* py_memory_of(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_tensor(o), "_memory_of() takes a Tensor, got ", Py_TYPE(o)->tp_name);
    const Storage* s = reinterpret_cast<TensorImpl*>(o)->storage;
    return Py_BuildValue("(Kn)", reinterpret_cast<unsigned long long>(s), memory_of(s));
  });
}

PyObject* py_jump(PyObject*, PyObject*) {
  const Sizes& s = history.sizes;
  return Py_BuildValue("(dddI)", s.now, s.last, s.before, s.runs);
}

// What is trained from here on is something else: its gradients have sizes of their own.
PyObject* py_forget_sizes(PyObject*, PyObject*) {
  for (auto& place : places.known) place.sizes = {};
  Py_RETURN_NONE;
}

PyObject* py_step(PyObject*, PyObject*) { return PyLong_FromUnsignedLong(training_step()); }

PyObject* py_top_handler(PyObject*, PyObject*) {
  const Handler* top = thread_state.handlers;
  return Py_NewRef(top ? top->callable : Py_None);
}

// Given once: it keeps its graph.
PyObject* py_origin(PyObject*, PyObject*) {
  const Owned node(doctor.origin ? Py_NewRef(doctor.origin->object()) : Py_NewRef(Py_None));
  forget_origin();
  return Py_NewRef(node.get());
}

// The largest |x| of a tensor on the CPU, or None where that cannot be had cheaply.
PyObject* py_largest(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_tensor(o), "_doctor_largest() takes a Tensor, got ", Py_TYPE(o)->tp_name);
    const std::optional<double> largest = magnitude(reinterpret_cast<TensorImpl*>(o));
    if (!largest) Py_RETURN_NONE;
    return PyFloat_FromDouble(*largest);
  });
}

PyMethodDef methods[] = {
    {"_doctor_set", py_set, METH_VARARGS, "(on, close, nodes): how closely the doctor looks"},
    {"_doctor_state", py_state, METH_NOARGS, "(on, close, nodes)"},
    {"_doctor_forget", py_forget, METH_NOARGS, "Nothing was met nor counted yet."},
    {"_doctor_forget_places", py_forget_places, METH_NOARGS, "Every place is new again, and what was counted over the runs stays."},
    {"_user_site", py_site, METH_NOARGS, "(file, line, function) of the innermost frame that is the user's, or None"},
    {"_old_tensors", py_old_tensors, METH_O, "(step): living tensors whose history began before it"},
    {"_live_tensors", py_live_tensors, METH_NOARGS, "all tensors that are alive"},
    {"_graph_memory", py_graph_memory, METH_NOARGS, "[(node, place, sequence number, [(address, bytes), ...]), ...] of living graphs"},
    {"_moment", py_moment, METH_NOARGS, "(node made next, node that runs or -1, most bytes since the last call, bytes now)"},
    {"_memory_of", py_memory_of, METH_O, "(tensor): (address, bytes) of its memory"},
    {"_doctor_jump", py_jump, METH_NOARGS,
     "(now, last, before, runs): the largest elements of gradients at the last jump, and how many runs there were"},
    {"_doctor_origin", py_origin, METH_NOARGS,
     "the node in which the gradients of the last run began not to be finite, where that is known"},
    {"_doctor_forget_sizes", py_forget_sizes, METH_NOARGS, "Gradients may be of any size again."},
    {"_training_step", py_step, METH_NOARGS, "outermost backwards so far, while the doctor is on"},
    {"_top_op_handler", py_top_handler, METH_NOARGS, "the handler that sees ops first, or None"},
    {"_doctor_largest", py_largest, METH_O, "(tensor): its largest magnitude, NaN or infinity if it has one; None where it is not cheap"},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_doctor(PyObject* module) {
  const char* off = std::getenv("RETROGRAD_DOCTOR");
  doctor.on = !(off && std::string_view(off) == "0");
  engine_hooks.watched = watched_node;
  PyModule_AddFunctions(module, methods);
}

}  // namespace retrograd
