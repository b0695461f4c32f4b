#include "io/csv.h"

#include <gtest/gtest.h>
#include <zlib.h>

#include <cmath>
#include <fstream>

#include "environment.h"
#include "io/load.h"
#include "tenon/tenon.h"

namespace tenon::io {
namespace {

/// A file of the running test only: tests run in parallel.
std::string path(const char* name = "csv_test.csv") {
  return testing::TempDir() + "/" + testing::UnitTest::GetInstance()->current_test_info()->name() + "." + name;
}
void write(const std::string& content, const char* name = "csv_test.csv") {
  std::ofstream(path(name), std::ios::binary) << content;
}

std::string error(const char* name = "csv_test.csv") {
  try {
    load(path(name));
  } catch (const FileError& failure) {
    return failure.what();
  }
  return "no error";
}

TEST(Csv, NumbersBecomeRows) {
  const struct {
    const char* why;
    const char* text;
    const char* want;
  } cases[] = {
      {"rows and columns", "1,2\n3,4\n", "tensor([[1., 2.],\n        [3., 4.]], dtype=torch.float64)"},
      {"no newline at the end", "1,2\n3,4", "tensor([[1., 2.],\n        [3., 4.]], dtype=torch.float64)"},
      {"Windows' newlines and spaces", " 1 ,\t2\r\n3, 4\r\n",
       "tensor([[1., 2.],\n        [3., 4.]], dtype=torch.float64)"},
      {"a spreadsheet's byte order mark",
       "\xEF\xBB\xBF"
       "1,2\n",
       "tensor([[1., 2.]], dtype=torch.float64)"},
      {"blank lines", "\n1\n\n2\n\n", "tensor([[1.],\n        [2.]], dtype=torch.float64)"},
      {"signs and exponents", "+1,-2,1e3,.5",
       "tensor([[ 1.0000e+00, -2.0000e+00,  1.0000e+03,  5.0000e-01]],\n       dtype=torch.float64)"},
  };
  for (const auto& c : cases) {
    write(c.text);
    EXPECT_EQ(to_string(load(path())), c.want) << c.why;
  }
}

TEST(Csv, ALineOfNamesIsSkippedAndNamesColumns) {
  for (const char* names : {"a,b\n", "\n a , \"b\"\r\n",
                            "\xEF\xBB\xBF"
                            "a,b\n",
                            "\"a\",b\n"}) {
    write(std::string(names) + "1,2\n3,4\n");
    EXPECT_EQ(to_string(load(path())), "tensor([[1., 2.],\n        [3., 4.]], dtype=torch.float64)") << names;
    EXPECT_EQ(to_string(load(path() + ":b")), "tensor([2., 4.], dtype=torch.float64)") << names;
  }
  write(",\"x, y\",\"5\"\" disk\",\xC3\xA4\n1,2,3,4\n");
  EXPECT_EQ(load(path() + ":x, y").item<double>(), 2);
  EXPECT_EQ(load(path() + ":5\" disk").item<double>(), 3);
  EXPECT_EQ(load(path() + ":\xC3\xA4").item<double>(), 4);
  const auto column_error = [](const char* column) {
    try {
      load(path() + ":" + column);
    } catch (const FileError& failure) {
      return std::string(failure.what());
    }
    return std::string("no error");
  };
  EXPECT_EQ(column_error("z"), path() + ": has no column 'z'; it holds , x, y, 5\" disk, \xC3\xA4");
  write("nan,inf\n1,2\n");
  EXPECT_EQ(load(path()).sizes(), SizesView({2, 2})) << "numbers are no names";
  EXPECT_EQ(column_error("nan"), path() + ": has no line of names, so 'nan' is none of its columns");
}

TEST(Csv, ErrorsNameLineAndColumn) {
  const struct {
    std::string text;
    const char* words;
  } cases[] = {
      {"1,2\n3,x\n", "line 2, column 2: 'x' is not a number"},
      {"1,2\n3\n", "line 2, column 1: the row ends here; the first row has 2 columns"},
      {"1,2\n3,4,5\n", "line 2, column 3: the first row has 2 columns only"},
      {"1,,2\n", "line 1, column 2: a number is missing"},
      {"1,2,\n", "line 1, column 3: a number is missing"},
      {"1\n\n2 3\n", "line 3, column 1: '2 3' is not a number"},
      {"1e999\n", "line 1, column 1: '1e999' is out of float64's range"},
      {"+-1\n", "line 1, column 1: '+-1' is not a number"},
      {std::string("1\0,2\n", 5), "line 1, column 1: '1\\0' is not a number"},
      {"a,1\n", "line 1, column 1: 'a' is not a number"},
      {"a,b\n1\n", "line 2, column 1: the row ends here; the line of names has 2 columns"},
      {"a,b\n1,2,3\n", "line 2, column 3: the row ends here; the line of names has 2 columns"},
      {"a,b\nc,d\n", "line 2, column 1: 'c' is not a number"},
      {"a,b\n", "holds no numbers"},
      {"", "holds no numbers"},
      {"\n \n", "holds no numbers"},
  };
  for (const auto& c : cases) {
    write(c.text);
    EXPECT_EQ(error(), path() + ": " + c.words) << c.text;
  }
}

TEST(Csv, DigitsAreRead) {
  const Tensor digits = load("data/digits.csv.gz");
  EXPECT_EQ(digits.sizes(), SizesView({1797, 65}));
  EXPECT_EQ(digits.slice(1, 64, 65).amax().item<int>(), 9);
  EXPECT_EQ(digits.slice(1, 0, 64).amax().item<int>(), 16);
}

TEST(Csv, DamagedGzipIsAnError) {
  write("1,2\n", "plain.csv.gz");
  EXPECT_NE(error("plain.csv.gz").find("is not a gzip file"), std::string::npos);
  gzFile file = gzopen(path("small.csv.gz").c_str(), "wb");
  gzputs(file, "1,2\n3,4\n");
  gzclose(file);
  std::ifstream input(path("small.csv.gz"), std::ios::binary);
  const std::string whole{std::istreambuf_iterator<char>(input), {}};
  EXPECT_EQ(error("small.csv.gz"), "no error");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length), "cut.csv.gz");
    EXPECT_EQ(error("cut.csv.gz").find(path("cut.csv.gz")), 0u) << length << ": " << error("cut.csv.gz");
  }
  std::string damaged = whole;
  damaged[damaged.size() - 6] ^= 1;  // its checksum
  write(damaged, "damaged.csv.gz");
  EXPECT_NE(error("damaged.csv.gz").find("it is no sound gzip file"), std::string::npos);
}

TEST(Csv, MembersOfAGzipFileAreReadOneAfterTheOther) {
  for (const char* mode : {"wb", "ab"}) {
    gzFile file = gzopen(path("two.csv.gz").c_str(), mode);
    gzputs(file, mode[0] == 'w' ? "1,2\n" : "3,4\n");
    gzclose(file);
  }
  EXPECT_EQ(load(path("two.csv.gz")).sizes(), SizesView({2, 2}));
  std::ofstream(path("two.csv.gz"), std::ios::binary | std::ios::app) << std::string(512, '\0');
  EXPECT_EQ(load(path("two.csv.gz")).sizes(), SizesView({2, 2}));
  std::ofstream(path("two.csv.gz"), std::ios::binary | std::ios::app) << "more";
  EXPECT_NE(error("two.csv.gz").find("bytes are left over"), std::string::npos);
}

TEST(Csv, WhatUnpacksBeyondTheLimitIsAnError) {
  gzFile file = gzopen(path("bomb.csv.gz").c_str(), "wb9");
  const std::string newlines(1 << 20, '\n');
  for (int i = 0; i < 8; ++i) gzwrite(file, newlines.data(), static_cast<unsigned>(newlines.size()));
  gzputs(file, "1\n");
  gzclose(file);
  set_variable("TENON_LOAD_LIMIT", "4000000");
  EXPECT_EQ(error("bomb.csv.gz"), path("bomb.csv.gz") +
                                      ": unpacks to more than 4000000 bytes; the environment variable "
                                      "TENON_LOAD_LIMIT sets the limit in bytes");
  set_variable("TENON_LOAD_LIMIT", "10000000");
  EXPECT_EQ(error("bomb.csv.gz"), "no error");
  set_variable("TENON_LOAD_LIMIT", "4G");
  EXPECT_THROW(load(path("bomb.csv.gz")), ValueError);
  set_variable("TENON_LOAD_LIMIT", nullptr);
}

TEST(Csv, OtherEndingsAreErrors) {
  EXPECT_THROW(load("a.txt"), FileError);
  EXPECT_THROW(load(".npy"), FileError);
  EXPECT_THROW(output_format("a.csv.gz"), FileError);
}

std::string written(const Tensor& tensor) {
  save_csv(path(), tensor);
  std::ifstream input(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(input), {}};
}

TEST(Csv, TensorsBecomeLines) {
  EXPECT_EQ(written(tensor({1.5, -2., 0.1, 1e30}).view({2, 2}).t()), "1.5,0.1\n-2,1e+30\n");
  EXPECT_EQ(written(tensor({0.1f, 2.}).to(float64)), "0.10000000149011612\n2\n");
  EXPECT_EQ(written(full({}, 7)), "7\n");
  EXPECT_EQ(written(tensor({1, 0}).to(bool_).view({1, 2})), "1,0\n");
  EXPECT_EQ(written(tensor({INFINITY, -INFINITY, -NAN}).to(float16)), "inf\n-inf\nnan\n");
  EXPECT_EQ(written(full({1}, INT64_MIN)), "-9223372036854775808\n");
  EXPECT_EQ(written(full({1}, -1).to(uint64)), "18446744073709551615\n");
  EXPECT_EQ(written(tensor({0.1}).requires_grad_()), "0.1\n");
  EXPECT_EQ(written(empty({0, 3})), "");
  EXPECT_EQ(written(empty({3, 0})), "");
}

TEST(Csv, WrittenNumbersAreReadAgain) {
  for (const Dtype dtype : {float16, bfloat16, float32, float64, int32, uint8}) {
    const Tensor x = randn({700, 50}, Options(float64)).mul(100).to(dtype);
    save_csv(path(), x);
    EXPECT_TRUE(equal(load(path()).to(dtype), x)) << dtype_name(dtype);
  }
}

TEST(Csv, WhatHasNoRowsAndColumnsIsNotWritten) {
  EXPECT_THROW(save_csv(path(), empty({2, 2, 2})), Error);
  EXPECT_THROW(save_csv(path(), zeros({2}, Options(complex64))), TypeError);
  EXPECT_THROW(load(path()), FileError) << "no file was begun";
  EXPECT_THROW(save_csv(testing::TempDir() + "/no/folder/a.csv", ones({2})), FileError);
}

}  // namespace
}  // namespace tenon::io
