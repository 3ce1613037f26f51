"""Benchmarks of topoi: `python -m benchmarks NAME --data DIR`. See README.md beside this file."""
