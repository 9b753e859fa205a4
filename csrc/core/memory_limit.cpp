#include "core/memory_limit.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <vector>

#include "core/guards.h"

namespace retrograd {
namespace {

constexpr int64_t kUnlimited = std::numeric_limits<int64_t>::max();

// The lines of a file; none if it cannot be read. Without streams: they would be the only ones here, and the C++ run time is linked in.
std::vector<std::string> read_lines(const std::string& path) {
  std::vector<std::string> lines;
  std::FILE* file = std::fopen(path.c_str(), "re");
  if (!file) return lines;
  char* line = nullptr;
  size_t room = 0;
  const AtExit close([&] {
    std::free(line);
    std::fclose(file);
  });
  for (ssize_t n; (n = getline(&line, &room, file)) > 0;) lines.emplace_back(line, static_cast<size_t>(n - (line[n - 1] == '\n')));
  return lines;
}

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> words;
  for (size_t begin = 0, end; begin < text.size(); begin = end + 1) {
    end = std::min(text.find(separator, begin), text.size());
    if (end > begin) words.push_back(text.substr(begin, end - begin));
  }
  return words;
}

// A mounted hierarchy of control groups: what is `root` in it is found at `point`.
struct Mount { std::string type, root, point, options; };

// Blanks in paths are written as \040.
std::string unescape(const std::string& text) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text[i] == '\\' && i + 3 < text.size()) {
      out += static_cast<char>(std::strtol(text.substr(i + 1, 3).c_str(), nullptr, 8));
      i += 3;
    } else {
      out += text[i];
    }
  }
  return out;
}

// 35 31 0:32 / /sys/fs/cgroup/memory rw,relatime shared:9 - cgroup cgroup rw,memory
std::vector<Mount> read_mounts(const std::string& path) {
  std::vector<Mount> mounts;
  for (const std::string& line : read_lines(path)) {
    const std::vector<std::string> words = split(line, ' ');
    const auto dash = std::find(words.begin(), words.end(), "-");
    if (dash - words.begin() < 5 || words.end() - dash < 4) continue;
    if (dash[1] != "cgroup" && dash[1] != "cgroup2") continue;
    mounts.push_back({dash[1], unescape(words[3]), unescape(words[4]), dash[3]});
  }
  return mounts;
}

bool contains_word(const std::string& list, const std::string& word) {
  const std::vector<std::string> words = split(list, ',');
  return std::find(words.begin(), words.end(), word) != words.end();
}

int64_t parse_limit(const std::string& text) {
  char* end;
  const long long value = std::strtoll(text.c_str(), &end, 10);  // the largest there is where it does not fit
  return end != text.c_str() && value >= 0 ? value : kUnlimited;
}

// A file that holds a number, or "max".
int64_t read_limit(const std::string& path) {
  const std::vector<std::string> lines = read_lines(path);
  return lines.empty() ? kUnlimited : parse_limit(lines[0]);
}

// In a container the groups around it may be out of sight, but version 1 counts them in.
int64_t read_hierarchical_limit(const std::string& path) {
  for (const std::string& line : read_lines(path))
    if (line.starts_with("hierarchical_memory_limit ")) return parse_limit(line.substr(line.find(' ')));
  return kUnlimited;
}

int64_t group_limit(const std::string& directory) {
  return std::min({read_limit(directory + "/memory.max"), read_limit(directory + "/memory.high"),
                   read_limit(directory + "/memory.limit_in_bytes"), read_hierarchical_limit(directory + "/memory.stat")});
}

// The least limit of a group and those around it, up to the one that is mounted.
int64_t nested_limit(const std::string& root, const Mount& mount, const std::string& group) {
  std::string below;
  if (mount.root == "/") {
    below = group;
  } else if (group.starts_with(mount.root) && (group.size() == mount.root.size() || group[mount.root.size()] == '/')) {
    below = group.substr(mount.root.size());
  }  // otherwise the group is outside of what is mounted, and only that can be read
  if (below == "/" || below.starts_with("/..")) below.clear();
  int64_t least = kUnlimited;
  for (;;) {
    least = std::min(least, group_limit(root + mount.point + below));
    if (below.empty()) return least;
    below.resize(below.rfind('/'));
  }
}

int64_t groups_limit(const std::string& root) {
  int64_t least = kUnlimited;
  const std::vector<Mount> mounts = read_mounts(root + "/proc/self/mountinfo");
  for (const std::string& line : read_lines(root + "/proc/self/cgroup")) {  // 4:memory:/group, or 0::/group in version 2
    const size_t first = line.find(':'), second = line.find(':', first + 1);
    if (first == std::string::npos || second == std::string::npos || line[second + 1] != '/') continue;
    const std::string controllers = line.substr(first + 1, second - first - 1), group = line.substr(second + 1);
    for (const Mount& m : mounts) {
      const bool same = controllers.empty()
                            ? m.type == "cgroup2"
                            : m.type == "cgroup" && contains_word(controllers, "memory") && contains_word(m.options, "memory");
      if (same) least = std::min(least, nested_limit(root, m, group));
    }
  }
  return least;
}

int64_t process_limit() {
  int64_t least = kUnlimited;
  for (const auto what : {RLIMIT_AS, RLIMIT_DATA}) {
    rlimit r;
    if (getrlimit(what, &r) == 0 && r.rlim_cur != RLIM_INFINITY) least = std::min(least, static_cast<int64_t>(r.rlim_cur));
  }
  return least;
}

}  // namespace

int64_t memory_allowance(const std::string& root) {
  const int64_t physical = static_cast<int64_t>(sysconf(_SC_PHYS_PAGES)) * sysconf(_SC_PAGESIZE);
  return std::min({physical > 0 ? physical : kUnlimited, process_limit(), groups_limit(root)});
}

int64_t parse_bytes(const char* text) noexcept {
  char* end;
  const double value = std::strtod(text, &end);
  if (end == text || !(value >= 0)) return -1;
  double unit = 1;
  constexpr std::string_view units = "KMGT";
  if (const size_t at = *end ? units.find(*end >= 'a' ? static_cast<char>(*end - 32) : *end) : std::string_view::npos;
      at != std::string_view::npos) {
    for (size_t i = 0; i <= at; ++i) unit *= 1024;
    ++end;
  }
  return *end || value * unit > 9e18 ? -1 : static_cast<int64_t>(value * unit);
}

}  // namespace retrograd
