"""The experiments of Zeng, Cheung and Liu (TPAMI 2013), run again: `python -m experiments NAME
--data DIR`. See docs/paper.md.
"""
