// A session is one stretch of recording. It sees a part of the log of each thread that it records, so that sessions may run inside each
// other; a log lives as long as one of its sessions. Sessions are Python capsules: src/retrograd/autograd/profiler.py keeps them.
#include "python/profile.h"

#include <frameobject.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <string_view>
#include <unordered_map>

#include "autograd/node.h"
#include "core/events.h"
#include "core/guards.h"
#include "ops/record.h"
#include "python/guard.h"
#include "python/types.h"
#include "python/wrap.h"

namespace retrograd {
namespace {

struct Part {
  std::shared_ptr<EventLog> log;
  uint32_t first;
  uint32_t last;
};

struct Session {
  EventLog::Wanted wanted;
  bool all_threads = false;
  bool running = true;
  int64_t started = 0, stopped = 0;
  int64_t allocated = 0, left = 0;  // bytes of all storages then
  std::vector<Part> parts;

  Part* part_of(const EventLog* log) {
    for (Part& p : parts)
      if (p.log.get() == log) return &p;
    return nullptr;
  }
};

std::vector<Session*> sessions;  // those that run
std::mutex thread_ends;          // a thread that ends takes its state along, without the GIL

// Notices the end of a thread that is recorded.
struct ThreadWatch {
  bool on = false;
  ~ThreadWatch() {
    const std::lock_guard lock(thread_ends);
    if (thread_state.log) thread_state.log->of = nullptr;
  }
};
thread_local ThreadWatch watch;

// ---- Python functions ----

int trace(PyObject*, PyFrameObject* frame, int what, PyObject*);

// Whose profiler was there before: it is back when ours is done.
struct Before {
  Py_tracefunc function = nullptr;
  PyObject* object = nullptr;  // owned
};
thread_local constinit Before before;

void begin_function(EventLog* log, PyFrameObject* frame, int line) {
  log->functions.push_back(log->begin(EventKind::Function, PyFrame_GetCode(frame), line));
}

void end_tracing() {
  if (PyThreadState_Get()->c_profilefunc != trace) return;  // somebody has put another in its place
  PyEval_SetProfile(before.function, before.object);
  Py_CLEAR(before.object);
  before = {};
}

int trace(PyObject*, PyFrameObject* frame, int what, PyObject*) {
  if (what != PyTrace_CALL && what != PyTrace_RETURN) return 0;
  EventLog* log = thread_state.log;
  if (!log || !log->wanted.functions) {
    end_tracing();
    return 0;
  }
  return guarded_int([&] {
    if (what == PyTrace_CALL) {
      PyCodeObject* code = PyFrame_GetCode(frame);
      const int line = code->co_firstlineno;
      Py_DECREF(code);
      begin_function(log, frame, line);
    } else if (!log->functions.empty()) {
      const uint32_t event = log->functions.back();
      log->functions.pop_back();
      log->end_anywhere(event);
    }
  });
}

// The functions that run already come first: they return one day.
void begin_tracing(EventLog* log) {
  PyThreadState* state = PyThreadState_Get();
  if (state->c_profilefunc == trace) return;
  before = {state->c_profilefunc, Py_XNewRef(state->c_profileobj)};
  std::vector<Owned<PyFrameObject>> frames;
  for (PyFrameObject* f = PyThreadState_GetFrame(state); f; f = PyFrame_GetBack(f)) frames.emplace_back(f);
  for (size_t i = frames.size(); i-- > 0;) begin_function(log, frames[i].get(), PyFrame_GetLineNumber(frames[i].get()));
  PyEval_SetProfile(trace, nullptr);
}

// ---- threads ----

// This thread, in a session.
void attach(Session* session) {
  watch.on = true;
  EventLog* log = thread_state.log;
  std::shared_ptr<EventLog> held;
  if (!log) {
    held = std::make_shared<EventLog>();
    log = held.get();
  } else {
    if (session->part_of(log)) return;
    for (Session* other : sessions)
      if (Part* part = other->part_of(log)) held = part->log;
  }
  session->parts.push_back({std::move(held), log->count, UINT32_MAX});
  ++log->sessions;
  log->wanted.arguments |= session->wanted.arguments;
  log->wanted.modules |= session->wanted.modules;
  log->wanted.functions |= session->wanted.functions;
  if (session->wanted.functions) begin_tracing(log);
  set_log(log);
}

void detach(Session* session, Part& part) {
  EventLog* log = part.log.get();
  part.last = log->count;
  log->wanted = {};
  for (Session* other : sessions)
    if (other != session && other->part_of(log)) {
      log->wanted.arguments |= other->wanted.arguments;
      log->wanted.modules |= other->wanted.modules;
      log->wanted.functions |= other->wanted.functions;
    }
  if (thread_state.log == log && !log->wanted.functions) end_tracing();
  if (--log->sessions) return;
  if (thread_state.log == log) {
    set_log(nullptr);
    return;
  }
  const std::lock_guard lock(thread_ends);
  if (log->of) log->of->log = nullptr;  // that thread finds out for itself that it need not look around any more
}

void stop(Session* session) {
  if (!session->running) return;
  session->running = false;
  session->stopped = event_ticks();
  session->left = storage_counts.allocated;
  for (Part& part : session->parts) detach(session, part);
  sessions.erase(std::find(sessions.begin(), sessions.end(), session));
}

void attach_where_all_are() {
  for (size_t i = 0; i < sessions.size(); ++i)
    if (sessions[i]->all_threads) attach(sessions[i]);
}

// ---- from Python ----

constexpr const char* kCapsule = "retrograd._profile";

Session* session_of(PyObject* o) {
  auto* found = static_cast<Session*>(PyCapsule_GetPointer(o, kCapsule));
  if (!found) throw PythonError();
  return found;
}

void forget(PyObject* capsule) {
  auto* session = static_cast<Session*>(PyCapsule_GetPointer(capsule, kCapsule));
  stop(session);
  delete session;
}

PyObject* py_start(PyObject*, PyObject* args) {
  int arguments, functions, modules, all_threads;
  if (!PyArg_ParseTuple(args, "pppp", &arguments, &functions, &modules, &all_threads)) return nullptr;
  return guarded([&]() -> PyObject* {
    auto session = std::make_unique<Session>();
    session->wanted = {arguments != 0, functions != 0, modules != 0};
    session->all_threads = all_threads != 0;
    PyObject* capsule = checked(PyCapsule_New(session.get(), kCapsule, forget));
    sessions.push_back(session.get());
    Session* made = session.release();
    made->started = event_ticks();
    made->allocated = storage_counts.allocated;
    Owned held(capsule);
    attach(made);
    return held.release();
  });
}
PyObject* py_stop(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    stop(session_of(capsule));
    Py_RETURN_NONE;
  });
}
PyObject* py_attach(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    attach_where_all_are();
    Py_RETURN_NONE;
  });
}
PyObject* py_recording(PyObject*, PyObject*) { return PyBool_FromLong(thread_state.log || !sessions.empty()); }

PyObject* py_begin_block(PyObject*, PyObject* name) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, PyUnicode_Check(name), "record_function: the name of a block must be a str, got ", Py_TYPE(name)->tp_name);
    if (RG_UNLIKELY(!thread_state.log) && !sessions.empty()) attach_where_all_are();
    EventLog* log = thread_state.log;
    if (!log) return PyLong_FromLong(0);
    const uint32_t event = log->begin(EventKind::Block, Py_NewRef(name), -1);
    return PyLong_FromUnsignedLongLong(log->id << 32 | event);
  });
}
PyObject* py_end_block(PyObject*, PyObject* handle) {
  const uint64_t number = PyLong_AsUnsignedLongLong(handle);
  if (number == static_cast<uint64_t>(-1) && PyErr_Occurred()) return nullptr;
  const uint64_t id = number >> 32;
  const auto event = static_cast<uint32_t>(number);
  EventLog* log = thread_state.log && thread_state.log->id == id ? thread_state.log : nullptr;
  const bool elsewhere = !log;
  for (size_t i = 0; i < sessions.size() && !log; ++i)
    for (const Part& part : sessions[i]->parts)
      if (part.log->id == id) log = part.log.get();
  if (log && event < log->count && !log->at(event).end) {
    log->at(event).elsewhere = elsewhere;
    log->end_anywhere(event);
  }
  Py_RETURN_NONE;
}

// ---- results ----

// An argument as it was noted: None, a number, a list of ints; a tensor as (dtype, sizes, strides), several as a list of those.
PyObject* read_argument(const int64_t*& at) {
  switch (static_cast<Noted>(*at++)) {
    case Noted::Tensor: {
      const auto dtype = static_cast<DType>(*at++);
      const auto ndim = static_cast<size_t>(*at++);
      const Owned sizes(checked(wrap_ints({at, ndim}))), strides(checked(wrap_ints({at + ndim, ndim})));
      at += 2 * ndim;
      const Owned kind(wrap_dtype(dtype));
      return checked(PyTuple_Pack(3, kind.get(), sizes.get(), strides.get()));
    }
    case Noted::Tensors: {
      const int64_t count = *at++;
      Owned list(checked(PyList_New(count)));
      for (int64_t i = 0; i < count; ++i) PyList_SET_ITEM(list.get(), i, read_argument(at));
      return list.release();
    }
    case Noted::Ints: {
      const int64_t count = *at++;
      Owned list(checked(PyList_New(count)));
      for (int64_t i = 0; i < count; ++i) PyList_SET_ITEM(list.get(), i, checked(PyLong_FromLongLong(*at++)));
      return list.release();
    }
    case Noted::Int: return checked(PyLong_FromLongLong(*at++));
    case Noted::Bool: return PyBool_FromLong(static_cast<long>(*at++));
    case Noted::Double: {
      double v;
      std::memcpy(&v, at++, sizeof v);
      return checked(PyFloat_FromDouble(v));
    }
    case Noted::Other: return Py_NewRef(Py_Ellipsis);
    default: Py_RETURN_NONE;
  }
}

PyObject* read_arguments(const EventLog& log, const Event& e) {
  if (e.arguments == kNoEvent) Py_RETURN_NONE;
  const int64_t* at = log.noted.data() + e.arguments;
  const int64_t count = *at++;
  Owned list(checked(PyList_New(count)));
  for (int64_t i = 0; i < count; ++i) PyList_SET_ITEM(list.get(), i, read_argument(at));
  return list.release();
}

// Names are made once for all events of a kind.
class Names {
 public:
  // (name, overload) of an op, (name, "") of a node; the subject itself of all others.
  PyObject* of(const Event& e) {
    if (e.kind > EventKind::Node) return static_cast<PyObject*>(const_cast<void*>(e.subject));
    auto& made = made_[e.subject];
    if (!made) {
      const std::string_view full =
          e.kind == EventKind::Op ? static_cast<const OpRecord*>(e.subject)->name : static_cast<const NodeInfo*>(e.subject)->name;
      const size_t dot = std::min(full.find('.'), full.size());
      const std::string_view overload = dot < full.size() ? full.substr(dot + 1) : "";
      made = Owned(checked(
          Py_BuildValue("(s#s#)", full.data(), static_cast<Py_ssize_t>(dot), overload.data(), static_cast<Py_ssize_t>(overload.size()))));
    }
    return made.get();
  }

 private:
  std::unordered_map<const void*, Owned<>> made_;
};

PyObject* read_part(const Session& session, const Part& part, const TickScale& ns, Names& names) {
  const uint32_t last = session.running ? part.log->count : std::min(part.last, part.log->count);
  const int64_t until = session.running ? event_ticks() : session.stopped;
  Owned list(checked(PyList_New(last - part.first)));
  for (uint32_t i = part.first; i < last; ++i) {
    const Event& e = part.log->at(i);
    const int64_t end = e.end && e.end <= until ? e.end : until;
    const int64_t left = end == e.end ? e.left : session.running ? storage_counts.allocated : session.left;
    const int64_t parent = e.parent != kNoEvent && e.parent >= part.first ? int64_t{e.parent} - part.first : -1;
    const Owned arguments(read_arguments(*part.log, e));
    PyList_SET_ITEM(list.get(), i - part.first,
                    checked(Py_BuildValue("(iOLLLLLLOO)", static_cast<int>(e.kind), names.of(e), static_cast<long long>(ns(e.start)),
                                          static_cast<long long>(ns(end)), static_cast<long long>(parent), static_cast<long long>(e.number),
                                          static_cast<long long>(e.allocated), static_cast<long long>(left), arguments.get(),
                                          e.elsewhere ? Py_True : Py_False)));
  }
  return checked(Py_BuildValue("(IlO)", part.log->thread, part.log->system_id, list.get()));
}

PyObject* py_results(PyObject*, PyObject* capsule) {
  return guarded([&]() -> PyObject* {
    Session* session = session_of(capsule);
    Names names;
    const TickScale ns;
    const std::vector<Part> parts = session->parts;  // making objects may run Python code, and threads come and go
    Owned threads(checked(PyList_New(0)));
    for (const Part& part : parts) {
      const Owned one(read_part(*session, part, ns, names));
      if (PyList_Append(threads.get(), one.get()) < 0) throw PythonError();
    }
    const int64_t stopped = session->running ? event_ticks() : session->stopped;
    const int64_t left = session->running ? storage_counts.allocated : session->left;
    return checked(Py_BuildValue("(LLLLO)", static_cast<long long>(ns(session->started)), static_cast<long long>(ns(stopped)),
                                 static_cast<long long>(session->allocated), static_cast<long long>(left), threads.get()));
  });
}

PyMethodDef methods[] = {
    {"_profile_start", py_start, METH_VARARGS, "(arguments, functions, modules, all threads): begins to record this thread"},
    {"_profile_stop", py_stop, METH_O, "ends a session"},
    {"_profile_attach", py_attach, METH_NOARGS, "sessions that record all threads are to record this one"},
    {"_profile_results", py_results, METH_O, "(start, end, bytes at the start, at the end, [(thread, its id of the system, [event])])"},
    {"_recording", py_recording, METH_NOARGS, "whether any profile records"},
    {"_begin_block", py_begin_block, METH_O, "a block with a name begins; what _end_block() is to be called with"},
    {"_end_block", py_end_block, METH_O, nullptr},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

void init_profile(PyObject* module) { PyModule_AddFunctions(module, methods); }

}  // namespace retrograd
