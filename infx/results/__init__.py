"""Results of a sweep, compared with the plan that asked for them."""
