#include "io/output.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <thread>
#include <vector>

#include "environment.h"
#include "io/fail.h"
#include "io/input.h"
#include "io/test_files.h"

namespace tenon::io {
namespace {

namespace fs = std::filesystem;

class SavedFiles : public Files {
 protected:
  mode_t mode(const std::string& name = "a") const {
    struct stat status = {};
    stat(path(name).c_str(), &status);
    return status.st_mode & 07777;
  }
  void save(const std::string& content, const std::string& name = "a") const {
    OutputFile file(path(name));
    file.write(content.data(), content.size());
    file.commit();
  }
  static std::string loaded(const std::string& path, Reading reading = Reading::copied) {
    const InputFile file(path, reading);
    return {reinterpret_cast<const char*>(file.data()), static_cast<std::size_t>(file.nbytes())};
  }
};
using Output = SavedFiles;
using Input = SavedFiles;

TEST_F(Output, TheModeOfAFileIsKeptAndNewOnesGoByTheUmask) {
  for (mode_t wanted : {0600u, 0640u, 0666u, 0755u}) {
    write("old");
    chmod(path().c_str(), wanted);
    save("new");
    EXPECT_EQ(mode(), wanted);
    EXPECT_EQ(bytes(), "new");
  }
  const mode_t before = umask(027);
  save("new", "b");
  umask(before);
  EXPECT_EQ(mode("b"), 0640u);
}

TEST_F(Output, WhatWillReplaceAPrivateFileIsPrivateBefore) {
  write("old");
  chmod(path().c_str(), 0600);
  const OutputFile file(path());
  for (const auto& entry : fs::directory_iterator(fs::path(path()).parent_path()))
    EXPECT_EQ(mode(entry.path().filename().string()), 0600u);
}

TEST_F(Output, LinksOfAllKindsLeadToTheFile) {
  write("old", "real");
  fs::create_directories(path("sub"));
  fs::create_symlink("real", path("link"));
  fs::create_symlink("../link", path("sub/second"));
  fs::create_symlink("not-yet", path("dangling"));
  fs::create_symlink("loop", path("loop"));
  save("1", "link");
  EXPECT_EQ(bytes("real"), "1");
  save("2", "sub/second");
  EXPECT_EQ(bytes("real"), "2");
  save("3", "dangling");
  EXPECT_EQ(bytes("not-yet"), "3");
  for (const char* name : {"link", "sub/second", "dangling"}) EXPECT_TRUE(fs::is_symlink(path(name))) << name;
  EXPECT_THROW(save("4", "loop"), SystemError);
}

TEST_F(Output, NobodyForeseesTheNameOfTheFileAside) {
  std::vector<std::string> names;
  for (int i = 0; i < 2; ++i) {
    const OutputFile file(path());
    ASSERT_EQ(files(), 1);
    names.push_back(fs::directory_iterator(fs::path(path()).parent_path())->path().filename().string());
  }
  EXPECT_NE(names[0], names[1]);
  EXPECT_EQ(files(), 0);
}

TEST_F(Output, SeveralWritersOfOnePathEachLeaveItWhole) {
  constexpr int kWriters = 4, kTimes = 30, kSize = 300000;
  std::vector<std::thread> writers;
  for (int writer = 0; writer < kWriters; ++writer)
    writers.emplace_back([&, writer] {
      for (int i = 0; i < kTimes; ++i) {
        save(std::string(kSize, static_cast<char>('a' + writer)));
        const std::string content = bytes();
        EXPECT_EQ(content.size(), static_cast<std::size_t>(kSize));
        EXPECT_EQ(content.find_first_not_of(content[0]), std::string::npos);
      }
    });
  for (std::thread& writer : writers) writer.join();
  EXPECT_EQ(files(), 1);
}

TEST_F(Output, AFileThatMayNotBeWrittenStays) {
  write("old");
  chmod(path().c_str(), 0444);
  if (geteuid() == 0) GTEST_SKIP() << "root may write everything";
  EXPECT_THROW(save("new"), SystemError);
  EXPECT_EQ(bytes(), "old");
}

TEST_F(Output, DirectoriesAndMissingFoldersAreErrors) {
  EXPECT_THROW(OutputFile{testing::TempDir()}, SystemError);
  EXPECT_THROW(OutputFile(path("no/such/folder")), SystemError);
  EXPECT_THROW(OutputFile(path(std::string("a\0b", 3))), FileError);
  EXPECT_EQ(files(), 0);
}

TEST_F(Output, DevicesAreWrittenInTheirPlace) {
  {
    OutputFile nothing("/dev/null");
    EXPECT_TRUE(nothing.is_stream());
    nothing.write("x", 1);
    nothing.commit();
  }
  EXPECT_TRUE(fs::is_character_file("/dev/null"));
  OutputFile full("/dev/full");
  EXPECT_THROW(full.write("x", 1), SystemError);
}

TEST_F(Output, AFileWithoutANameIsWrittenThroughItsDescriptor) {
  write("a longer old content");
  const int descriptor = open(path().c_str(), O_RDWR);
  ASSERT_GE(descriptor, 0);
  fs::remove(path());
  {
    OutputFile file("/proc/self/fd/" + std::to_string(descriptor));
    EXPECT_TRUE(file.is_stream());
    file.write("new", 3);
    file.commit();
  }
  char start[4] = {};
  EXPECT_EQ(pread(descriptor, start, 3, 0), 3);
  EXPECT_STREQ(start, "new");
  close(descriptor);
  EXPECT_EQ(files(), 0);
}

TEST_F(Output, APipeIsWrittenAsItComes) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  std::string got;
  std::thread reader([&] { got = loaded(path()); });
  const std::string content(1 << 20, 'x');  // more than a pipe holds: writes are short
  save(content);
  reader.join();
  EXPECT_TRUE(got == content);
  EXPECT_TRUE(fs::is_fifo(path()));
}

TEST_F(Output, AFileThatMayNotGrowIsAnErrorAndLeavesNothing) {
  write("old");
  struct rlimit before = {};
  getrlimit(RLIMIT_FSIZE, &before);
  const auto old_handler = std::signal(SIGXFSZ, SIG_IGN);
  const struct rlimit small = {1000, before.rlim_max};
  setrlimit(RLIMIT_FSIZE, &small);
  EXPECT_THROW(save(std::string(5000, 'x')), SystemError);
  {
    OutputFile file(path());
    EXPECT_THROW(file.map(5000), SystemError);
  }
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, old_handler);
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(bytes(), "old");
}

TEST_F(Input, RegularFilesAreMappedOrCopied) {
  for (const std::string& content : {std::string(), std::string("x"), std::string(100000, 'y')}) {
    write(content);
    EXPECT_EQ(loaded(path(), Reading::mapped), content);
    EXPECT_EQ(loaded(path(), Reading::copied), content);
  }
  EXPECT_NE(loaded("/proc/self/status"), "") << "says that it is empty";
  EXPECT_THROW(loaded(testing::TempDir()), FileError);
  EXPECT_THROW(loaded(path("missing")), SystemError);
}

TEST_F(Input, ACopyStaysWhenTheFileShrinks) {
  write(std::string(100000, 'y'));
  const InputFile file(path(), Reading::copied);
  fs::resize_file(path(), 0);
  EXPECT_EQ(file.data()[99999], std::byte{'y'});
}

TEST_F(Input, AMappingThatIsCutGivesZerosAndAnErrorThatNamesTheFile) {
  write(std::string(100000, 'y'));
  const InputFile file(path(), Reading::mapped);
  EXPECT_NO_THROW(check_lost_mappings());
  fs::resize_file(path(), 4096);
  EXPECT_EQ(file.data()[0], std::byte{'y'});
  EXPECT_EQ(file.data()[50000], std::byte{0});
  EXPECT_EQ(file.data()[99999], std::byte{0});
  try {
    check_lost_mappings();
    FAIL();
  } catch (const FileError& error) {
    EXPECT_EQ(std::string(error.what()).find(path() + ": has become shorter"), 0u) << error.what();
  }
  EXPECT_NO_THROW(check_lost_mappings()) << "once is enough";
}

TEST_F(Input, AResultOfALostMappingIsNotCommitted) {
  write(std::string(100000, 'y'));
  const InputFile file(path(), Reading::mapped);
  OutputFile out(path("out"));
  fs::resize_file(path(), 0);
  EXPECT_THROW(
      {
        volatile std::byte first = file.data()[0];
        static_cast<void>(first);
        out.commit();
      },
      FileError);
}

TEST_F(Input, AMappingStaysWhenTheFileIsReplaced) {
  write(std::string(100000, 'y'));
  const InputFile file(path(), Reading::mapped);
  save("new");
  EXPECT_EQ(file.data()[99999], std::byte{'y'});
}

TEST_F(Input, AStreamWithoutEndStopsAtTheLimit) {
  set_variable("TENON_LOAD_LIMIT", "100000");
  std::string text;
  try {
    loaded("/dev/zero");
  } catch (const FileError& error) {
    text = error.what();
  }
  set_variable("TENON_LOAD_LIMIT", nullptr);
  EXPECT_EQ(text,
            "/dev/zero: holds more than 100000 bytes; the environment variable TENON_LOAD_LIMIT sets the limit "
            "in bytes");
}

TEST_F(Input, APipeIsReadToItsEnd) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  std::thread writer([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(100));  // the reader waits
    write("hello");
  });
  EXPECT_EQ(loaded(path()), "hello");
  writer.join();
}

struct Stopped {};

TEST_F(Input, WaitingForAPipeCanBeStopped) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  set_wait_hook([] { throw Stopped(); });
  EXPECT_THROW(loaded(path()), Stopped);
  EXPECT_THROW(OutputFile{path()}, Stopped);
  set_wait_hook(nullptr);
}

}  // namespace
}  // namespace tenon::io
