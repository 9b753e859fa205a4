"""Pictures of digits, drawn from a font of 5 x 7 dots: shifted, blurred and noisy, 16 x 16 pixels each."""

import torch

_FONT = """
01110 00100 01110 11111 00010 11111 00110 11111 01110 01110
10001 01100 10001 00010 00110 10000 01000 00001 10001 10001
10011 00100 00001 00100 01010 11110 10000 00010 10001 10001
10101 00100 00010 00010 10010 00001 11110 00100 01110 01111
11001 00100 00100 00001 11111 00001 10001 01000 10001 00001
10001 00100 01000 10001 00010 10001 10001 01000 10001 00010
01110 01110 11111 01110 00010 01110 01110 01000 01110 01100
"""


def font():
    rows = [[[float(c) for c in word] for word in line.split()] for line in _FONT.split("\n") if line]
    return torch.tensor(rows).transpose(0, 1)  # digit, row, column


def digits(n):
    """n pictures of 16 x 16 with values from 0 to 1, and which digit each shows."""
    labels = torch.randint(10, (n,))
    small = font()[labels].repeat_interleave(2, 1).repeat_interleave(2, 2)  # 14 x 10
    pictures = torch.zeros(n, 16, 16)
    down, right = torch.randint(0, 3, (n,)), torch.randint(0, 7, (n,))
    for i in range(n):
        pictures[i, down[i] : down[i] + 14, right[i] : right[i] + 10] = small[i]
    blurred = torch.nn.functional.avg_pool2d(pictures.unsqueeze(1), 3, stride=1, padding=1)
    noisy = 0.7 * blurred + 0.3 * pictures.unsqueeze(1) + 0.1 * torch.randn(n, 1, 16, 16)
    return noisy.clamp(0, 1), labels
