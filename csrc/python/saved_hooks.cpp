// graph.saved_tensors_hooks: what Python does to tensors as nodes save and use them; and node._raw_saved_*, one saved tensor as Python sees it.
#include <cstdlib>
#include <cstring>

#include "autograd/fingerprint.h"
#include "autograd/history.h"
#include "autograd/layers.h"
#include "autograd/saved.h"
#include "core/guards.h"
#include "python/autograd.h"
#include "python/caller_state.h"
#include "python/guard.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

thread_local std::vector<HookPair> stack;  // innermost last; saved_hooks_depth is its size, or 0 while hooks run
thread_local std::string disabled_reason;
thread_local bool disabled = false;

// While a pack hook runs, what it computes is neither recorded nor packed again, and it is outside all transforms: what it gets is data.
struct Paused {
  Restore<int> depth{saved_hooks_depth, 0};
  OutsideTransforms outside;
  RecordingScope off{false, Off::Hook, Site{}};
};

PyObject* keep_marker = nullptr;  // what a pack hook of ours returns to leave a tensor as it is

// What a saved tensor keeps instead of the tensor, null for the tensor itself: (packed object, unpack, node of the tensor's history or None), as a tuple.
PyObject* pack_with(PyObject* hook, PyObject* unpack_hook, const Tensor& saved, Node* history) {
  const Tensor t = has_layers(saved) ? data_of(saved) : saved;
  const uint32_t version = version_of(t.get());
  PyObject* packed;
  {
    const Paused paused;
    packed = checked(PyObject_CallOneArg(hook, t->object()));
  }
  if (packed == keep_marker) {
    Py_DECREF(packed);
    return nullptr;
  }
  PyObject* kept = PyTuple_Pack(3, packed, unpack_hook, history ? history->object() : Py_None);
  Py_DECREF(packed);
  checked(kept);
  if (RG_UNLIKELY(version_of(t.get()) != version)) {
    Py_DECREF(kept);
    fail(ErrorKind::Runtime,
         "A saved tensor pack hook is modifying its input in place. The rest of the program sees that tensor too. Hint: let the hook "
         "work on a clone().");
  }
  return kept;
}

PyObject* pack(const Tensor& t, Node* history) {
  if (stack.empty()) return nullptr;
  const HookPair pair = stack.back();
  const Owned pack(Py_NewRef(pair.pack)), unpack(Py_NewRef(pair.unpack));  // the hook may leave the context that put it here
  return pack_with(pair.pack, pair.unpack, t, history);
}

Tensor unpack(PyObject* kept) {
  PyObject* result = checked(PyObject_CallOneArg(PyTuple_GET_ITEM(kept, 1), PyTuple_GET_ITEM(kept, 0)));
  const Tensor t = is_tensor(result) ? Tensor::borrow(result) : Tensor();
  const std::string got = Py_TYPE(result)->tp_name;
  Py_DECREF(result);
  RG_CHECK_AS(Type, t, "Output of saved tensor unpack_hook expected to be a Tensor but got result of type ", got);
  return t;
}

Node* history(PyObject* kept) {
  PyObject* node = PyTuple_GET_ITEM(kept, 2);
  return node == Py_None ? nullptr : reinterpret_cast<Node*>(node);
}

// What hooks keep may lead anywhere, back to the node too: see Note [Joining the collector].
void join_collector_for_good() {
  track_all_live();
  track_everything = true;
}

PyObject* push(PyObject*, PyObject* args) {
  PyObject *pack_hook, *unpack_hook;
  if (!PyArg_ParseTuple(args, "OO", &pack_hook, &unpack_hook)) return nullptr;
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyCallable_Check(pack_hook) && PyCallable_Check(unpack_hook),
                "saved_tensors_hooks(pack_hook, unpack_hook): both must be callable, got ", Py_TYPE(pack_hook)->tp_name, " and ",
                Py_TYPE(unpack_hook)->tp_name);
    RG_CHECK(!disabled, disabled_reason);
    join_collector_for_good();
    stack.push_back({Py_NewRef(pack_hook), Py_NewRef(unpack_hook)});
    context_count.change(1);
    saved_hooks_depth = static_cast<int>(stack.size());
    Py_RETURN_NONE;
  });
}
PyObject* pop(PyObject*, PyObject*) {
  return guarded([&]() -> PyObject* {
    RG_CHECK(!stack.empty(), "there are no saved tensor hooks to remove");
    const HookPair pair = stack.back();
    stack.pop_back();
    context_count.change(-1);
    saved_hooks_depth = static_cast<int>(stack.size());
    Py_DECREF(pair.pack);
    Py_DECREF(pair.unpack);
    Py_RETURN_NONE;
  });
}
PyObject* top(PyObject*, PyObject*) {
  if (stack.empty()) Py_RETURN_NONE;
  return PyTuple_Pack(2, stack.back().pack, stack.back().unpack);
}
PyObject* disable(PyObject*, PyObject* reason) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyUnicode_Check(reason), "disable_saved_tensors_hooks(): argument 'error_message' must be str, not ",
                Py_TYPE(reason)->tp_name);
    const char* text = PyUnicode_AsUTF8(reason);
    if (!text) throw PythonError();
    RG_CHECK(stack.empty(), text);
    context_count.change(disabled ? 0 : 1);
    disabled = true;
    disabled_reason = text;
    Py_RETURN_NONE;
  });
}
PyObject* enable(PyObject*, PyObject*) {
  context_count.change(disabled ? -1 : 0);
  disabled = false;
  disabled_reason.clear();
  Py_RETURN_NONE;
}
PyObject* is_enabled(PyObject*, PyObject*) { return PyBool_FromLong(!disabled); }
PyObject* disabled_error(PyObject*, PyObject*) {
  if (!disabled) Py_RETURN_NONE;
  return PyUnicode_FromString(disabled_reason.c_str());
}

// For a pack hook: the op it is called for, and the line that called it.
PyObject* saving(PyObject*, PyObject*) {
  const Site site = current_site();
  PyObject* result =
      Py_BuildValue("(sOi)", newest_node ? newest_node->name : "", site.code ? site.code->co_filename : Py_None, site_line(site));
  Py_XDECREF(reinterpret_cast<PyObject*>(site.code));
  return result;
}

// ---- one saved tensor ----

struct RawSaved {
  PyObject_HEAD
  Node* owner;                          // owned
  SavedTensor* (*find)(Node*, size_t);  // null when the list it stood in is gone
  size_t index;
};

SavedTensor& located(PyObject* self) {
  auto* raw = reinterpret_cast<RawSaved*>(self);
  SavedTensor* saved = raw->find(raw->owner, raw->index);
  if (!saved) fail_freed(raw->owner);
  return *saved;
}

PyObject* raw_unpack(PyObject* self, PyObject*) {
  return guarded([&] { return wrap(located(self).unpack(reinterpret_cast<RawSaved*>(self)->owner)); });
}
PyObject* raw_data(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const SavedTensor& s = located(self);
    return s.packed ? Py_NewRef(PyTuple_GET_ITEM(s.packed, 0)) : wrap(s.unpack(reinterpret_cast<RawSaved*>(self)->owner));
  });
}
PyObject* raw_unpack_hook(PyObject* self, void*) {
  return guarded([&]() -> PyObject* {
    const SavedTensor& s = located(self);
    return Py_NewRef(s.packed ? PyTuple_GET_ITEM(s.packed, 1) : Py_None);
  });
}

PyObject* raw_register(PyObject* self, PyObject* args) {
  PyObject *pack_hook, *unpack_hook;
  if (!PyArg_ParseTuple(args, "OO:register_hooks", &pack_hook, &unpack_hook)) return nullptr;
  return guarded([&]() -> PyObject* {
    const auto* raw = reinterpret_cast<RawSaved*>(self);
    Node* owner = raw->owner;
    RG_CHECK_AS(Type, PyCallable_Check(pack_hook) && PyCallable_Check(unpack_hook),
                "register_hooks(pack_hook, unpack_hook): both must be callable");
    RG_CHECK(!owner->has(kFreed),
             "Calling register_hooks on a saved tensor after it has been freed. Register them before backward(), or pass "
             "retain_graph=True to it.");
    SavedTensor& s = located(self);
    RG_CHECK(!s.packed,
             "Calling register_hooks on a saved tensor whose hooks have already been set. Hint: a saved tensor has one pair of hooks.");
    RG_CHECK(s.tensor, "Calling register_hooks on a saved tensor with value None is forbidden");
    join_collector_for_good();
    const Tensor t = s.unpack_plain(owner);
    const Edge edge = s.is_output ? Edge() : gradient_edge(t.get());
    PyObject* kept = nullptr;
    try {
      kept = pack_with(pack_hook, unpack_hook, alias(t), edge.node);  // the history is kept beside it
    } catch (...) {
      Py_XDECREF(reinterpret_cast<PyObject*>(edge.node));
      throw;
    }
    Py_XDECREF(reinterpret_cast<PyObject*>(edge.node));
    if (!kept) Py_RETURN_NONE;
    SavedTensor* again = owner->has(kFreed) ? nullptr : raw->find(owner, raw->index);  // the hook may have run a backward, or this
    if (!again || again->packed || !again->tensor) {
      Py_DECREF(kept);
      fail(ErrorKind::Runtime,
           "register_hooks: the pack hook freed the saved tensor, or gave it hooks. Hint: let it only pack what it gets.");
    }
    if (!again->is_output) again->output_nr = edge.nr;
    again->release();
    again->pack(t, kept);
    Py_RETURN_NONE;
  });
}

void raw_dealloc(PyObject* self) {
  PyTypeObject* type = Py_TYPE(self);
  PyObject_GC_UnTrack(self);
  Py_XDECREF(reinterpret_cast<PyObject*>(reinterpret_cast<RawSaved*>(self)->owner));
  type->tp_free(self);
  Py_DECREF(type);
}
int raw_traverse(PyObject* self, visitproc visit, void* arg) {
  Py_VISIT(Py_TYPE(self));
  Py_VISIT(reinterpret_cast<PyObject*>(reinterpret_cast<RawSaved*>(self)->owner));
  return 0;
}

PyMethodDef raw_methods[] = {{"register_hooks", raw_register, METH_VARARGS,
                              "register_hooks(pack_hook, unpack_hook): packs this tensor now, unpacks it when it is used."},
                             {"unpack", raw_unpack, METH_NOARGS, "The saved tensor."},
                             {nullptr, nullptr, 0, nullptr}};
PyGetSetDef raw_getset[] = {{"data", raw_data, nullptr, "What is kept: the tensor, or what the pack hook made of it.", nullptr},
                            {"unpack_hook", raw_unpack_hook, nullptr, "The unpack hook, or None.", nullptr},
                            {nullptr, nullptr, nullptr, nullptr, nullptr}};
PyType_Slot raw_slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(raw_dealloc)},
                           {Py_tp_traverse, reinterpret_cast<void*>(raw_traverse)},
                           {Py_tp_methods, raw_methods},
                           {Py_tp_getset, raw_getset},
                           {0, nullptr}};
PyType_Spec raw_spec = {"retrograd._C.SavedTensor", sizeof(RawSaved), 0,
                        Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_GC | Py_TPFLAGS_DISALLOW_INSTANTIATION, raw_slots};
PyTypeObject* raw_type = nullptr;

// How many bytes of a tensor on shared memory are checked for writes from outside; -1: all.
PyObject* set_memory_check(PyObject*, PyObject* bytes) {
  const long long limit = PyLong_AsLongLong(bytes);
  if (limit == -1 && PyErr_Occurred()) return nullptr;
  memory_check_limit = limit < 0 ? SIZE_MAX : static_cast<size_t>(limit);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {{"_set_memory_check", set_memory_check, METH_O, "(bytes): see retrograd.doctor"},
                         {"_push_saved_tensors_hooks", push, METH_VARARGS, "(pack, unpack)"},
                         {"_pop_saved_tensors_hooks", pop, METH_NOARGS, nullptr},
                         {"_saving", saving, METH_NOARGS, "(node, file, line) of the op a pack hook is called for"},
                         {"_top_saved_tensors_hooks", top, METH_NOARGS, nullptr},
                         {"_disable_saved_tensors_hooks", disable, METH_O, nullptr},
                         {"_enable_saved_tensors_hooks", enable, METH_NOARGS, nullptr},
                         {"_saved_tensors_hooks_is_enabled", is_enabled, METH_NOARGS, nullptr},
                         {"_saved_tensors_hooks_disabled_error", disabled_error, METH_NOARGS, nullptr},
                         {nullptr, nullptr, 0, nullptr}};

}  // namespace

namespace {
void exchange_stack(std::vector<HookPair>& pairs, int depth) {  // and lets go of what was there
  std::swap(stack, pairs);
  context_count.change(static_cast<int>(stack.size()) - static_cast<int>(pairs.size()));
  saved_hooks_depth = depth;
  for (const HookPair& pair : std::exchange(pairs, {})) {
    Py_DECREF(pair.pack);
    Py_DECREF(pair.unpack);
  }
}
void forbid(bool on, const std::string& reason) {
  context_count.change(static_cast<int>(on) - static_cast<int>(disabled));
  disabled = on;
  disabled_reason = reason;
}
}  // namespace

SavedHooksState::SavedHooksState() : pairs_(stack), depth_(saved_hooks_depth), disabled_(disabled), reason_(disabled_reason) {
  for (const HookPair& pair : pairs_) {
    Py_INCREF(pair.pack);
    Py_INCREF(pair.unpack);
  }
}
namespace {
std::string writer(const TensorImpl* t, const Node* owner) {
  const char* line = nullptr;
  PyObject* module = PyImport_ImportModule("retrograd.doctor._foreign");
  PyObject* found = module ? PyObject_CallMethod(module, "writer", "OO", t, owner) : nullptr;
  if (found && PyUnicode_Check(found)) line = PyUnicode_AsUTF8(found);
  std::string text = line ? line : "";
  PyErr_Clear();  // the error that this is for is told without
  Py_XDECREF(found);
  Py_XDECREF(module);
  return text;
}
}  // namespace

SavedHooksState::~SavedHooksState() {
  forbid(disabled_, reason_);
  exchange_stack(pairs_, depth_);
}

void leave_all_saved_hooks() {
  std::vector<HookPair> none;
  forbid(false, "");
  exchange_stack(none, 0);
}

PyObject* raw_saved(Node* owner, SavedTensor* (*find)(Node*, size_t), size_t index) {
  auto* raw = reinterpret_cast<RawSaved*>(raw_type->tp_alloc(raw_type, 0));
  if (!raw) return nullptr;
  raw->owner = owner;
  Py_INCREF(owner->object());
  raw->find = find;
  raw->index = index;
  return reinterpret_cast<PyObject*>(raw);
}

void init_saved_hooks(PyObject* module) {
  saved_tensor_hooks = {pack, unpack, history, writer};
  if (const char* strict = std::getenv("RETROGRAD_STRICT"); strict && *strict && std::strcmp(strict, "0") != 0)
    memory_check_limit = SIZE_MAX;
  PyModule_AddFunctions(module, methods);
  keep_marker = checked(PyObject_CallNoArgs(reinterpret_cast<PyObject*>(&PyBaseObject_Type)));
  PyModule_AddObject(module, "_keep_saved", Py_NewRef(keep_marker));
  raw_type = reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&raw_spec)));
  PyModule_AddObject(module, "SavedTensor", Py_NewRef(reinterpret_cast<PyObject*>(raw_type)));
}

}  // namespace retrograd
