"""Before somebody is given something new: whether there is money left for it."""

from __future__ import annotations

from llmc.site import Site


def require_money(site: Site) -> None:
    """Raises DaySpentError. Where no budget of the day is set there is nothing to look for, and nothing to load."""
    if site.config.budget.day_usd is None:
        return
    from llmc.care.budget import spent_day
    from llmc.perform.metering import count_all

    count_all(site)
    spent = spent_day(site)
    if spent is not None:
        raise spent
