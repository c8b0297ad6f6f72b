"""Runs the examples of a page in the working directory: guide.py PAGE."""

import doctest
import pathlib
import re
import sys

page = pathlib.Path(sys.argv[1])
examples = "\n\n".join(re.findall(r"^```python\n(.*?)^```$", page.read_text(), re.DOTALL | re.MULTILINE))
test = doctest.DocTestParser().get_doctest(examples, {}, page.name, str(page), 0)
assert len(test.examples) > 10, f"{len(test.examples)} examples in {page.name}"
sys.exit(doctest.DocTestRunner().run(test).failed > 0)
