// Loads a plug-in, computes and unloads it, repeatedly and from several threads: no thread may run unloaded code.
#include <dlfcn.h>

#include <cstdio>
#include <cstdlib>
#include <thread>
#include <vector>

namespace {

void use(const char* path) {
  void* plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!plugin) {
    std::fprintf(stderr, "%s\n", dlerror());
    std::exit(1);
  }
  const auto work = reinterpret_cast<double (*)(int)>(dlsym(plugin, "work"));
  if (work(300000) != 600002) std::exit(2);
  dlclose(plugin);
}

}  // namespace

int main(int, char** words) {
  const char* path = words[1];
  for (int turn = 0; turn < 50; ++turn) use(path);
  for (int round = 0; round < 10; ++round) {
    std::vector<std::thread> threads;
    for (int i = 0; i < 3; ++i)
      threads.emplace_back([path] {
        for (int turn = 0; turn < 20; ++turn) use(path);
      });
    for (std::thread& thread : threads) thread.join();
  }
  return 0;
}
