// The notes of errors and warnings about shapes: the aligned shapes, the failing dim, and a change that would work.
#include "dispatch/broadcast_check.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "tenon/factories.h"
#include "tenon/ops.h"
#include "tenon/policy.h"

namespace tenon {
namespace {

using Texts = std::vector<std::string>;

/// The text of an error and its notes.
Texts texts_of(const std::function<void()>& call) {
  Texts texts;
  try {
    call();
  } catch (const Error& error) {
    texts.emplace_back(error.what());
    texts.insert(texts.end(), error.notes().begin(), error.notes().end());
  }
  return texts;
}

struct Heard {
  Texts texts;  // each warning and its note
  Heard() {
    set_warning_handler(
        [](const char*, const std::string& text, const std::string& note, void* to) {
          static_cast<Heard*>(to)->texts.push_back(text);
          static_cast<Heard*>(to)->texts.push_back(note);
        },
        this);
  }
  ~Heard() { set_warning_handler(nullptr); }
};

TEST(BroadcastCheck, NotesShowTheShapesAndAChange) {
  const struct {
    Dims a, b;
    Texts notes;
  } cases[] = {
      {{2, 3}, {2, 4}, {"\n  a  2 3\n  b  2 4\n       ^"}},
      {{2, 3},
       {4, 3},
       {
           "\n  a  2 3\n  b  4 3\n     ^",
       }},
      {{2, 3}, {4}, {"\n  a  2 3\n  b    4\n       ^"}},
      {{10, 3}, {7}, {"\n  a  10  3\n  b      7\n        ^^"}},
      {{3}, {4}, {"\n  a  3\n  b  4\n     ^"}},
      {{2, 3}, {2}, {"\n  a  2 3\n  b    2\n       ^", "it would work with b.reshape([2, 1])"}},
      {{2}, {2, 3}, {"\n  a    2\n  b  2 3\n       ^", "it would work with a.reshape([2, 1])"}},
      {{2, 3, 4}, {2}, {"\n  a  2 3 4\n  b      2\n         ^", "it would work with b.reshape([2, 1, 1])"}},
      {{3, 4, 5}, {3, 4}, {"\n  a  3 4 5\n  b    3 4\n         ^", "it would work with b.reshape([3, 4, 1])"}},
      {{2, 3}, {3, 2}, {"\n  a  2 3\n  b  3 2\n       ^", "it would work with b.t()"}},
      {{4, 2, 3}, {3, 2}, {"\n  a  4 2 3\n  b    3 2\n         ^", "it would work with b.t()"}},
      {{3, 2}, {4, 2, 3}, {"\n  a    3 2\n  b  4 2 3\n         ^", "it would work with a.t()"}},
      {{2, 3, 4}, {4, 3, 2}, {"\n  a  2 3 4\n  b  4 3 2\n         ^"}},
  };
  for (const auto& c : cases) {
    Texts want = c.notes;
    want[0] = "add: shapes aligned at the right" + want[0];
    Texts got = texts_of([&] { add(zeros(c.a), zeros(c.b)); });
    ASSERT_FALSE(got.empty());
    got.erase(got.begin());
    EXPECT_EQ(got, want) << to_string(c.a) << " and " << to_string(c.b);
  }
}

TEST(BroadcastCheck, NotesOfThreeOperands) {
  const Texts got = texts_of([] { where(zeros({2, 1}, bool_), zeros({12, 1, 5}), zeros({3, 4})); });
  EXPECT_EQ(got,
            (Texts{"The size of tensor a (5) must match the size of tensor b (4) at non-singleton dimension 2",
                   "where: shapes aligned at the right\n  a      2  1\n  b  12  1  5\n  c      3  4\n           ^^"}));
  EXPECT_EQ(texts_of([] {
              where(zeros({2, 3}, bool_), zeros({2}), zeros({3}));
            }).size(),
            2u)
      << "no change to one of three";
  const SizesView none[] = {SizesView(), SizesView()};
  EXPECT_EQ(aligned_shapes("f", none, 2), "f: shapes aligned at the right\n  a \n  b ");
  const Dims a{2, 3}, b{3}, c{2, 1};
  const SizesView shapes[] = {a, b, c};
  EXPECT_EQ(aligned_shapes("f", shapes, 3), "f: shapes aligned at the right\n  a  2 3\n  b    3\n  c  2 1");
}

TEST(BroadcastCheck, TextsOfPolicies) {
  const Tensor row = ones({2}), column = ones({2, 1}), matrix = ones({2, 2});
  const std::string aligned = ": shapes aligned at the right\n  a  2 1\n  b    2";
  const struct {
    const char* policy;
    std::function<void()> call;
    Texts want;
  } cases[] = {
      {"rank=raise",
       [&] { add(column, row); },
       {"add: broadcasting to [2, 2] gives an operand new leading dimensions, which broadcast_policy(rank) does not "
        "allow",
        "add" + aligned}},
      {"outer=raise",
       [&] { mul(column, row); },
       {"mul: broadcasting to [2, 2], which is the shape of no operand, and which broadcast_policy(outer) does not "
        "allow",
        "mul" + aligned}},
      {"rank=raise", [&] { add(matrix, ones({})); }, {}},
      {"raise", [&] { add(matrix, column); }, {}},
      {"raise", [&] { add(column, matrix); }, {}},
      {"raise", [&] { add(row, ones({2})); }, {}},
      {"outer=raise",
       [&] {
         where(ones({2, 1}, bool_), row, matrix);
       },
       {}},
      {"blow_up=2",
       [&] {
         add(ones({4, 1}), ones({1, 4}));
       },
       {}},
      {"blow_up=1.9",
       [&] {
         add(ones({4, 1}), ones({1, 4}));
       },
       {"broadcasting to [4, 4] makes a result of 64 bytes from operands of 32, more than broadcast_policy(blow_up) "
        "allows"}},
      {"blow_up=0.5", [&] { add(matrix, matrix); }, {}},
      {"blow_up=0.4",
       [&] { add(matrix, matrix); },
       {"broadcasting to [2, 2] makes a result of 16 bytes from operands of 32, more than broadcast_policy(blow_up) "
        "allows"}},
  };
  for (const auto& c : cases) {
    const PolicyGuard guard(parse_broadcast_policy(c.policy));
    EXPECT_EQ(texts_of(c.call), c.want) << c.policy;
    const PolicyExemption exemption;
    EXPECT_EQ(texts_of(c.call), Texts()) << c.policy << ", exempt";
  }
  Heard heard;
  {
    const PolicyGuard guard(parse_broadcast_policy("warn"));
    add(column, row);
  }
  EXPECT_EQ(heard.texts,
            (Texts{cases[0].want[0], "add" + aligned, "add" + cases[1].want[0].substr(3), "add" + aligned}));
}

TEST(BroadcastCheck, PoliciesThatMeanNothing) {
  const struct {
    const char *policy, *want;
  } cases[] = {
      {"never", "broadcast_policy: 'never' is none of allow, warn, raise"},
      {"rank=", "broadcast_policy: '' is none of allow, warn, raise"},
      {"blow_up=2x", "broadcast_policy: blow_up expects a number, but got '2x'"},
      {"blow_up=", "broadcast_policy: blow_up expects a number, but got ''"},
      {"blow_up=-1", "broadcast_policy: blow_up expects a number, but got '-1'"},
      {"blow_up=nan", "broadcast_policy: blow_up expects a number, but got 'nan'"},
      {"outer=warn,depth=raise", "broadcast_policy: 'depth' is none of rank, outer, blow_up"},
  };
  for (const auto& c : cases) EXPECT_EQ(texts_of([&] { parse_broadcast_policy(c.policy); }), Texts{c.want}) << c.policy;
}

TEST(BroadcastCheck, TextsOfBackcompat) {
  Heard heard;
  backcompat::set_broadcast_warning(true);
  add(ones({2, 1}), ones({2}));
  ones({1, 2}).add_(ones({2}));
  add(ones({2, 1}), ones({1, 3}));
  add(ones({2}), ones({2}));
  where(ones({2, 1}, bool_), ones({1, 1}), ones({2}));
  {
    const PolicyExemption exemption;
    add(ones({2, 1}), ones({2}));
  }
  backcompat::set_broadcast_warning(false);
  const std::string changed =
      "self and other do not have the same shape, but are broadcastable, and have the same number of elements.\n"
      "Changing behavior in a backwards incompatible manner to broadcasting rather than viewing as 1-dimensional.";
  EXPECT_EQ(heard.texts, (Texts{changed, "add: shapes aligned at the right\n  a  2 1\n  b    2",  //
                                changed, "add: shapes aligned at the right\n  a  1 2\n  b    2"}));
  heard.texts.clear();
  backcompat::set_pointwise_1d(true);
  EXPECT_EQ(to_string(add(ones({2, 3}), ones({6})).sizes()), "[2, 3]");
  EXPECT_EQ(to_string(ones({6}).add_(ones({2, 3})).sizes()), "[6]");
  EXPECT_EQ(to_string(add(ones({2, 1}), ones({2})).sizes()), "[2, 2]") << "what broadcasts does";
  EXPECT_EQ(texts_of([] { add(ones({2, 3}), ones({5})); }).size(), 2u);
  EXPECT_EQ(texts_of([] { where(ones({2, 3}, bool_), ones({6}), ones({5})); }).size(), 2u);
  {
    const PolicyExemption exemption;
    EXPECT_EQ(texts_of([] { add(ones({2, 3}), ones({6})); }).size(), 2u);
  }
  backcompat::set_pointwise_1d(false);
  EXPECT_EQ(texts_of([] { add(ones({2, 3}), ones({6})); }).size(), 2u);
  EXPECT_EQ(heard.texts, (Texts{"self and other not broadcastable, but have the same number of elements.  Falling back "
                                "to deprecated pointwise behavior.",
                                "[2, 3] and [6]",
                                "other is not broadcastable to self, but they have the same number of elements.  "
                                "Falling back to deprecated pointwise behavior.",
                                "[6] and [2, 3]"}));
}

}  // namespace
}  // namespace tenon
