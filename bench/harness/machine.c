#include "bench/harness/machine.h"

#include "cli/core/output/output.h"

#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include <bloomery/base.h>

/* The value of the first line "model name : …" (x86) or "Model : …" of /proc/cpuinfo. */
static void read_cpu(char *cpu, size_t size)
{
    snprintf(cpu, size, "unknown CPU");
    FILE *info = fopen("/proc/cpuinfo", "re");
    char line[512];
    while (info && fgets(line, sizeof line, info)) {
        const char *colon = strchr(line, ':');
        if (!colon || (strncmp(line, "model name", 10) != 0 && strncmp(line, "Model\t", 6) != 0))
            continue;
        line[strcspn(line, "\n")] = '\0';
        snprintf(cpu, size, "%s", colon + 1 + strspn(colon + 1, " "));
        break;
    }
    if (info)
        fclose(info);
}

static long count_cores(void)
{
    cpu_set_t set;
    if (sched_getaffinity(0, sizeof set, &set) == 0)
        return CPU_COUNT(&set);
    return sysconf(_SC_NPROCESSORS_ONLN);
}

void bench_machine_json(cli_json *json)
{
    char cpu[128];
    read_cpu(cpu, sizeof cpu);
    long cores = count_cores();
    cli_json_open(json, "machine", '{');
    cli_json_text(json, "cpu", cpu);
    cli_json_count(json, "cores", cores > 0 ? (uint64_t)cores : 0);
    cli_json_text(json, "isa", bry_isa());
    cli_json_text(json, "compiler", cli_compiler());
    cli_json_text(json, "build", BENCH_BUILD);
    cli_json_text(json, "version", bry_version());
    cli_json_close(json, '}');
}
