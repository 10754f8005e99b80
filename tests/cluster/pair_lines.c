/* pair_lines N: lines "key<TAB>value" of N pairs, fast: the i-th key is "k" and i in base 36 with
 * its digits reversed, the value has 12 bits. cluster_large_test.py computes the same. */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>

static char *put_digits(char *at, uint64_t number, unsigned base)
{
    do {
        *at++ = "0123456789abcdefghijklmnopqrstuvwxyz"[number % base];
        number /= base;
    } while (number);
    return at;
}

int main(int argc, char **argv)
{
    static char lines[1 << 20];
    char *at = lines;
    uint64_t n = argc == 2 ? strtoull(argv[1], NULL, 10) : 0;
    for (uint64_t i = 0; i < n; i++) {
        *at++ = 'k';
        at = put_digits(at, i, 36);
        *at++ = '\t';
        char reversed[8], *digit = put_digits(reversed, i * 0x9e3779b97f4a7c15u >> 52, 10);
        while (digit > reversed)
            *at++ = *--digit;
        *at++ = '\n';
        if (at - lines > (1 << 20) - 64 || i + 1 == n) {
            if (fwrite(lines, 1, (size_t)(at - lines), stdout) != (size_t)(at - lines))
                return 1;
            at = lines;
        }
    }
    return fflush(stdout) == 0 ? 0 : 1;
}
