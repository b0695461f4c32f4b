#include "io/npy.h"

#include <gtest/gtest.h>

#include <cstring>
#include <filesystem>

#include "io/npy_header.h"
#include "io/test_files.h"
#include "tenon/tenon.h"

namespace tenon::io {
namespace {

namespace fs = std::filesystem;

class Npy : public Files {
 protected:
  /// A file with this dictionary, version 1, as NumPy pads it.
  void write_with(const std::string& dictionary, const std::string& data) const {
    const std::size_t length = (10 + dictionary.size() + 1 + 63) / 64 * 64 - 10;
    std::string content("\x93NUMPY\x01\x00", 8);
    content += {static_cast<char>(length & 0xFF), static_cast<char>(length >> 8)};
    content += dictionary + std::string(length - dictionary.size() - 1, ' ') + "\n";
    write(content + data);
  }
  std::string error() const {
    try {
      load_npy(path());
    } catch (const FileError& failure) {
      return failure.what();
    }
    return "no error";
  }
  /// The error says what is wrong and names the file.
  void expect_error(const std::string& words) const {
    EXPECT_NE(error().find(words), std::string::npos) << error();
    EXPECT_EQ(error().find(path()), 0u) << error();
  }
};

std::string dictionary(const std::string& descr, const std::string& shape, const std::string& order = "False") {
  return "{'descr': '" + descr + "', 'fortran_order': " + order + ", 'shape': " + shape + ", }";
}

TEST_F(Npy, EveryDtypeComesBack) {
  for (Dtype dtype : {bool_, uint8, int8, int16, int32, int64, float16, float32, float64}) {
    const Tensor written = arange(6, dtype == bool_ ? int64 : dtype).to(dtype).reshape({2, 3});
    save_npy(path(), written);
    const Tensor read = load_npy(path());
    EXPECT_EQ(read.dtype(), dtype);
    EXPECT_EQ(to_string(read), to_string(written)) << dtype_name(dtype);
  }
}

TEST_F(Npy, Bfloat16IsWidened) {
  save_npy(path(), full({3}, 1.5, bfloat16));
  EXPECT_EQ(load_npy(path()).dtype(), float32);
  EXPECT_EQ(load_npy(path())[2].item<float>(), 1.5f);
}

TEST_F(Npy, ShapesOfAllKindsComeBack) {
  for (const Dims& sizes : {Dims{}, Dims{0}, Dims{3}, Dims{2, 0, 3}, Dims{1, 1, 1, 1, 1, 1, 2}}) {
    save_npy(path(), zeros(sizes));
    EXPECT_EQ(load_npy(path()).sizes(), SizesView(sizes)) << to_string(sizes);
    EXPECT_EQ(bytes().size() % 4, 0u);
  }
}

TEST_F(Npy, StridedTensorsAreWrittenRowMajor) {
  save_npy(path(), arange(6, float32).reshape({2, 3}).t());
  EXPECT_EQ(to_string(load_npy(path())), "tensor([[0., 3.],\n        [1., 4.],\n        [2., 5.]])");
}

TEST_F(Npy, ElementsBeginAlignedAndTheHeaderIsNumPys) {
  save_npy(path(), zeros({2, 3}));
  const std::string content = bytes();
  EXPECT_EQ(content.size(), 128u + 24u);
  EXPECT_EQ(content.substr(10, 59), "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }");
  EXPECT_EQ(content[127], '\n');
}

TEST_F(Npy, ReadingMapsAndWritingNeverReachesTheFile) {
  save_npy(path(), zeros({1000}));
  const int64_t before = memory::statistics().in_use;
  Tensor mapped = load_npy(path());
  EXPECT_LT(memory::statistics().in_use - before, 1000);
  mapped.fill_(1);
  EXPECT_EQ(mapped[999].item<float>(), 1);
  EXPECT_EQ(load_npy(path())[999].item<float>(), 0);
}

TEST_F(Npy, BigEndianIsSwapped) {
  write_with(dictionary(">i4", "(2,)"), std::string("\0\0\0\1\0\0\1\0", 8));
  EXPECT_EQ(to_string(load_npy(path())), "tensor([  1, 256], dtype=torch.int32)");
  write_with(dictionary(">f8", "()"), std::string("\x3f\xf8\0\0\0\0\0\0", 8));
  EXPECT_EQ(load_npy(path()).item<double>(), 1.5);
}

TEST_F(Npy, FortranOrderBecomesStrides) {
  write_with(dictionary("|u1", "(2, 3)", "True"), "\1\2\3\4\5\6");
  const Tensor tensor = load_npy(path());
  EXPECT_EQ(tensor.strides(), SizesView({1, 2}));
  EXPECT_EQ(to_string(tensor), "tensor([[1, 3, 5],\n        [2, 4, 6]], dtype=torch.uint8)");
}

TEST_F(Npy, VersionsTwoAndThreeAreRead) {
  for (char version : {'\2', '\3'}) {
    const std::string text = dictionary("|u1", "(1,)") + "\n";
    write(std::string("\x93NUMPY") + version + '\0' + static_cast<char>(text.size()) + std::string(3, '\0') + text +
          "\7");
    EXPECT_EQ(load_npy(path()).item<int>(), 7);
  }
}

TEST_F(Npy, UnalignedElementsAreCopied) {
  const std::string text = dictionary("<f8", "(1,)");
  std::string content("\x93NUMPY\x01\x00", 8);
  const double value = 2.5;
  write(content + static_cast<char>(text.size()) + '\0' + text + std::string(reinterpret_cast<const char*>(&value), 8));
  EXPECT_EQ(load_npy(path()).item<double>(), 2.5);
}

TEST_F(Npy, CutShortAnywhereIsAnError) {
  save_npy(path(), arange(3, int16));
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_NE(error().find("is cut short"), std::string::npos) << length << ": " << error();
  }
}

TEST_F(Npy, LyingHeadersAreErrors) {
  const struct {
    const char* why;
    std::string text;
    const char* data;
    const char* words;
  } cases[] = {
      {"more than there is", dictionary("<f4", "(1000000,)"), "1234",
       "the file is damaged: it is cut short: the header says [1000000] of float32, 4000000 bytes, and 4 are there"},
      {"less than there is", dictionary("<f4", "(1,)"), "12345", "bytes are left over"},
      {"bytes overflow", dictionary("<f4", "(4611686018427387904,)"), "", "larger than any file"},
      {"product overflows", dictionary("|u1", "(4294967296, 4294967296)"), "", "larger than any file"},
      {"overflow beside a zero", dictionary("|u1", "(4294967296, 4294967296, 0)"), "", "larger than any file"},
      {"a size beyond int64", dictionary("|u1", "(99999999999999999999,)"), "", "a size is too large"},
      {"negative", dictionary("|u1", "(-1,)"), "", "negative size -1"},
      {"objects", dictionary("|O", "(1,)"), "12345678", "dtype '|O' is not supported"},
      {"complex of long doubles", dictionary("<c32", "(1,)"), "12345678", "not supported"},
      {"no dtype", dictionary("", "(1,)"), "1", "not supported"},
      {"structured", "{'descr': [('a', '<f4')], 'fortran_order': False, 'shape': (1,), }", "1234",
       "structured dtypes are not supported"},
      {"no shape", "{'descr': '<f4', 'fortran_order': False, }", "1234", "is missing"},
      {"twice", "{'descr': '<f4', 'descr': '<f4', }", "", "unexpected key 'descr'"},
      {"not a dictionary", "hello", "", "'{' expected"},
      {"unclosed", "{'descr': '<f4", "", "is not closed"},
      {"more behind it", dictionary("<f4", "(1,)") + " 1", "1234", "nothing more expected"},
      {"text for a size", dictionary("<f4", "(x,)"), "1234", "a size expected"},
      {"a bool of two", dictionary("|b1", "(2,)"), "\1\2", "bytes other than 0 and 1"},
  };
  for (const auto& c : cases) {
    SCOPED_TRACE(c.why);
    write_with(c.text, c.data);
    expect_error(c.words);
  }
}

TEST_F(Npy, OtherFilesAreErrors) {
  write("PK\3\4 something else");
  expect_error("is not a .npy file");
  write(std::string("\x93NUMPY\x09\x00\x01\x00 ", 11));
  expect_error("version 9 is not known");
  EXPECT_THROW(load_npy(path("missing.npy")), FileError);
  EXPECT_THROW(load_npy(testing::TempDir()), FileError);
}

TEST_F(Npy, NothingRemainsWithoutCommit) {
  write("old");
  {
    NpyWriter writer(path(), {1000}, float32);
    EXPECT_EQ(files(), 2);
  }
  EXPECT_EQ(files(), 1);
  EXPECT_EQ(bytes(), "old");
}

TEST_F(Npy, AFileMayBeReadAndReplaced) {
  save_npy(path(), ones({4}));
  const Tensor before = load_npy(path());
  save_npy(path(), before + 1);
  EXPECT_EQ(to_string(before), "tensor([1., 1., 1., 1.])");
  EXPECT_EQ(to_string(load_npy(path())), "tensor([2., 2., 2., 2.])");
  EXPECT_EQ(files(), 1);
}

TEST_F(Npy, PlacesThatCannotBeWrittenAreErrors) {
  EXPECT_THROW(save_npy(path("no/such/folder.npy"), ones({1})), FileError);
  EXPECT_EQ(files(), 0);
}

TEST_F(Npy, NamesAreUtf8) {
  save_npy(path() + "\u00e4\u2603.npy", ones({1}));
  EXPECT_EQ(load_npy(path() + "\u00e4\u2603.npy").item<float>(), 1);
  EXPECT_TRUE(fs::exists(fs::path(path()).parent_path() / u8"a\u00e4\u2603.npy"));
}

TEST_F(Npy, LinksAreFollowedNotReplaced) {
  save_npy(path("real.npy"), zeros({1}));
  fs::create_symlink(path("real.npy"), path("link.npy"));
  save_npy(path("link.npy"), ones({1}));
  EXPECT_TRUE(fs::is_symlink(path("link.npy")));
  EXPECT_EQ(load_npy(path("real.npy")).item<float>(), 1);
}

}  // namespace
}  // namespace tenon::io
