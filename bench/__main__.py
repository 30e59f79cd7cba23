"""`make bench`: every measurement, one after the other."""

from __future__ import annotations

from bench import start_up, state_updates

for module in (start_up, state_updates):
    module.main()
    print()
