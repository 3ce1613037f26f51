"""What people ask of a fitted model, as functions of its arrays."""
