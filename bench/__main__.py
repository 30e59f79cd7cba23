"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import classification, repository, start_up, state_updates, watching

for module in (start_up, state_updates, repository, classification, watching):
    module.main()
    print()
