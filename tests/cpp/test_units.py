"""The C++ tests of this folder, one by one. `tools/dev units` builds them; they are part of the sanitizer build too."""

import pytest

units = pytest.importorskip("retrograd_units", reason="tools/dev units builds them")


@pytest.mark.parametrize("name", units.names())
def test_unit(name):
    units.run(name)
