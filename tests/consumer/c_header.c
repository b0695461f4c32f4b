/* tenon/c.h is the first and only header of Tenon here: it must be complete, and a C99 program must link to it. */
#include <tenon/c.h>

#include <complex.h> /* its macro `complex` must not change what the header declared */
#include <string.h>

int main(void) {
  const tenon_value value = tenon_named("alpha", tenon_of_complex(1, 2));
  tenon_tensor* const none = NULL;
  tenon_release(none);
  return strcmp(tenon_version(), "0.1.0") == 0 && value.kind == TENON_KIND_COMPLEX &&
                 strcmp(value.name, "alpha") == 0 && value.as.parts[1] == 2 && tenon_error_code() == TENON_OK &&
                 strcmp(tenon_error_text(), "") == 0
             ? 0
             : 1;
}
