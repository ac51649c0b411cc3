"""The paper's own numbers rebuilt, its claims tested on them, and a run set beside them."""
