#include <bloomery/base.h>
#include <stdio.h>

int main(void)
{
    printf("bloomery %s (%s)\n", bry_version(), bry_isa());
    return 0;
}
