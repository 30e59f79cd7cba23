"""What each event does to a worker: pure functions, one for each kind of event.

Whether an event is allowed, and where it may lead, is the table in `table.py`.
"""
