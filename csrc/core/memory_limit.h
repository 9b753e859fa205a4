// How much memory this process may use.
#pragma once

#include <cstdint>
#include <string>

namespace retrograd {

// The least of physical memory, the limits of the process (ulimit) and those of its control group and all groups around it, of version 1
// and 2. Reads files below `root`, which is empty but in tests: takes some 100 us.
int64_t memory_allowance(const std::string& root = "");

// "512M" -> 536870912, with K, M, G and T in powers of 1024; negative when it is no number of bytes.
int64_t parse_bytes(const char* text) noexcept;

}  // namespace retrograd
