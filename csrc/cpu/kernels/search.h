// Binary search and counting, defined in search.cpp and exported by sort.cpp. Internal to kernels/.
#pragma once

#include "cpu/isa.h"
#include "kernels/array.h"
#include "kernels/sort.h"

namespace retrograd::cpu::RG_LEVEL_NS {

void searchsorted(const Array& out, const Array& sequence, const Array& values, const Array* sorter, bool right);
void among(bool* out, DType dtype, const void* in, int64_t numel, const void* values, int64_t n);
void histc(const Array& out, const Array& in, double low, double high);
void histogram(const Array& out, const Array& points, const Array& edges, const Array* weights);
void segments(const Array& owner, const Array& counts, const Array& given, bool offsets, bool whole, SegmentFault* fault);
void bins(int64_t* bins, const Array& in);
void bincount(const Array& out, const Array& in, const Array* weights);

}  // namespace retrograd::cpu::RG_LEVEL_NS
