#include "io/npz.h"

#include <zlib.h>

#include "environment.h"
#include "io/load.h"
#include "io/npy.h"
#include "io/test_files.h"
#include "tenon/tenon.h"

namespace tenon::io {
namespace {

class Npz : public Files {
 protected:
  std::string name(const std::string& entry = "") const { return path("a.npz") + (entry.empty() ? "" : ":" + entry); }
  std::string error(const std::string& entry = "") const {
    try {
      load(name(entry));
    } catch (const FileError& failure) {
      return failure.what();
    }
    return "no error";
  }
  void save(const std::vector<std::pair<std::string, Tensor>>& tensors) const {
    std::vector<NewEntry> entries;
    for (const auto& [entry, tensor] : tensors) entries.push_back({entry, tensor.sizes().copy(), tensor.dtype()});
    const auto writer = new_entries(name(), entries);
    for (std::size_t i = 0; i < tensors.size(); ++i) {
      Tensor out = writer->tensors()[i];
      out.copy_(tensors[i].second);
    }
    writer->commit();
  }
};

TEST_F(Npz, TensorsComeBackByName) {
  save({{"a", arange(6).reshape({2, 3})},
        {"b.c", ones({}, float64)},
        {"empty", zeros({0, 2}, bool_)},
        {"half", ones({3}, bfloat16)}});
  EXPECT_EQ(to_string(load(name("a"))), "tensor([[0, 1, 2],\n        [3, 4, 5]])");
  EXPECT_EQ(to_string(load(name("b.c"))), "tensor(1., dtype=torch.float64)");
  EXPECT_EQ(to_string(load(name("empty"))), "tensor([], size=(0, 2), dtype=torch.bool)");
  EXPECT_EQ(load(name("half")).dtype(), float32);
  EXPECT_EQ(error(), name() + ": holds 4 tensors; name one, as in " + name() + ":a; it holds a, b.c, empty, half");
  EXPECT_EQ(error("x"), name() + ": has no tensor 'x'; it holds a, b.c, empty, half");
  save({{"one", full({1000}, 2.5)}});
  const int64_t before = memory::statistics().in_use;
  const Tensor one = load(name());
  EXPECT_LT(memory::statistics().in_use - before, 1000) << "a stored member is mapped";
  EXPECT_EQ(one.sum().item<double>(), 2500);
}

TEST_F(Npz, TheSameTensorsGiveTheSameBytes) {
  save({{"a", arange(6)}});
  const std::string first = bytes("a.npz");
  save({{"a", arange(6)}});
  EXPECT_EQ(bytes("a.npz"), first);
}

TEST_F(Npz, WrongEntriesAreErrorsAndLeaveNoFile) {
  EXPECT_THROW(new_entries(name(), {{"a", {2}, float32}, {"a", {2}, float32}}), Error);
  EXPECT_THROW(new_entries(name(), {{"a", Dims(65, 1), float32}}), Error);
  EXPECT_THROW(new_entries(name(), {{"a", {int64_t{1} << 60, 8}, float64}}), Error);
  EXPECT_EQ(files(), 0);
}

/// Every cut and every changed byte gives an error, or the tensor: nothing else, and no crash.
TEST_F(Npz, DamagedFilesAreErrors) {
  save({{"a", arange(5)}, {"b", ones({3})}});
  const std::string whole = bytes("a.npz");
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(whole.substr(0, length), "a.npz");
    EXPECT_TRUE(error("a").starts_with(name())) << length << ": " << error("a");
  }
  int harmless = 0;
  for (std::size_t i = 0; i < whole.size(); ++i) {
    for (const int flip : {1, 0x80, 0xff}) {
      std::string damaged = whole;
      damaged[i] = static_cast<char>(damaged[i] ^ flip);
      write(damaged, "a.npz");
      try {
        EXPECT_EQ(to_string(load(name("a"))), "tensor([0, 1, 2, 3, 4])") << i;
        ++harmless;
      } catch (const FileError&) {
      }
    }
  }
  EXPECT_GT(harmless, 0) << "the other member, versions and times";
}

TEST_F(Npz, AWrongChecksumIsAnError) {
  save({{"a", arange(5)}});
  std::string damaged = bytes("a.npz");
  const std::size_t header = damaged.find("NUMPY");
  damaged[header + 128] ^= 1;  // in the elements
  write(damaged, "a.npz");
  EXPECT_EQ(error(), name("a") + ": the file is damaged: its checksum is wrong");
}

/// A zip file of one member, as other programs write it: with a comment and without 64-bit numbers.
std::string zipped(const std::string& member, const std::string& content, uint16_t method, uint16_t flags = 0) {
  std::string packed = content;
  if (method == 8) {
    packed.resize(compressBound(content.size()));
    z_stream stream{};
    deflateInit2(&stream, 9, Z_DEFLATED, -15, 8, Z_DEFAULT_STRATEGY);
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(content.data()));
    stream.avail_in = static_cast<uInt>(content.size());
    stream.next_out = reinterpret_cast<Bytef*>(packed.data());
    stream.avail_out = static_cast<uInt>(packed.size());
    deflate(&stream, Z_FINISH);
    packed.resize(stream.total_out);
    deflateEnd(&stream);
  }
  const auto sum = static_cast<uint32_t>(
      crc32(0, reinterpret_cast<const Bytef*>(content.data()), static_cast<uInt>(content.size())));
  std::string text;
  const auto put = [&](uint64_t value, std::size_t width) {
    text.append(reinterpret_cast<const char*>(&value), width);
  };
  const auto put_common = [&] {
    put(20, 2);
    put(flags, 2);
    put(method, 2);
    put(0, 4);
    put(sum, 4);
    put(packed.size(), 4);
    put(content.size(), 4);
    put(member.size(), 2);
    put(0, 2);
  };
  put(0x04034b50, 4);
  put_common();
  text += member + packed;
  const std::size_t directory = text.size();
  put(0x02014b50, 4);
  put(20, 2);
  put_common();
  put(0, 8);
  put(0, 2);
  put(0, 4);
  text += member;
  const std::size_t length = text.size() - directory;
  put(0x06054b50, 4);
  put(0, 4);
  put(1, 2);
  put(1, 2);
  put(length, 4);
  put(directory, 4);
  put(7, 2);
  return text + "comment";
}

TEST_F(Npz, CompressedMembersAreUnpacked) {
  save_npy(path("x.npy"), full({100, 100}, 7, int32));
  const std::string npy = bytes("x.npy");
  write(zipped("x.npy", npy, 8), "a.npz");
  EXPECT_LT(bytes("a.npz").size(), npy.size() / 10);
  EXPECT_TRUE(equal(load(name()), full({100, 100}, 7, int32)));
  write(zipped("x.npy", npy, 0), "a.npz");
  EXPECT_TRUE(equal(load(name("x")), full({100, 100}, 7, int32)));
  write(zipped("x.npy", npy, 8, 1), "a.npz");
  EXPECT_EQ(error(), name("x") + ": is encrypted");
  write(zipped("x.npy", npy, 12), "a.npz");
  EXPECT_EQ(error(), name("x") + ": is compressed by method 12; stored and deflated members are known");
  write(zipped("x.txt", "hello", 0), "a.npz");
  EXPECT_TRUE(error("x.txt").starts_with(name("x.txt"))) << error("x.txt");

  write(zipped("x.npy", npy, 8), "a.npz");
  set_variable("TENON_LOAD_LIMIT", "1000");
  EXPECT_NE(error().find("unpacks to more than 1000 bytes"), std::string::npos) << error();
  set_variable("TENON_LOAD_LIMIT", nullptr);
  const std::string whole = bytes("a.npz");
  for (std::size_t i = 0; i < whole.size(); ++i) {
    std::string damaged = whole;
    damaged[i] = static_cast<char>(damaged[i] ^ 0xff);
    write(damaged, "a.npz");
    EXPECT_TRUE(error() == "no error" || error().starts_with(path("a.npz"))) << i << error();
  }
}

}  // namespace
}  // namespace tenon::io
