// Note [BLAS threads]
// OpenBLAS brings its own threads. Next to our pool that would mean two sets of threads on the same cores: theirs spin after every
// product while ours want to run, and a product shared among them waits at barriers for whichever thread the system has put aside
// (measured on a busy machine of 2 cores: 13 GFLOP/s with their threads at n = 256, 46 in two pieces). So OpenBLAS is kept at one thread
// and matmul.cpp cuts large products into independent pieces for our pool; concurrent single-threaded calls are supported by
// OpenBLAS (it is built with locks). LAPACK routines that want more can raise openblas_set_num_threads around the call.
#include "cpu/blas.h"

#include <dlfcn.h>

#include <cstdlib>
#include <string>

namespace retrograd::cpu {
namespace {

std::string& wanted_path() {
  static std::string path;
  return path;
}

struct Blas {
  void* library = nullptr;
  std::string error;
  SgemmFn sgemm = nullptr;
  DgemmFn dgemm = nullptr;
  CgemmFn cgemm = nullptr;
  ZgemmFn zgemm = nullptr;

  Blas() {
    const std::string& path = wanted_path();
    if (path.empty()) {
      error = "no BLAS path was set";
      return;
    }
    open(path.c_str());
    if (!library) {
      const char* reason = dlerror();
      error = reason ? reason : "dlopen failed";
      return;
    }
    if (auto set_threads = reinterpret_cast<void (*)(int)>(find("openblas_set_num_threads"))) set_threads(1);
    sgemm = reinterpret_cast<SgemmFn>(find("sgemm_"));
    dgemm = reinterpret_cast<DgemmFn>(find("dgemm_"));
    cgemm = reinterpret_cast<CgemmFn>(find("cgemm_"));
    zgemm = reinterpret_cast<ZgemmFn>(find("zgemm_"));
    if (!sgemm || !dgemm) error = path + " has no sgemm_ or dgemm_";
  }

  // OpenBLAS starts its threads while it is loaded, as many as the environment says.
  void open(const char* path) {
    constexpr const char* kVariable = "OPENBLAS_NUM_THREADS";
    const char* before = std::getenv(kVariable);
    const std::string kept = before ? before : "";
    setenv(kVariable, "1", 1);
    library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (before) {
      setenv(kVariable, kept.c_str(), 1);
    } else {
      unsetenv(kVariable);
    }
  }

  void* find(const char* name) const {
    if (!library) return nullptr;
    void* symbol = dlsym(library, ("scipy_" + std::string(name)).c_str());
    return symbol ? symbol : dlsym(library, name);
  }
};

// Never destroyed: a thread may still be inside it when the process ends.
const Blas& blas() {
  static const Blas& loaded = *new Blas;
  return loaded;
}

}  // namespace

void set_blas_path(const char* path) { wanted_path() = path; }

bool has_blas() { return blas().sgemm && blas().dgemm; }

const char* blas_error() { return blas().error.empty() ? nullptr : blas().error.c_str(); }

void* blas_symbol(const char* name) { return blas().find(name); }

SgemmFn blas_sgemm() { return blas().sgemm; }

DgemmFn blas_dgemm() { return blas().dgemm; }

CgemmFn blas_cgemm() { return blas().cgemm; }

ZgemmFn blas_zgemm() { return blas().zgemm; }

}  // namespace retrograd::cpu
