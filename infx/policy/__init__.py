"""What a repository may choose for itself, and what follows from it."""

POLICY_PATH = "configs/policy.yaml"  # where a repository keeps its policy unless it says otherwise
