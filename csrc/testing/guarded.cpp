#include "testing/guarded.h"

#include <dlfcn.h>
#include <signal.h>
#include <sys/mman.h>
#include <ucontext.h>

#include <cstring>
#include <map>
#include <mutex>

#include "core/backend.h"
#include "core/launch.h"
#include "core/state.h"
#include "core/tensor.h"
#include "kernels/copy.h"
#include "python/guard.h"

namespace retrograd {
namespace {

constexpr size_t kArena = size_t{1} << 32;  // addresses, not memory
constexpr size_t kStep = 64;
constexpr int kMostFaults = 256;

struct Fault {
  const char* op;
  const char* what;
  const char* kernel;  // that was handed it, or null
  void* code;          // the instruction that touched it
};

// Touched with the GIL held, but for what the signal handler does, and what the lock is for.
char* arena = nullptr;
size_t used = 0;
std::map<size_t, std::vector<void*>> free_blocks;  // by capacity
std::mutex lock;
std::map<const char*, size_t> owned;  // blocks of storages that live, with their capacities
std::vector<std::string> calls;
MemoryStats stats;
int depth = 0;           // kernels that run
bool surprised = false;  // open since a fault
Fault faults[kMostFaults];
int fault_count = 0;
struct sigaction previous;

size_t used_pages() { return (used + 4095) / 4096 * 4096; }  // no others have ever been open
void open_memory() { mprotect(arena, used_pages(), PROT_READ | PROT_WRITE); }
void close_memory() {
  mprotect(arena, used_pages(), PROT_NONE);
  surprised = false;
}

void begin(Device, Stream) {
  if (depth++ == 0 && !surprised) open_memory();
}
void end(Device, Stream) noexcept {
  if (--depth == 0) close_memory();
}

void* instruction(void* context) {
#if defined(__x86_64__)
  return reinterpret_cast<void*>(static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_RIP]);
#else
  (void)context;
  return nullptr;
#endif
}
bool is_write(void* context) {
#if defined(__x86_64__)
  return static_cast<ucontext_t*>(context)->uc_mcontext.gregs[REG_ERR] & 2;
#else
  (void)context;
  return false;
#endif
}

void add_fault(const Fault& fault) {
  if (fault_count < kMostFaults) faults[fault_count] = fault;
  ++fault_count;
}

void on_fault(int signal, siginfo_t* info, void* context) {
  const char* at = static_cast<const char*>(info->si_addr);
  if (at >= arena && at < arena + kArena && depth == 0 && !surprised) {
    add_fault({thread_state.op, is_write(context) ? "write" : "read", nullptr, instruction(context)});
    surprised = true;
    open_memory();
    return;  // the instruction is tried again
  }
  if (previous.sa_flags & SA_SIGINFO) return previous.sa_sigaction(signal, info, context);
  if (previous.sa_handler == SIG_DFL || previous.sa_handler == SIG_IGN) {
    sigaction(signal, &previous, nullptr);  // it happens again, and ends the process
    return;
  }
  previous.sa_handler(signal);
}

void* allocate(size_t bytes, size_t& capacity, Stream) {
  capacity = (std::max(bytes, size_t{1}) + kStep - 1) / kStep * kStep;
  void* block;
  if (std::vector<void*>& kept = free_blocks[capacity]; !kept.empty()) {
    block = kept.back();
    kept.pop_back();
  } else {
    RG_CHECK(capacity <= kArena - used, "the guarded device has no memory left");
    block = arena + used;
    used += capacity;
    stats.reserved = static_cast<int64_t>(used);
    if (depth || surprised) open_memory();
  }
  stats.allocated += static_cast<int64_t>(capacity);
  ++stats.live_blocks;
  ++stats.total_blocks;
  const std::lock_guard hold(lock);
  owned[static_cast<char*>(block)] = capacity;
  return block;
}

void free(void* block, size_t capacity) noexcept {
  {
    const std::lock_guard hold(lock);
    owned.erase(static_cast<char*>(block));
  }
  free_blocks[capacity].push_back(block);
  stats.allocated -= static_cast<int64_t>(capacity);
  --stats.live_blocks;
}

void transfer(const char* name, const void* host, const void* data, size_t bytes) {
  using namespace guarded_device;
  if (bytes && (is_inside(host) || !is_owned(data, bytes))) note_fault(name, "memory of another place than it says");
  if (noting) note_call(str_cat(name, " ", bytes));
}
void to_host(void* host, const void* data, size_t bytes, Stream stream) {
  transfer("to_host", host, data, bytes);
  begin({}, stream);
  std::memcpy(host, data, bytes);
  end({}, stream);
}
void from_host(void* data, const void* host, size_t bytes, Stream stream) {
  transfer("from_host", host, data, bytes);
  begin({}, stream);
  std::memcpy(data, host, bytes);
  end({}, stream);
}

constexpr Backend kGuarded = {.name = "guarded",
                              .allocate = allocate,
                              .free = free,
                              .statistics = []() noexcept { return stats; },
                              .to_host = to_host,
                              .from_host = from_host,
                              .begin = begin,
                              .end = end};

PyObject* register_guarded(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    if (arena) Py_RETURN_NONE;
    void* memory = mmap(nullptr, kArena, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    RG_CHECK(memory != MAP_FAILED, "no addresses are left for the guarded device");
    struct sigaction action = {};
    action.sa_sigaction = on_fault;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    RG_CHECK(sigaction(SIGSEGV, &action, &previous) == 0, "the guarded device cannot watch its memory");
    arena = static_cast<char*>(memory);
    guarded_device::provide_kernels(DeviceType::Plugin);
    register_backend(DeviceType::Plugin, kGuarded);
    Py_RETURN_NONE;
  });
}

// "read at _C+0x1234": tools such as addr2line know the line. "CopyKernels.fill was handed memory of the process".
std::string text_of_fault(const Fault& fault) {
  Dl_info info = {};
  std::string text = fault.what;
  if (fault.kernel) return str_cat(fault.kernel, " was handed ", text);
  if (!fault.code || !dladdr(fault.code, &info) || !info.dli_fname) return text;
  const std::string file = info.dli_fname;
  char offset[32];
  std::snprintf(offset, sizeof offset, "+0x%zx", static_cast<size_t>(static_cast<char*>(fault.code) - static_cast<char*>(info.dli_fbase)));
  return text + " at " + file.substr(file.rfind('/') + 1) + offset;
}

PyObject* guarded_faults(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    if (surprised && depth == 0) close_memory();
    const int count = std::min(std::exchange(fault_count, 0), kMostFaults);
    PyObject* list = checked(PyList_New(0));
    for (int i = 0; i < count; ++i) {
      PyObject* item = Py_BuildValue("(zs)", faults[i].op, text_of_fault(faults[i]).c_str());
      const bool added = item && PyList_Append(list, item) == 0;
      Py_XDECREF(item);
      if (!added) {
        Py_DECREF(list);
        throw PythonError();
      }
    }
    return list;
  });
}

// What the device is there to catch, for the test of the test: the first byte of a tensor, read without a kernel.
PyObject* guarded_peek(PyObject*, PyObject* o) {
  return guarded([&]() -> PyObject* {
    RG_CHECK_AS(Type, is_tensor(o), "a tensor is expected");
    const TensorImpl* t = reinterpret_cast<TensorImpl*>(o);
    RG_CHECK(t->numel > 0 && t->device.type != DeviceType::Meta, "a tensor with elements is expected");
    return PyLong_FromLong(*static_cast<volatile unsigned char*>(t->data));
  });
}

PyObject* guarded_scans(PyObject*, PyObject* on) {
  const int truth = PyObject_IsTrue(on);
  if (truth < 0) return nullptr;
  guarded_device::provide_scans(truth);
  Py_RETURN_NONE;
}

// What the other check is there to catch: a kernel that is handed a pointer to the process, and one to memory that was given back.
PyObject* guarded_misuse(PyObject*, PyObject*) {
  return guarded([]() -> PyObject* {
    const Device device{DeviceType::Plugin};
    const int64_t size[] = {4}, stride[] = {1};
    float here[4];
    void* gone = empty(size, DType::Float32, device)->data;
    const Launch launch(device);
    for (void* data : {static_cast<void*>(here), gone}) kernels::copy(device).fill({data, DType::Float32, 1, size, stride}, here);
    kernels::copy(device).fill({here, DType::Float32, 1, size, stride}, gone);
    Py_RETURN_NONE;
  });
}

PyObject* guarded_kernels(PyObject*, PyObject* on) {
  const int truth = PyObject_IsTrue(on);
  if (truth < 0) return nullptr;
  return guarded([&]() -> PyObject* {
    guarded_device::noting = truth;
    const std::vector<std::string> texts = std::exchange(calls, {});
    PyObject* list = checked(PyList_New(static_cast<Py_ssize_t>(texts.size())));
    for (size_t i = 0; i < texts.size(); ++i)
      PyList_SET_ITEM(list, static_cast<Py_ssize_t>(i),
                      PyUnicode_FromStringAndSize(texts[i].data(), static_cast<Py_ssize_t>(texts[i].size())));
    return list;
  });
}

PyObject* name_ops(PyObject*, PyObject* on) {
  const int truth = PyObject_IsTrue(on);
  if (truth < 0) return nullptr;
  set_naming_ops(truth);
  Py_RETURN_NONE;
}

PyMethodDef methods[] = {
    {"_register_guarded", register_guarded, METH_NOARGS, "Makes the device 'guarded' known, for tests."},
    {"_guarded_faults", guarded_faults, METH_NOARGS, "[(op, what)] of the touches since the last call; closes the memory."},
    {"_guarded_peek", guarded_peek, METH_O, "Reads a byte of a tensor outside any kernel."},
    {"_guarded_misuse", guarded_misuse, METH_NOARGS, "Calls kernels with pointers that they must not get."},
    {"_guarded_kernels", guarded_kernels, METH_O, "(on): the kernels called while they were noted; from now on they are, or not."},
    {"_guarded_scans", guarded_scans, METH_O, "Whether the device has kernels for scans."},
    {"_name_ops", name_ops, METH_O, "Whether each op leaves its name for the list of faults."},
    {nullptr, nullptr, 0, nullptr}};

}  // namespace

namespace guarded_device {

bool noting = false;

bool is_inside(const void* at) { return at >= arena && at < arena + kArena; }

bool is_owned(const void* from, size_t bytes) {
  const std::lock_guard hold(lock);
  const char* at = static_cast<const char*>(from);
  auto block = owned.upper_bound(at);
  if (block == owned.begin()) return false;
  --block;
  return at + bytes <= block->first + block->second;
}

bool is_open() { return depth > 0; }

void note_fault(const char* kernel, const char* what) {
  const std::lock_guard hold(lock);
  add_fault({thread_state.op, what, kernel, nullptr});
}

void note_call(std::string text) {
  const std::lock_guard hold(lock);
  calls.push_back(std::move(text));
}

}  // namespace guarded_device

void init_guarded(PyObject* module) {
  if (PyModule_AddFunctions(module, methods) != 0) throw PythonError();
}

}  // namespace retrograd
