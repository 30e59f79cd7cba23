"""Many machines: each has an ordinary root with a daemon of its own, and one hub that asks them over a reach."""
