"""Everything that can go wrong, at random and by a seed, with an account of what was lost.

`python -m testing.chaos --seed 7 --seconds 600 --workers 12`
"""
