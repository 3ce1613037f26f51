"""How messages move: state, rules, schedules, the engine and its compiled kernels."""
