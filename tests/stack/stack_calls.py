"""Generates a wrapper for each public function (see stack_depth.h).

stack_calls.py INTERFACE SOURCE: writes SOURCE from tests/structure/interface.txt.
stack_calls.py INTERFACE --options: prints the linker's options, separated by semicolons.
"""

import re
import sys

PROTOTYPE = re.compile(r"^(?!static|typedef)(\w[\w\s]*[\s*]+)(bry_\w+)\((.*)\);$")


def functions(interface):
    """(result, name, parameters) of each."""
    with open(interface, encoding="utf-8") as lines:
        found = [PROTOTYPE.match(line) for line in lines]
    return [match.groups() for match in found if match]


def wrapper(number, result, name, parameters):
    names = [re.search(r"(\w+)(\[\d*\])?$", p).group(1) for p in parameters.split(", ") if p != "void"]
    call = f"__real_{name}({', '.join(names)})"
    void = result.strip() == "void"
    return f"""
__typeof__({name}) __real_{name}, __wrap_{name};
{result}__wrap_{name}({parameters})
{{
    stack_enter(&stack_calls[{number}]);
    {call if void else f"{result}result = {call}"};
    stack_leave(&stack_calls[{number}]);{"" if void else chr(10) + "    return result;"}
}}
"""


def main():
    found = functions(sys.argv[1])
    if sys.argv[2] == "--options":
        print(";".join(f"-Wl,--wrap={name}" for _, name, _ in found), end="")
        return
    with open(sys.argv[2], "w", encoding="utf-8") as source:
        source.write('#include <bloomery.h>\n\n#include "stack/stack_depth.h"\n\nstack_call stack_calls[] = {\n')
        source.writelines(f'    {{.name = "{name}"}},\n' for _, name, _ in found)
        source.write("};\nconst size_t stack_call_count = sizeof stack_calls / sizeof *stack_calls;\n")
        source.writelines(wrapper(number, *each) for number, each in enumerate(found))


main()
