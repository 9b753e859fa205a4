"""Functions of neural networks in Python, over the native ops. torch.nn.functional names what users see."""
