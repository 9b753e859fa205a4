#include "core/promote.h"

#include <algorithm>

namespace retrograd {
namespace {

DType global_default = DType::Float32;

struct Names { const char *name, *storage, *cpp, *number; };
constexpr struct AllNames {
  Names of[kNumDTypes] = {};
  constexpr AllNames() {
    const auto add = [this](DType t, const char* name, const char* storage, const char* cpp, const char* number) {
      of[static_cast<int>(t)] = {name, storage, cpp, number};
    };
    add(DType::Bool, "bool", "BoolTensor", "bool", "bool");
    add(DType::UInt8, "uint8", "ByteTensor", "unsigned char", "uint8_t");
    add(DType::Int8, "int8", "CharTensor", "signed char", "int8_t");
    add(DType::Int16, "int16", "ShortTensor", "short int", "int16_t");
    add(DType::Int32, "int32", "IntTensor", "int", "int");
    add(DType::Int64, "int64", "LongTensor", "long int", "int64_t");
    add(DType::Float16, "float16", "HalfTensor", "c10::Half", "c10::Half");
    add(DType::BFloat16, "bfloat16", "BFloat16Tensor", "c10::BFloat16", "c10::BFloat16");
    add(DType::Float32, "float32", "FloatTensor", "float", "float");
    add(DType::Float64, "float64", "DoubleTensor", "double", "double");
    add(DType::Complex64, "complex64", "ComplexFloatTensor", "c10::complex<float>", "c10::complex<float>");
    add(DType::Complex128, "complex128", "ComplexDoubleTensor", "c10::complex<double>", "c10::complex<double>");
    add(DType::Float8_e4m3fn, "float8_e4m3fn", "Float8_e4m3fnTensor", "c10::Float8_e4m3fn", "c10::Float8_e4m3fn");
    add(DType::Float8_e5m2, "float8_e5m2", "Float8_e5m2Tensor", "c10::Float8_e5m2", "c10::Float8_e5m2");
    add(DType::Float8_e4m3fnuz, "float8_e4m3fnuz", "Float8_e4m3fnuzTensor", "c10::Float8_e4m3fnuz", "c10::Float8_e4m3fnuz");
    add(DType::Float8_e5m2fnuz, "float8_e5m2fnuz", "Float8_e5m2fnuzTensor", "c10::Float8_e5m2fnuz", "c10::Float8_e5m2fnuz");
    add(DType::Float8_e8m0fnu, "float8_e8m0fnu", "Float8_e8m0fnuTensor", "c10::Float8_e8m0fnu", "c10::Float8_e8m0fnu");
    add(DType::UInt16, "uint16", "UInt16Tensor", "short unsigned int", "uint16_t");
    add(DType::UInt32, "uint32", "UInt32Tensor", "unsigned int", "uint32_t");
    add(DType::UInt64, "uint64", "UInt64Tensor", "long unsigned int", "uint64_t");
  }
} kNames;

int category(DType t) { return t == DType::Bool ? 0 : is_complex(t) ? 3 : is_floating(t) ? 2 : 1; }

}  // namespace

DType default_dtype() { return global_default; }
void set_default_dtype(DType dtype) { global_default = dtype; }

const char* dtype_name(DType t) { return kNames.of[static_cast<int>(t)].name; }
const char* dtype_storage_name(DType t) { return kNames.of[static_cast<int>(t)].storage; }
const char* cpp_type_name(DType t) { return kNames.of[static_cast<int>(t)].cpp; }
const char* number_type_name(DType t) { return kNames.of[static_cast<int>(t)].number; }

namespace {

// Unsigned integers go with floats alone; what they would be beside other integers, nobody has decided.
[[gnu::cold]] DType promote_guest(DType a, DType b) {
  const DType other = is_guest(a) ? b : a;
  const bool floats = is_float8(a) || is_float8(b);
  if (is_floating(other) && !floats) return other;
  fail(ErrorKind::Runtime, "Promotion for ", floats ? "Float8 Types" : "uint16, uint32, uint64 types",
       " is not supported, attempted to promote ", dtype_title(a), " and ", dtype_title(b));
}

}  // namespace

DType promote(DType a, DType b) {
  if (a == b) return a;
  if (RG_UNLIKELY(is_guest(a) || is_guest(b))) return promote_guest(a, b);
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
      if (best >= 0 && is_complex(t) && is_floating(dtype)) t = complex_dtype(dtype);       // a float keeps its width
      if (best >= 0 && RG_UNLIKELY(is_guest(t) || is_guest(dtype))) t = promote(dtype, t);  // to say that it is none
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

}  // namespace retrograd
