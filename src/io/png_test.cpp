#include "io/png.h"

#include <gtest/gtest.h>
#include <png.h>

#include <cmath>
#include <filesystem>
#include <fstream>

#include "environment.h"
#include "tenon/tenon.h"

namespace tenon::io {
namespace {

/// A file of the running test only: tests run in parallel.
std::string path() {
  return testing::TempDir() + "/png_test." + testing::UnitTest::GetInstance()->current_test_info()->name() + ".png";
}

std::string bytes() {
  std::ifstream file(path(), std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
void write(const std::string& content) { std::ofstream(path(), std::ios::binary) << content; }

std::string error() {
  try {
    load_png(path());
  } catch (const FileError& failure) {
    return failure.what();
  }
  return "no error";
}

/// Writes rows with libpng itself, in formats that save_png does not write.
void write_foreign(int width, int height, int depth, int colour, int interlace, const std::string& samples) {
  FILE* file = std::fopen(path().c_str(), "wb");
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_init_io(png, file);
  png_set_IHDR(png, info, width, height, depth, colour, interlace, PNG_COMPRESSION_TYPE_DEFAULT,
               PNG_FILTER_TYPE_DEFAULT);
  if (colour == PNG_COLOR_TYPE_PALETTE) {
    const png_color palette[] = {{255, 0, 0}, {0, 128, 255}};
    png_set_PLTE(png, info, palette, 2);
  }
  png_write_info(png, info);
  std::vector<png_bytep> rows;
  std::string copy = samples;
  for (int row = 0; row < height; ++row)
    rows.push_back(reinterpret_cast<png_bytep>(copy.data()) + row * (copy.size() / static_cast<std::size_t>(height)));
  png_write_image(png, rows.data());
  png_write_end(png, nullptr);
  png_destroy_write_struct(&png, &info);
  std::fclose(file);
}

TEST(Png, PicturesComeBack) {
  manual_seed(1);
  for (const Dims& sizes : {Dims{1, 1}, Dims{5, 7}, Dims{4, 3, 2}, Dims{4, 3, 3}, Dims{2, 9, 4}}) {
    const Tensor picture = randint(0, 256, sizes, uint8);
    save_png(path(), picture);
    EXPECT_EQ(load_png(path()).sizes(), SizesView(sizes));
    EXPECT_EQ(ne(load_png(path()), picture).sum().item<int>(), 0) << to_string(sizes);
  }
}

TEST(Png, FloatsFromZeroToOneAreScaled) {
  save_png(path(), tensor({{0.0, 0.5, 1.0}, {-0.001, 1.001, 0.25}}));
  EXPECT_EQ(to_string(load_png(path())), "tensor([[  0, 128, 255],\n        [  0, 255,  64]], dtype=torch.uint8)");
  save_png(path(), tensor({{0.0019607842}}));  // less than half a step, by the last bit
  EXPECT_EQ(to_string(load_png(path())), "tensor([[0]], dtype=torch.uint8)");
}

TEST(Png, FloatsBeyondZeroToOneAreRefusedAndTheTextSaysTheirRange) {
  const struct {
    const char* why;
    Tensor picture;
    const char* words;
  } cases[] = {
      {"0 to 255 as floats", tensor({{0.0, 255.0}}), "holds 0 to 255"},
      {"negative", tensor({{-2.5, 1.0}}), "holds -2.5 to 1"},
      {"infinite", tensor({{0.0, HUGE_VAL}}), "holds 0 to inf"},
      {"NaN", tensor({{0.5, std::nan("")}}), "holds NaN"},
      {"half", full({2, 2}, 2, float16), "holds 2 to 2"},
  };
  for (const auto& c : cases) {
    std::string text = "no error";
    try {
      save_png(path(), c.picture);
    } catch (const Error& failure) {
      text = failure.what();
    }
    EXPECT_NE(text.find(c.words), std::string::npos) << c.why << ": " << text;
    EXPECT_FALSE(std::filesystem::exists(path())) << c.why;
  }
}

TEST(Png, BoolsAreBlackAndWhite) {
  save_png(path(), tensor({{true, false}}));
  EXPECT_EQ(to_string(load_png(path())), "tensor([[255,   0]], dtype=torch.uint8)");
}

TEST(Png, StridedTensorsAreWrittenAsTheyLook) {
  save_png(path(), arange(6, uint8).reshape({2, 3}).t());
  EXPECT_EQ(to_string(load_png(path())), "tensor([[0, 3],\n        [1, 4],\n        [2, 5]], dtype=torch.uint8)");
}

TEST(Png, SixteenBitsStaySixteen) {
  write_foreign(2, 1, 16, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, std::string("\x80\x01\xff\xff", 4));
  EXPECT_EQ(to_string(load_png(path())), "tensor([[32769, 65535]], dtype=torch.int32)");
  write_foreign(1, 1, 16, PNG_COLOR_TYPE_RGB, PNG_INTERLACE_NONE, std::string("\0\1\1\0\2\3", 6));
  EXPECT_EQ(to_string(load_png(path())), "tensor([[[  1, 256, 515]]], dtype=torch.int32)");
}

TEST(Png, OtherFormatsBecomeEightBits) {
  write_foreign(8, 1, 1, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_NONE, "\xA0");
  EXPECT_EQ(to_string(load_png(path())), "tensor([[255,   0, 255,   0,   0,   0,   0,   0]], dtype=torch.uint8)");
  write_foreign(2, 1, 8, PNG_COLOR_TYPE_PALETTE, PNG_INTERLACE_NONE, std::string("\1\0", 2));
  EXPECT_EQ(to_string(load_png(path())), "tensor([[[  0, 128, 255],\n         [255,   0,   0]]], dtype=torch.uint8)");
  write_foreign(2, 2, 8, PNG_COLOR_TYPE_GRAY, PNG_INTERLACE_ADAM7, "\1\2\3\4");
  EXPECT_EQ(to_string(load_png(path())), "tensor([[1, 2],\n        [3, 4]], dtype=torch.uint8)");
}

TEST(Png, CutShortAnywhereIsAnError) {
  save_png(path(), arange(12, uint8).reshape({3, 4}));
  const std::string whole = bytes();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length));
    EXPECT_EQ(error().find(path()), 0u) << length << ": " << error();
  }
}

TEST(Png, DamageIsAnErrorOrHarmless) {
  save_png(path(), arange(12, uint8).reshape({3, 4}));
  const std::string whole = bytes();
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x55);
    write(damaged);
    EXPECT_NE(error(), "") << at;
  }
}

TEST(Png, APromiseBeyondTheFileIsAnError) {
  save_png(path(), zeros({1, 1}, uint8));
  std::string lying = bytes();
  // 500,000 x 500,000, with the header's checksum made to fit.
  lying.replace(16, 8, std::string("\0\x07\xA1\x20\0\x07\xA1\x20", 8));
  uint32_t checksum = 0xFFFFFFFFu;
  for (std::size_t i = 12; i < 29; ++i) {
    checksum ^= static_cast<unsigned char>(lying[i]);
    for (int bit = 0; bit < 8; ++bit) checksum = (checksum >> 1) ^ (0xEDB88320u & (0u - (checksum & 1u)));
  }
  checksum = ~checksum;
  for (int i = 0; i < 4; ++i) lying[29 + static_cast<std::size_t>(i)] = static_cast<char>(checksum >> (24 - 8 * i));
  write(lying);
  EXPECT_NE(error().find("says 500000 x 500000 pixels"), std::string::npos) << error();
}

TEST(Png, APictureBeyondTheLimitIsAnError) {
  save_png(path(), zeros({64, 64, 3}, uint8));
  set_variable("TENON_LOAD_LIMIT", "12287");
  EXPECT_EQ(error(), path() +
                         ": the picture takes more than 12287 bytes; the environment variable TENON_LOAD_LIMIT "
                         "sets the limit in bytes");
  set_variable("TENON_LOAD_LIMIT", "12288");
  EXPECT_EQ(error(), "no error");
  set_variable("TENON_LOAD_LIMIT", nullptr);
}

TEST(Png, WhatIsNoPictureIsRefused) {
  write("something else");
  EXPECT_NE(error().find("is not a PNG file"), std::string::npos);
  std::filesystem::remove(path());
  EXPECT_NE(error().find("cannot be opened"), std::string::npos);
  EXPECT_THROW(save_png(path(), zeros({4})), Error);
  EXPECT_THROW(save_png(path(), zeros({4, 4, 5})), Error);
  EXPECT_THROW(save_png(path(), zeros({0, 4})), Error);
  EXPECT_THROW(save_png(path(), zeros({2, 2}, int64)), TypeError);
  EXPECT_FALSE(std::filesystem::exists(path()));
}

}  // namespace
}  // namespace tenon::io
