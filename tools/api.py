#!/usr/bin/env python3
"""The C++ reference: every public declaration of include/tenon with its documentation.

    api.py reference      print docs/api.md
    api.py                print each public declaration without documentation, and exit 1 if there are any
    api.py --self-test    show that a missing comment is found

A declaration is documented by the comment above it (`///`, in C `/* */`), which holds for the declarations that follow it without an empty line; by a comment behind it; or by docs/reference.md, if it is an op. A
class's comment holds for its fields, too. Not public are namespaces of HIDDEN and what is private. Constructors,
destructors, operators and the members in PLAIN say by their names what they do.
"""
import dataclasses
import pathlib
import re
import sys

ROOT = pathlib.Path(__file__).resolve().parent.parent
HIDDEN = {"internal", "detail", "access", "simd", "custom"}
# What the standard library's containers, ranges, iterators and type traits call the same.
PLAIN = {
    "size", "empty", "data", "begin", "end", "front", "back", "push_back", "pop_back", "insert", "erase", "reserve", "resize", "clear", "swap",
    "value_type", "size_type", "difference_type", "reference", "const_reference", "pointer", "iterator", "const_iterator", "iterator_category",
    "element_type", "index_type", "data_handle_type", "rank", "extent", "extents", "stride", "strides", "data_handle", "value", "real", "imag", "type", "what",
}
TOKEN = re.compile(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|\'(?:\\.|[^\'\\\n])+\'|#(?:[^\n]*\\\n)*[^\n]*|[(){};]|[^\S\n]+|\n|[^\s(){};"\'/#]+|.', re.S)
NAMESPACE = re.compile(r"^(?:inline )?namespace ([\w:]+)$|^extern \"C\"$")
CLASS = re.compile(r"^(?:template ?<.*> ?)?(?:requires.*)?(?:typedef )?(class|struct|union|enum(?: class)?)\b (?:TENON_API )?([\w:]+(?:<[\w, ]+>::\w+)?)?")
SKIPPED = re.compile(r"^(?:template ?<> |static_assert|using [\w:<>()&, ]+::\w+$|friend|using namespace|extern \"C\"|public:|private:|protected:)|= delete$|^(?:template ?<.*> ?)?(?:class|struct|enum(?: class)?) [\w:]+(?: : [\w ]+)?$")


@dataclasses.dataclass
class Declaration:
    scope: tuple
    kind: str  # "class", or "" for all others
    name: str
    text: str
    documentation: str
    line: int

    @property
    def is_field(self):
        """Of a class: a variable or a type's other name."""
        return self.kind == "" and not re.search(r"\w\(.*\)[\w ]*$", self.text)

    @property
    def is_plain(self):
        """Whether its name says what it does."""
        own = self.scope[-1] if self.scope else ""
        return self.kind == "" and (bool(own and re.search(rf"(?:^|[ ~]){own}\(", self.text)) or self.name.startswith("operator") or self.name in PLAIN)


class Reader:
    """Reads one header, whose text clang-format has laid out."""

    def __init__(self, text):
        self.tokens = [(match.group(), text.count("\n", 0, match.start()) + 1) for match in TOKEN.finditer(text)]
        self.at = 0
        self.found = []
        self.comment = []  # the comment that holds for the next declaration
        self.fresh = True  # it has not been used yet

    def skip_group(self):
        """Past the group that opens here; its text."""
        closing = {"(": ")", "{": "}"}
        stack, text = [], []
        while self.at < len(self.tokens):
            token = self.tokens[self.at][0]
            self.at += 1
            if not token.startswith(("//", "/*")):
                text.append(token)
            if token in closing:
                stack.append(closing[token])
            elif stack and token == stack[-1]:
                stack.pop()
                if not stack:
                    return "".join(text)
        return "".join(text)

    def take_comment(self, token):
        if not self.fresh:
            self.comment = []
        self.fresh = True
        body = re.sub(r"^/\*+ ?|\*/$", "", token) if token.startswith("/*") else re.sub(r"^///?<? ?", "", token)
        if not re.match(r"^-{3}|^clang-format|^ ?-{4}", body):
            self.comment += [line.strip() if token.startswith("/*") else line.rstrip() for line in body.split("\n")]

    def comment_behind(self):
        """The comment behind a declaration on its line."""
        at = self.at
        while at < len(self.tokens) and self.tokens[at][0].isspace() and self.tokens[at][0] != "\n":
            at += 1
        if at == len(self.tokens) or not self.tokens[at][0].startswith(("//", "/*")):
            return ""
        self.at = at + 1
        lines = [re.sub(r"^///?<? ?|^/\* ?| ?\*/$", "", self.tokens[at][0])]
        return " ".join(lines)

    def read(self, scope=(), hidden=False):
        """The declarations up to the brace that closes this scope."""
        public = True
        words, line = [], 0
        newlines = 0
        while self.at < len(self.tokens):
            token, number = self.tokens[self.at]
            self.at += 1
            if token == "\n":
                newlines += 1
                if newlines > 1 and not words:
                    self.comment, self.fresh = [], True
                elif words:
                    words.append(" ")
                continue
            if token.isspace():
                words += [" "] if words else []
                continue
            newlines = 0
            if token.startswith("#"):
                continue
            if token.startswith(("///", "/*")) and not words:
                self.take_comment(token)
            if token.startswith(("//", "/*")):
                continue
            if token == "}" and not words:
                return
            if token in ("public:", "private:", "protected:"):
                public = token == "public:"
                self.comment = []
                continue
            line = line or number
            statement = re.sub(r"\s+", " ", "".join(words)).strip()
            if token == "(":
                self.at -= 1
                words.append(self.skip_group())
                continue
            if token == "{":
                space = NAMESPACE.match(statement)
                kind = CLASS.match(statement)
                if space:
                    self.comment = []
                    inner = tuple((space[1] or "").split("::")) if space[1] else ()
                    self.read(scope + inner, hidden or not public or bool(HIDDEN & set(inner)))
                elif kind and not re.search(r"\)(?: const)?(?: noexcept)?$", statement):
                    self.read_class(scope, hidden or not public, statement, kind, line)
                else:
                    self.at -= 1
                    group = self.skip_group()
                    if ends_in_requires(statement) or self.continues(statement):
                        words.append(group)
                        continue
                    self.declare(scope, hidden or not public, statement, line)
                words, line = [], 0
                continue
            if token == ";":
                self.declare(scope, hidden or not public, statement, line)
                words, line = [], 0
                continue
            words.append(token)

    def continues(self, statement):
        """Whether the group was an initialiser: of a variable, or of a member before a constructor's body."""
        at = self.at
        while at < len(self.tokens) and self.tokens[at][0].isspace():
            at += 1
        following = self.tokens[at][0] if at < len(self.tokens) else ""
        begun = re.sub(r"\([^()]*(?:\([^()]*\)[^()]*)*\)|<[^<>]*>", "", statement)
        return " = " in begun or following == ";" and not re.search(r"\)[\w ]*$", statement) or following.startswith(",") or (following == "{" and ":" in statement)

    def read_class(self, scope, hidden, statement, kind, line):
        name = re.sub(r"<.*>", "", kind[2] or "")
        short = re.sub(r"\s+", " ", statement)
        behind = self.comment_behind()
        if name and not re.search(rf"\b{re.escape(kind[2])}<", short):  # a specialisation belongs to its template
            self.add(scope, hidden, "class", name, short, line, behind)
        else:
            hidden = True
        self.comment = []
        if kind[1].startswith("enum"):
            self.at -= 1
            values = self.skip_group()
            if self.found and name and not hidden:
                self.found[-1].text += " " + re.sub(r"\s+", " ", values)
        else:
            self.read(scope + tuple(part for part in name.split("::") if part), hidden)
        while self.at < len(self.tokens) and self.tokens[self.at][0] != ";":
            self.at += 1
        self.at += 1

    def declare(self, scope, hidden, statement, line):  # a function, a field, a type's other name
        behind = self.comment_behind()
        if not statement or SKIPPED.search(statement):
            if behind and self.fresh:
                self.comment = []
            return
        text = re.sub(r"\b(TENON_C?_?API|\[\[[\w:, ]+\]\]) ", "", statement)
        self.add(scope, hidden, "", name_of(text), without_initialisers(text), line, behind)

    def add(self, scope, hidden, kind, name, text, line, behind=""):
        documentation = behind or "\n".join(self.comment).strip()
        self.fresh = False
        if not hidden:
            self.found.append(Declaration(scope, kind, name, re.sub(r"\bTENON_API ", "", text), documentation, line))


def ends_in_requires(statement):
    """Whether the brace that follows opens a requires-expression."""
    before, word, rest = statement.rpartition("requires")
    depth = 0
    for at, letter in enumerate(rest := rest.strip()):
        depth += (letter == "(") - (letter == ")")
        if depth == 0 and at + 1 < len(rest):
            return False
    return bool(word) and depth == 0 and (not rest or rest[0] == "(")


def without_initialisers(text):
    """A constructor without what is behind its colon."""
    return re.sub(r"\) ?(noexcept ?)?: [A-Za-z]\w*[({].*$", r") \1", text).strip()


def outermost_call(text):
    """The first name before a parenthesis that is in no other group."""
    depth = 0
    for match in re.finditer(r"[(){}]|(~?[\w:]+)\(", text):
        if depth == 0 and match[1] and match[1] not in ("requires", "decltype", "noexcept", "explicit", "alignas", "sizeof", "__attribute__"):
            return match[1]
        depth += match.group()[-1] in "({"
        depth -= match.group() in (")", "}")
    return None


def name_of(text):
    text = re.sub(r"^template ?<(?:[^<>]|<(?:[^<>]|<[^<>]*>)*>)*> ?", "", text)
    alias = re.match(r"(?:using|concept) (\w+) ?=", text)
    if alias:
        return alias[1]
    operator = re.search(r"\b(operator ?(?:\(\)|\[\]|[^\s(\w]+|[\w:]+))", text)
    if operator:
        return operator[1]
    function = outermost_call(text)
    if function:
        return function
    before = text.split(" = ")[0].split("{")[0]
    variable = re.search(r"(\w+)(?:\[\w*\])?(?: ?=.*)?$", before)
    return variable[1] if variable else text


def declarations_of(text):
    reader = Reader(re.sub(r"\A(//[^\n]*\n)+", lambda match: "\n" * match.group().count("\n"), text))
    reader.read()
    return reader.found


def headers(root):
    return sorted(path for path in (root / "include/tenon").glob("*.h") if path.name != "tenon.h")


def op_names(root):
    return set(re.findall(r"^## (\w+)$", (root / "docs/reference.md").read_text(encoding="utf-8"), re.MULTILINE))


def undocumented(declarations, ops):
    documented = {(*each.scope, *each.name.split("::")) for each in declarations if each.kind == "class" and each.documentation}
    return [each for each in declarations
            if not (each.documentation or each.is_plain or each.name in ops or (each.is_field and each.scope in documented))]


def introduction(text):
    """The comment at the top of a header, without its room."""
    lines = re.match(r"(?://[^\n]*\n)+", text).group().splitlines()
    return re.sub(r"^\w+: (.)", lambda match: match[1].upper(), "\n".join(re.sub(r"^// ?", "", line) for line in lines))


def entries(declarations, ops):
    """Declarations that share a comment are one entry."""
    shown, last = [], None
    for each in declarations:
        key = (each.scope, each.documentation)
        line = f"- `{each.text}`"
        if each.documentation and last == key and each.kind == "":
            shown.insert(len(shown) - 1, line)
            continue
        shown.append(line)
        if each.documentation:
            shown.append("".join(f"\n  {text}" for text in each.documentation.split("\n")).lstrip("\n"))
        elif each.name in ops:
            shown.append(f"  [What the op does](reference.md#{each.name.lower()}).")
        last = key if each.documentation else None
    return shown


def section(path, ops):
    text = path.read_text(encoding="utf-8")
    declarations = declarations_of(text)
    lines = [f"## tenon/{path.name}", "", introduction(text), ""]
    scopes = dict.fromkeys(each.scope for each in declarations)
    for scope in scopes:
        if scope not in ((), ("tenon",)):
            lines += ["### " + "::".join(scope), ""]
        lines += [*entries([each for each in declarations if each.scope == scope], ops), ""]
    return lines


def reference(root):
    lines = ["# C++ reference", "", "<!-- Written by `tools/api.py reference` from the comments in include/tenon. Changes belong there. -->", "",
             "Every public declaration of the headers, in the order of their names; [cpp.md](cpp.md) is the introduction. `tenon/tenon.h` includes all but",
             "`c.h`, `eigen.h` and `span.h`. Functions and methods that are ops are in [reference.md](reference.md).", ""]
    for path in headers(root):
        lines += section(path, op_names(root))
    return "\n".join(lines).rstrip() + "\n"


def check(root):
    ops, count, missing = op_names(root), 0, []
    for path in headers(root):
        declarations = declarations_of(path.read_text(encoding="utf-8"))
        count += len(declarations)
        missing += [f"{path.relative_to(root)}:{each.line}: {'::'.join((*each.scope, each.name))} has no comment: {each.text}" for each in undocumented(declarations, ops)]
    page = root / "docs/api.md"
    if not page.exists() or page.read_text(encoding="utf-8") != reference(root):
        missing.append("docs/api.md is out of date; generate it: python3 tools/api.py reference > docs/api.md")
    print("\n".join(missing) if missing else f"{count} public declarations are documented")
    return 1 if missing else 0


CASES = [
    ("a comment above", "/// Adds.\nint add(int a);\n", ""),
    ("a comment behind", "int limit = 3;  // the most\n", ""),
    ("no comment", "int add(int a);\n", "add"),
    ("a comment holds up to an empty line", "/// Adds.\nint add(int a);\nint add_(int a);\n\nint sub(int a);\n", "sub"),
    ("an op is documented in docs/reference.md", "Tensor exp(const Tensor& self);\n", ""),
    ("a method", "/// A list.\nclass A {\n public:\n  A();\n  int size() const { return size_; }\n  int first() const;\n\n private:\n  int size_;\n};\n", "first"),
    ("fields belong to the struct", "/// A pair.\nstruct P {\n  int a = 1;\n  int b{2};\n};\n", ""),
    ("a class", "struct P {\n};\n", "P"),
    ("not public", "namespace internal {\nint hidden();\n}\nint shown();\n", "shown"),
    ("templates and requirements", "template <class T>\nrequires requires(T t) { t.x(); }\nT all(T t) { return t; }\nint after();\n", "all after"),
    ("constructors with lists", "/// A.\nclass A {\n public:\n  A(int a) : a_{a}, b_(a) {}\n  int get();\n private:\n  int a_, b_;\n};\n", "get"),
    ("C", "/* A code. */\ntypedef enum code { ONE = 1 } code;\n\nstatic inline int of(int a) { return a; }\n", "of"),
    ("a type's other name, a concept", "using Short = Longer<int>;\ntemplate <class T>\nconcept Small = sizeof(T) < 3;\n", "Short Small"),
]


def self_test():
    for why, text, wanted in CASES:
        found = [each.name for each in undocumented(declarations_of("// base: a header.\n#pragma once\n\n" + text), {"exp"})]
        if found != wanted.split():
            print(f"self-test: {why}: wanted {wanted.split()}, got {found}")
            return 1
    print(f"{len(CASES)} cases")
    return 0


def main(arguments):
    if arguments == ["--self-test"]:
        return self_test()
    if arguments == ["reference"]:
        sys.stdout.write(reference(ROOT))
        return 0
    return check(ROOT)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
