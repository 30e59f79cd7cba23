from __future__ import annotations

import pytest

from testing.world import Template, World


@pytest.fixture(scope="session")
def _template(tmp_path_factory: pytest.TempPathFactory) -> Template:
    return Template(tmp_path_factory.mktemp("scenarios"))


@pytest.fixture
def world(_template: Template) -> World:
    return _template.world()
