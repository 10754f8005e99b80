/* The main() of test programs that have none of their own. */
#include "support/cmocka_all.h"

int main(void)
{
    return run_all_tests(NULL, NULL);
}
