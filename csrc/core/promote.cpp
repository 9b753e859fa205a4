#include "core/promote.h"

#include <algorithm>

namespace retrograd {
namespace {

DType global_default = DType::Float32;

int category(DType t) { return t == DType::Bool ? 0 : is_complex(t) ? 3 : is_floating(t) ? 2 : 1; }

}  // namespace

DType default_dtype() { return global_default; }
void set_default_dtype(DType dtype) { global_default = dtype; }

const char* dtype_name(DType t) {
  static constexpr const char* names[kNumDTypes] = {"bool",    "uint8",    "int8",    "int16",   "int32",     "int64",
                                                    "float16", "bfloat16", "float32", "float64", nullptr,     nullptr,
                                                    nullptr,   nullptr,    nullptr,   nullptr,   "complex64", "complex128"};
  return names[static_cast<int>(t)];
}

const char* dtype_storage_name(DType t) {
  static constexpr const char* names[kNumDTypes] = {
      "BoolTensor",         "ByteTensor",         "CharTensor", "ShortTensor", "IntTensor", "LongTensor", "HalfTensor", "BFloat16Tensor",
      "FloatTensor",        "DoubleTensor",       nullptr,      nullptr,       nullptr,     nullptr,      nullptr,      nullptr,
      "ComplexFloatTensor", "ComplexDoubleTensor"};
  return names[static_cast<int>(t)];
}

DType promote(DType a, DType b) {
  if (a == b) return a;
  const DType low = std::min(a, b), high = std::max(a, b);
  if (low == DType::UInt8 && high == DType::Int8) return DType::Int16;
  if (low == DType::Float16 && high == DType::BFloat16) return DType::Float32;
  if (low == DType::Float64 && high == DType::Complex64) return DType::Complex128;
  return high;  // the enum is in promotion order otherwise
}

void Promotion::add(int level, DType t) {
  level_[level] = used_[level] ? promote(level_[level], t) : t;
  used_[level] = true;
}

void Promotion::add(const TensorImpl* t) { add(t->has(kNumber) ? 2 : t->ndim == 0 ? 1 : 0, t->dtype); }

void Promotion::add(const Scalar& s) {
  add(2, s.is_complex() ? complex_dtype(global_default) : s.is_float() ? global_default : s.natural_dtype());
}

DType Promotion::result() const {
  int best = -1;
  DType dtype = global_default;
  for (int level = 0; level < 3; ++level) {
    if (!used_[level]) continue;
    DType t = level_[level];
    if (best < 0 || category(t) > category(dtype)) {
      if (level == 2 && t == DType::Float64) t = global_default;  // a wrapped Python float
      if (level == 2 && is_complex(t)) t = complex_dtype(global_default);
      if (best >= 0 && is_complex(t) && is_floating(dtype)) t = complex_dtype(dtype);  // a float keeps its width
      dtype = t;
      best = level;
    }
  }
  return dtype;
}

bool can_cast(DType from, DType to) {
  if (is_complex(from) && !is_complex(to)) return false;
  if (is_floating(from) && !is_differentiable(to)) return false;
  return !(from != DType::Bool && to == DType::Bool);
}

std::string dtype_title(DType dtype) {
  std::string name = dtype_storage_name(dtype);
  return name.substr(0, name.size() - 6);
}

const char* cpp_type_name(DType t) {
  static constexpr const char* names[] = {"bool",     "unsigned char", "signed char",   "short int", "int",
                                          "long int", "c10::Half",     "c10::BFloat16", "float",     "double"};
  if (is_complex(t)) return t == DType::Complex64 ? "c10::complex<float>" : "c10::complex<double>";
  return names[static_cast<int>(t)];
}

}  // namespace retrograd
