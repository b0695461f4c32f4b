/* Tenon from C: a broadcast, an error, a gradient.

   cc examples/c_api.c $(pkg-config --cflags --libs tenon) */
#include <stdio.h>
#include <tenon/c.h>

/* Prints what failed last. */
static int failed(void) {
  int64_t i;
  printf("error %d: %s\n", (int)tenon_error_code(), tenon_error_text());
  for (i = 0; i < tenon_error_note_count(); ++i) printf("%s\n", tenon_error_note(i));
  return 1;
}

static void print(const char* name, const tenon_tensor* tensor) {
  char text[512];
  tenon_to_string(tensor, text, sizeof text);
  printf("%s = %s\n", name, text);
}

/* prices - discount, where the discount is one number for each column. */
static int broadcast(tenon_tensor* prices, tenon_tensor* discount) {
  tenon_value arguments[2];
  tenon_tensor* rest;
  arguments[0] = tenon_of_tensor(prices);
  arguments[1] = tenon_of_tensor(discount);
  if (tenon_call("sub", arguments, 2, &rest, 1, NULL) != TENON_OK) return failed();
  print("rest", rest);
  tenon_release(rest);
  return 0;
}

/* sum(prices * discount) has the gradient sum(prices, dim=0) for the discount. */
static int gradient(tenon_tensor* prices, tenon_tensor* discount) {
  tenon_value arguments[2];
  tenon_tensor *product = NULL, *sum = NULL, *grad = NULL;
  tenon_status status = tenon_set_requires_grad(discount, 1);
  arguments[0] = tenon_of_tensor(prices);
  arguments[1] = tenon_of_tensor(discount);
  if (status == TENON_OK) status = tenon_call("mul", arguments, 2, &product, 1, NULL);
  arguments[0] = tenon_of_tensor(product);
  if (status == TENON_OK) status = tenon_call("sum", arguments, 1, &sum, 1, NULL);
  if (status == TENON_OK) status = tenon_backward(sum, NULL);
  if (status == TENON_OK) status = tenon_grad(discount, &grad);
  if (status == TENON_OK) print("gradient", grad);
  tenon_release(grad);
  tenon_release(sum);
  tenon_release(product);
  return status == TENON_OK ? 0 : failed();
}

int main(void) {
  static float numbers[6] = {10, 20, 30, 40, 50, 60}, discounts[3] = {1, 2, 3}, pair[2] = {1, 2};
  const int64_t table[2] = {2, 3}, row[1] = {3}, short_row[1] = {2};
  tenon_tensor *prices = NULL, *discount = NULL, *wrong = NULL;
  int bad = tenon_from_data(numbers, table, NULL, 2, TENON_FLOAT32, NULL, NULL, &prices) != TENON_OK ||
            tenon_from_data(discounts, row, NULL, 1, TENON_FLOAT32, NULL, NULL, &discount) != TENON_OK ||
            tenon_from_data(pair, short_row, NULL, 1, TENON_FLOAT32, NULL, NULL, &wrong) != TENON_OK;
  bad = bad ? failed() : broadcast(prices, discount);
  if (!bad) bad = !broadcast(prices, wrong); /* [2, 3] and [2] do not broadcast */
  if (!bad) bad = gradient(prices, discount);
  tenon_release(wrong);
  tenon_release(discount);
  tenon_release(prices);
  return bad;
}
