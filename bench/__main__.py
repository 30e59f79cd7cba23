"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import repository, start_up, state_updates

for module in (start_up, state_updates, repository):
    module.main()
    print()
