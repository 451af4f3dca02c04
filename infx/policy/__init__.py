"""The policy: what a repository may choose for itself."""

POLICY_PATH = "configs/policy.yaml"  # the default place of a repository's policy
