// A List holds what std::vector would hold.
#include "tenon/list.h"

#include <gtest/gtest.h>

#include <array>
#include <string>
#include <vector>

namespace {

using tenon::List;
using Strings = List<std::string>;

std::vector<std::string> vector_of(const Strings& list) { return list; }

TEST(List, ComesFromAndGoesToOtherContainers) {
  const std::vector<std::string> words{"one", "two", "three"};
  EXPECT_EQ(vector_of(words), words);
  EXPECT_EQ(vector_of({"one", "two", "three"}), words);
  EXPECT_EQ(vector_of(std::array<std::string, 3>{"one", "two", "three"}), words);
  EXPECT_EQ(vector_of(Strings(words.begin(), words.end())), words);
  EXPECT_EQ(vector_of(Strings(2)), std::vector<std::string>(2));
  EXPECT_EQ(vector_of({}), std::vector<std::string>());
}

TEST(List, GrowsAndShrinks) {
  Strings list;
  std::vector<std::string> same;
  for (int i = 0; i < 1000; ++i) {
    list.push_back(std::to_string(i));
    same.push_back(std::to_string(i));
    if (i % 3 == 0) {
      list.pop_back();
      same.pop_back();
    }
  }
  EXPECT_EQ(vector_of(list), same);
  EXPECT_EQ(list.front(), same.front());
  EXPECT_EQ(list.back(), same.back());
  list.push_back(list[0]);
  EXPECT_EQ(list.back(), same[0]);
  list.resize(10);
  list.resize(12);
  EXPECT_EQ(list[9], same[9]);
  EXPECT_EQ(list[11], "");
  list.clear();
  EXPECT_TRUE(list.empty());
}

TEST(List, CopiesAreTheirOwn) {
  Strings list{"one", "two"};
  Strings copy = list;
  copy[0] = "other";
  EXPECT_EQ(list[0], "one");
  const Strings moved = std::move(copy);
  EXPECT_EQ(moved[0], "other");
  list = moved;
  const Strings& itself = list;
  list = itself;
  EXPECT_EQ(vector_of(list), (std::vector<std::string>{"other", "two"}));
}

}  // namespace
