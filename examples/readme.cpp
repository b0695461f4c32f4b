// The program of README.md: tools/check_docs.py holds both to the same text.
#include <tenon/tenon.h>

#include <iostream>

int main() {
  const tenon::Tensor column = tenon::arange(3).reshape({3, 1});
  const tenon::Tensor row = tenon::tensor({10, 20, 30, 40});
  std::cout << tenon::to_string(column + row) << "\n";

  try {
    tenon::ones({5, 2, 4, 1}) + tenon::ones({3, 1, 1});
  } catch (const tenon::Error& error) {
    std::cout << error.what() << "\n";
    for (const std::string& note : error.notes()) std::cout << note << "\n";
  }
}
