"""Records torch's schema of every op that ir/ops has a row for, and of its in-place form, into schemas.txt; and the
names of torch's in-place and `.out` forms of these ops into ir/ops/torch_forms.def.

Needs torch; the tests only read the file. Usage: python record_schemas.py
"""
import pathlib
import re

import torch

HERE = pathlib.Path(__file__).resolve().parent
ROWS = HERE.parents[1] / "ir" / "ops"


def torch_schemas():
    """Schema text by "aten.name.overload"."""
    schemas = {}
    for schema in torch._C._jit_get_all_schemas():
        match = re.match(r"(aten|prims)::([^\s.(]+)(\.[^(]+)?(\(.*)$", str(schema), re.S)
        if match:
            name = f"{match[1]}.{match[2]}{match[3] or '.default'}"
            schemas[name] = name + match[4]
    return schemas


def row_names():
    """Names that begin a schema in the row files; a string may be split over lines."""
    names = set()
    for path in sorted(ROWS.glob("*.cpp")):
        text = re.sub(r'"\s*\n\s*"', "", path.read_text())
        names.update(re.findall(r'"((?:aten|prims)\.[A-Za-z0-9_]+\.[A-Za-z0-9_]+)\(', text))
    return names


def explicit_in_place_names():
    names = set()
    for path in sorted(ROWS.glob("*.cpp")):
        names.update(re.findall(r'"(aten\.[A-Za-z0-9_]+_\.[A-Za-z0-9_]+)"', path.read_text()))
    return names


def in_place_name(name):
    namespace, base, overload = name.split(".")
    if base.startswith("__"):  # __and__, __iand__
        return f"{namespace}.__i{base[2:]}.{overload}"
    return f"{namespace}.{base}_.{overload}"


def writing_forms(schemas, names):
    """Names of ops that write an argument, of the rows' ops."""
    bases = {n.rsplit(".", 1)[0] for n in names}
    in_place = {in_place_name(n) for n in names}
    return sorted(n for n in schemas if n.startswith("aten.") and "!" in schemas[n].split("->")[0] and
                  {n.rsplit(".", 1)[0], n.rsplit(".", 1)[0][:-1]} & bases or n in (explicit_in_place_names() | in_place) & schemas.keys())


def main():
    schemas = torch_schemas()
    names = row_names()
    missing = sorted(n for n in names if n not in schemas)
    if missing:
        raise SystemExit("torch has no schema for: " + ", ".join(missing))
    names |= {n for n in explicit_in_place_names() if n in schemas}
    names |= {in_place_name(n) for n in names if in_place_name(n) in schemas}
    (HERE / "schemas.txt").write_text("\n".join(schemas[n] for n in sorted(names)) + "\n")
    forms = writing_forms(schemas, names)
    (ROWS / "torch_forms.def").write_text("// Written by tests/ops_table/record_schemas.py, sorted.\n" +
                                          "".join(f'X("{n}")\n' for n in forms))
    print(f"{len(names)} schemas of torch {torch.__version__}")


if __name__ == "__main__":
    main()
