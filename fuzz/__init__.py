"""Files that are wrong but well-formed, and what topoi does with them: `python -m fuzz --help`."""
