"""Every git that a command starts is killed once, at each of its moments: what must hold afterwards.

`python -m testing.kills --command accept --child 58 --moment middle`
"""
