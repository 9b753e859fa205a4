"""Linear algebra in Python: checks and verdicts over the native ops, and what is made of other ops. torch.linalg names what users see."""
