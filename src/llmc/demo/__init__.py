"""LLMC's built-in scripted agent: a full-screen terminal program that plays a coding agent, with no model behind it.

It runs in a process of its own, imports nothing else of LLMC, and starts fast: its values are named tuples because
making a dataclass takes eight times as long as making one of these.
"""
