"""The stubs declare what the package has, and nothing else."""

import ast
import inspect
import pathlib

import rtl


def parameters(function):
    """The names of the parameters of a declaration."""
    arguments = function.args
    ordered = arguments.posonlyargs + arguments.args + [arguments.vararg] + arguments.kwonlyargs + [arguments.kwarg]
    return [argument.arg for argument in ordered if argument]


def check(name, declared, real):
    if isinstance(declared, ast.FunctionDef):
        if not isinstance(real, (property, type(rtl.Table.name))):
            assert parameters(declared) == list(inspect.signature(real).parameters), name
    elif isinstance(declared, ast.ClassDef):
        for part in declared.body:
            if isinstance(part, (ast.FunctionDef, ast.ClassDef)):
                check(f"{name}.{part.name}", part, inspect.getattr_static(real, part.name))
        methods = {part.name for part in declared.body if isinstance(part, ast.FunctionDef)}
        public = {part for part in vars(real) if not part.startswith("_")}
        assert public <= methods, f"{name}: {public - methods}"


stub = ast.parse(pathlib.Path(rtl.__file__).with_name("__init__.pyi").read_text())
declared = {part.name: part for part in stub.body if isinstance(part, (ast.FunctionDef, ast.ClassDef))}
assert set(declared) == set(rtl.__all__) - {"__version__"}, set(declared) ^ set(rtl.__all__)
for name, part in declared.items():
    check(name, part, getattr(rtl, name))
