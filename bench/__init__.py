"""Measurements: ratios against a floor, side by side in one run."""
