// Files of the running test, in a folder of its own that is removed at its end: tests run in parallel.
#pragma once
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>

namespace tenon::io {

class Files : public testing::Test {
 protected:
  void SetUp() override {
    const testing::TestInfo& test = *testing::UnitTest::GetInstance()->current_test_info();
    folder_ = std::filesystem::path(testing::TempDir()) / (std::string(test.test_suite_name()) + "_" + test.name());
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string path(const std::string& name = "a") const { return (folder_ / name).string(); }
  int files() const {
    return static_cast<int>(
        std::distance(std::filesystem::directory_iterator(folder_), std::filesystem::directory_iterator()));
  }
  std::string bytes(const std::string& name = "a") const {
    std::ifstream file(path(name), std::ios::binary);
    return {std::istreambuf_iterator<char>(file), {}};
  }
  void write(const std::string& content, const std::string& name = "a") const {
    std::ofstream(path(name), std::ios::binary) << content;
  }

 private:
  std::filesystem::path folder_;
};

}  // namespace tenon::io
