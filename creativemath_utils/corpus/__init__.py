"""From any corpus to problems: the published subset and what is wrong with it, Hugging Face data sets, local files."""
