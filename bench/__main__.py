"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import classification, repository, start_up, state_updates

for module in (start_up, state_updates, repository, classification):
    module.main()
    print()
