"""Rewrites C++ with small changes ("mutants") that are switched on by number at run time; used by tools/mutate.py.

Each place in the left column becomes an expression that calls `mutant::on(NUMBER)`. No code is duplicated, so mutants can
be nested like expressions. Clang's parser finds the places. The right column lists the mutants of a place.

  if, ?:, while        the condition is always true; always false (which removes an early return or throw)
  < <= > >=            the bound moves by one, except under a condition `!=` of the same operands; outside of conditions
                       also: the result is turned round (negated)
  == != !              the result is turned round
  && ||                `||` for `&&`, `&&` for `||`; each operand is left out
  + - * / %            - + + * / (numbers only), also in += -= *= |=; a minus sign is left out
  1, true              2 and 0, false
  std::max min clamp   min for max, max for min; clamp without one of its bounds
  f(x); a = b;         the statement is left out
"""
import re
from dataclasses import dataclass

from clang import cindex
from clang.cindex import CursorKind as Kind, TypeKind

MOST = 8192
SPACING = 64

HEADER = """// Which mutant is switched on, and which were reached. Written by tools/mutate.py.
#pragma once
#include <fcntl.h>
#include <sys/mman.h>

#include <cstdlib>
#include <type_traits>

namespace mutant {
constexpr int kMost = MOST;  // the same in every run: one more mutant does not recompile all files
struct State {
  int active;
  unsigned char* reached;
};
inline unsigned char unread[kMost];
inline State read_state() {
  const char* number = std::getenv("TENON_MUTANT");
  const char* trace = std::getenv("TENON_MUTANT_TRACE");
  void* marks = MAP_FAILED;
  if (trace) marks = mmap(nullptr, kMost, PROT_READ | PROT_WRITE, MAP_SHARED, open(trace, O_RDWR), 0);
  return {number ? std::atoi(number) : -1, marks == MAP_FAILED ? unread : static_cast<unsigned char*>(marks)};
}
inline bool reach(int number) {
  static const State state = read_state();
  state.reached[number] = 1;
  return number == state.active;
}
constexpr bool on(int number) { return std::is_constant_evaluated() ? false : reach(number); }
constexpr long inside(long i, long size) {
  if (!std::is_constant_evaluated() && (i < 0 || i >= size)) std::abort();
  return i;
}
#define TENON_SWAP(name, op, other)                                    \\
  template <class A, class B>                                          \\
  constexpr auto name(int number, const A& a, const B& b) {            \\
    return on(number) ? static_cast<decltype(a op b)>(a other b) : a op b; \\
  }
TENON_SWAP(less, <, <=) TENON_SWAP(less_equal, <=, <) TENON_SWAP(greater, >, >=) TENON_SWAP(greater_equal, >=, >)
TENON_SWAP(add, +, -) TENON_SWAP(subtract, -, +) TENON_SWAP(multiply, *, +) TENON_SWAP(divide, /, *) TENON_SWAP(remainder, %, /)
#undef TENON_SWAP
#define TENON_SWAP(name, op, other)                              \\
  template <class A, class B>                                    \\
  constexpr decltype(auto) name(int number, A&& a, const B& b) { \\
    if constexpr (requires { a other b; }) /* not of Complex */  \\
      if (on(number)) return (a other b);                        \\
    return (a op b);                                             \\
  }
TENON_SWAP(add_to, +=, -=) TENON_SWAP(subtract_from, -=, +=) TENON_SWAP(multiply_by, *=, +=) TENON_SWAP(or_with, |=, &=)
#undef TENON_SWAP
template <class A>
constexpr auto negate(int number, const A& a) { return on(number) ? static_cast<decltype(-a)>(a) : -a; }
template <class T>
constexpr T max(int number, const T& a, const T& b) { return on(number) == (a < b) ? a : b; }
template <class T>
constexpr T min(int number, const T& a, const T& b) { return on(number) == (a < b) ? b : a; }
template <class T>
constexpr T clamp(int low, int high, const T& a, const T& least, const T& most) {
  return a < least && !on(low) ? least : a > most && !on(high) ? most : a;
}
}  // namespace mutant
""".replace("MOST", str(MOST), 1)

BOUNDS = {"<": ("less", "<="), "<=": ("less_equal", "<"), ">": ("greater", ">="), ">=": ("greater_equal", ">")}
ARITHMETIC = {"+": ("add", "-"), "-": ("subtract", "+"), "*": ("multiply", "+"), "/": ("divide", "*"), "%": ("remainder", "/")}
ASSIGNING = {"+=": ("add_to", "-="), "-=": ("subtract_from", "+="), "*=": ("multiply_by", "+="), "|=": ("or_with", "&=")}
CALLED = {"operator[]", "operator()"}  # Clang's extent of such a name includes the arguments
FUNCTIONS = {Kind.FUNCTION_DECL, Kind.CXX_METHOD, Kind.CONSTRUCTOR, Kind.DESTRUCTOR, Kind.FUNCTION_TEMPLATE, Kind.CONVERSION_FUNCTION}
LOOPS = {Kind.FOR_STMT, Kind.WHILE_STMT, Kind.CXX_FOR_RANGE_STMT, Kind.DO_STMT}
NUMBERS = {TypeKind.INT, TypeKind.LONG, TypeKind.LONGLONG, TypeKind.UINT, TypeKind.ULONG, TypeKind.ULONGLONG, TypeKind.BOOL,
           TypeKind.FLOAT, TypeKind.DOUBLE, TypeKind.DEPENDENT}  # fmt: skip


@dataclass
class Mutant:
    number: int
    key: str  # depends only on the file, the function's name and the line's text
    file: str
    line: int


class Rewriter:
    """Rewrites one file. Clang's offsets count bytes, so the text is decoded as Latin-1: one character for each byte."""

    def __init__(self, root, generated, file, first, seen):
        self.file, self.first, self.found, self.seen, self.function = file, first, [], seen, ""
        self.unequal = None  # the operands of the condition `!=` around this place
        self.path = str(root / file)
        self.text = (root / file).read_bytes().decode("latin-1")
        arguments = ["-xc++", "-std=c++20", *(f"-I{folder}/{part}" for folder in (root, generated) for part in ("include", "src")), "-w"]
        self.unit = cindex.Index.create().parse(self.path, args=arguments)
        errors = [str(d) for d in self.unit.diagnostics if d.severity >= 3]
        assert not errors, errors

    def rewritten(self):
        cursors = [self.unit.cursor]
        edits = []
        while cursors:
            for child in self.children(cursors.pop()):
                if child.kind not in FUNCTIONS:
                    cursors.append(child)
                elif child.is_definition():
                    self.function = child.spelling
                    edits += [(*self.span(part), self.render(part)) for part in child.get_children() if part.kind == Kind.COMPOUND_STMT]
        text, at = "", 0
        for begin, end, new in sorted(edits):
            text += self.text[at:begin] + new
            at = end
        return '#include "mutant.h"\n' + text + self.text[at:]

    def span(self, node):
        return node.extent.start.offset, node.extent.end.offset

    def source(self, node):
        return self.text[slice(*self.span(node))]

    def children(self, node):
        """The children written in the source, from left to right, without those that the compiler adds."""
        inside, at = [], node.extent.start.offset
        written = [c for c in node.get_children() if c.extent.start.file and c.extent.start.file.name == self.path
                   and not (c.spelling in CALLED and self.source(c)[0] in "[(")]  # fmt: skip
        for child in sorted(written, key=lambda c: c.extent.start.offset):
            if child.extent.start.offset >= at and child.extent.end.offset > child.extent.start.offset:
                inside.append(child)
                at = child.extent.end.offset
        return inside

    def number(self, node, change):
        """Adds a mutant at a node and returns its number."""
        line = node.extent.start.line
        key = f"{self.file} {self.function}: {' '.join(self.text.splitlines()[line - 1].split())}: {change}"
        self.seen[key] = self.seen.get(key, 0) + 1
        if self.seen[key] > 1:
            key += f" #{self.seen[key]}"
        self.found.append(Mutant(self.first + len(self.found), key, self.file, line))
        return self.found[-1].number

    def short(self, node):
        text = " ".join(self.source(node).split())
        return text if len(text) <= 60 else text[:57] + "..."

    def render(self, node, part=""):
        """The node's text with its mutants. `part` is its role in the parent: "condition", "operand", "body" or ""."""
        kids = self.children(node)
        if part == "body" and node.kind.is_expression() and not self.source(node).startswith("throw"):
            number = self.number(node, f"{self.short(node)} -> left out")
            return f"(mutant::on({number}) ? void() : void({self.render(node)}))"
        if node.kind == Kind.UNEXPOSED_EXPR and len(kids) == 1 and self.span(kids[0]) == self.span(node):
            return self.render(kids[0], part)
        if node.kind == Kind.PAREN_EXPR:
            return f"({self.render(kids[0], part)})"
        if node.kind == Kind.DECL_STMT and re.match(r"(static )?constexpr|using|static_assert", self.source(node)):
            return self.source(node)
        if node.kind == Kind.IF_STMT and re.match(r"if constexpr", self.source(node)):
            return self.joined(node, [self.source(kids[0])] + [self.render(kid, "body") for kid in kids[1:]], kids)
        if node.kind in (Kind.IF_STMT, Kind.CONDITIONAL_OPERATOR, Kind.WHILE_STMT) and kids[0].kind.is_expression():
            rest = "body" if node.kind != Kind.CONDITIONAL_OPERATOR else ""
            condition = self.condition(kids[0], node.kind != Kind.WHILE_STMT)
            self.unequal, before = self.differing(kids[0]), self.unequal
            chosen = self.render(kids[1], rest)
            self.unequal = before
            return self.joined(node, [condition, chosen] + [self.render(kid, rest) for kid in kids[2:]], kids)
        if node.kind in LOOPS:
            return self.loop(node, kids)
        if node.kind in (Kind.CASE_STMT, Kind.DEFAULT_STMT):
            label = [self.source(kids[0])] if node.kind == Kind.CASE_STMT else []
            return self.joined(node, label + [self.render(kid, "body") for kid in kids[len(label):]], kids)
        if node.kind == Kind.COMPOUND_STMT:
            return self.joined(node, [self.render(kid, "body") for kid in kids], kids)
        if node.kind == Kind.INTEGER_LITERAL:
            return self.literal(node)
        if node.kind == Kind.CXX_BOOL_LITERAL_EXPR and not self.is_template_argument(node):
            return f"({self.source(node)} != mutant::on({self.number(node, f'{self.source(node)} -> the other')}))"
        if node.kind == Kind.UNARY_OPERATOR:
            return self.unary(node, kids[0], part)
        if node.kind == Kind.CALL_EXPR and (call := re.match(r"std::(max|min|clamp)(<\w+>)?\(", self.source(node))):
            return self.bounded(node, call, kids)
        if node.kind == Kind.VAR_DECL:  # literals in its type are not mutated
            name = node.location.offset
            new = [self.source(kid) if self.span(kid)[1] <= name or self.text[self.span(kid)[0] - 1] == "[" else self.render(kid) for kid in kids]
            return self.joined(node, new, kids)
        if len(kids) in (2, 3) and (operator := self.operator(node, kids)):
            return self.binary(node, operator, kids[0], kids[-1], part)
        return self.joined(node, [self.render(kid) for kid in kids], kids)

    def joined(self, node, new, kids):
        """The node's text with the text of its children replaced by `new`."""
        begin, end = self.span(node)
        text = ""
        for kid, replacement in zip(kids, new):
            first, last = self.span(kid)
            text += self.text[begin:first] + replacement
            begin = last
        return text + self.text[begin:end]

    def condition(self, node, both):
        text = self.render(node, "condition")
        never = self.number(node, f"{self.short(node)} -> false")
        if not both:
            return f"(!mutant::on({never}) && ({text}))"
        always = self.number(node, f"{self.short(node)} -> true")
        return f"(mutant::on({always}) || (!mutant::on({never}) && ({text})))"

    def loop(self, node, kids):
        """The increment of a `for` and the range of a range-based `for` are not mutated."""
        unchanged = []
        if node.kind == Kind.FOR_STMT and len(kids) > 1 and ";" not in self.text[self.span(kids[-2])[1] : self.span(kids[-1])[0]]:
            unchanged = kids[-2:-1]
        if node.kind == Kind.CXX_FOR_RANGE_STMT:
            unchanged = kids[:-1]
        new = [self.source(kid) if kid in unchanged else self.render(kid, "condition" if kid.kind.is_expression() else "") for kid in kids[:-1]]
        return self.joined(node, new + [self.render(kids[-1], "body")], kids)

    def is_template_argument(self, node):
        begin, end = self.span(node)
        return self.text[begin - 1] == "<" and self.text[end] == ">"

    def literal(self, node):
        text = self.source(node)
        begin, _ = self.span(node)
        if not re.fullmatch(r"\d+u?", text) or self.is_template_argument(node) or self.text[begin - 1] == "{" and self.text[begin - 2].isalnum():
            return text
        result = f"{text} + mutant::on({self.number(node, f'{text} -> {int(text.rstrip(chr(117))) + 1}')})"
        if text.rstrip("u") != "0":
            result += f" - mutant::on({self.number(node, f'{text} -> {int(text.rstrip(chr(117))) - 1}')})"
        return f"({result})"

    def unary(self, node, operand, part):
        sign = self.source(node)[0]
        text = self.render(operand, part if sign == "!" else "")
        if sign == "!" and part not in ("condition", "operand"):
            return f"((!{text}) != mutant::on({self.number(node, f'{self.short(node)} -> turned round')}))"
        if sign == "-" and self.source(node)[1] != "-" and self.is_number(node) and not self.source(operand).isdigit():
            return f"mutant::negate({self.number(node, f'{self.short(node)} -> without its sign')}, {text})"
        return self.joined(node, [text], [operand])

    def bounded(self, node, call, kids):
        name = call.group(1)
        if name == "clamp":
            numbers = [self.number(node, f"{self.short(node)} -> without its {side} bound") for side in ("lower", "upper")]
        else:
            numbers = [self.number(node, f"{self.short(node)} -> {'min' if name == 'max' else 'max'}")]
        begin, end = self.span(node)
        arguments = [kid for kid in kids if kid.extent.start.offset >= begin + call.end()]
        text, at = "", begin + call.end()
        for kid in arguments:
            first, last = self.span(kid)
            text += self.text[at:first] + self.render(kid)
            at = last
        return f"mutant::{name}{call.group(2) or ''}({', '.join(map(str, numbers))}, {text}{self.text[at:end]}"

    def operator(self, node, kids):
        """The operator, if the node is two operands with an operator between them."""
        if len(kids) < 2:
            return None
        between = self.text[self.span(kids[0])[1] : self.span(kids[-1])[0]].strip()
        whole = self.span(kids[0])[0] == self.span(node)[0] and self.span(kids[-1])[1] == self.span(node)[1]
        return between if whole and (len(kids) == 2 or self.source(kids[1]) == between) else None

    def is_number(self, node):
        kind = node.type.get_canonical()
        return kind.kind in NUMBERS or kind.spelling == "tenon::Checked"

    def binary(self, node, operator, left, right, part):
        if operator in ("&&", "||"):
            return self.logic(node, operator, left, right)
        a, b = self.render(left), self.render(right)
        what = self.short(node)
        if operator in ("==", "!=") or operator in BOUNDS:
            text = f"{a} {operator} {b}"
            if operator in BOUNDS and self.unequal != (self.source(left), self.source(right)):
                name, other = BOUNDS[operator]
                text = f"mutant::{name}({self.number(node, f'{what} -> {other}')}, {a}, {b})"
            if part in ("condition", "operand"):
                return text
            return f"(({text}) != mutant::on({self.number(node, f'{what} -> turned round')}))"
        table = ARITHMETIC if operator in ARITHMETIC else ASSIGNING if operator in ASSIGNING else None
        if table is None or not self.is_number(node) or left.type.kind == TypeKind.POINTER or self.source(right).isdigit() and operator in "+-":
            return self.joined(node, [a, b], [left, right])
        name, other = table[operator]
        return f"mutant::{name}({self.number(node, f'{what} -> {other}')}, {a}, {b})"

    def differing(self, condition):
        """The operands of `!=`. In `if (a != b) return a < b;` replacing `<` by `<=` would change nothing."""
        kids = self.children(condition)
        if self.operator(condition, kids) == "!=":
            return self.source(kids[0]), self.source(kids[-1])
        return None

    def logic(self, node, operator, left, right):
        """`a && b` is `a ? b : false`, and `a || b` is `!a ? b : true`: negating `a` and the constant swaps them."""
        neutral = operator == "&&"
        swap = self.number(node, f"{self.short(node)} -> {'||' if neutral else '&&'}")
        sides = []
        for side in (left, right):
            text = f"static_cast<bool>({self.render(side, 'operand')})"
            if self.operator(side, self.children(side)) == operator:  # its operands are left out one by one instead
                sides.append(text)
                continue
            gone = self.number(side, f"{self.short(node)} -> without {self.short(side)}")
            sides.append(f"(mutant::on({gone}) || {text})" if neutral else f"(!mutant::on({gone}) && {text})")
        turned = f"({sides[0]} {'!=' if neutral else '=='} mutant::on({swap}))"
        return f"({turned} ? {sides[1]} : {'' if neutral else '!'}mutant::on({swap}))"


def rewrite(root, generated, files):
    """All mutants, and {file: text with its mutants}. The numbers of a source begin at a multiple of SPACING, so that a
    few more mutants in one source do not change the numbers in the next, which would be compiled again."""
    found, texts, seen, first = [], {}, {}, 0
    for file in files:
        rewriter = Rewriter(root, generated, file, first, seen)
        texts[file] = rewriter.rewritten().encode("latin-1").decode()
        found += rewriter.found
        first += len(rewriter.found)
        if not file.endswith(".h"):
            first = (first + SPACING) // SPACING * SPACING
    assert first <= MOST, "more mutants than kMost"
    return found, texts
