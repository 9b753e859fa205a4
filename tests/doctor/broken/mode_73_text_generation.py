# code: mode_confusion
import torch
from torch import nn

torch.manual_seed(0)
text = "the quick brown fox jumps over the lazy dog " * 4
vocab = sorted(set(text))
stoi = {c: i for i, c in enumerate(vocab)}
ids = torch.tensor([stoi[c] for c in text])


class CharLM(nn.Module):
    def __init__(self, n, d=16, h=24):
        super().__init__()
        self.emb = nn.Embedding(n, d)
        self.rnn = nn.LSTM(d, h, num_layers=2, dropout=0.2, batch_first=True)
        self.out = nn.Linear(h, n)

    def forward(self, ids, state=None):
        y, state = self.rnn(self.emb(ids), state)
        return self.out(y), state


@torch.no_grad()
def generate(model, start, length):
    token, state, result = torch.tensor([[stoi[start]]]), None, [start]
    for _ in range(length):
        logits, state = model(token, state)  # LINE
        token = torch.multinomial(logits[:, -1].softmax(-1), 1)
        result.append(vocab[token.item()])
    return "".join(result)


lm = CharLM(len(vocab))
opt = torch.optim.AdamW(lm.parameters(), lr=1e-2)
for step in range(25):
    at = torch.randint(0, len(ids) - 17, (8,))
    batch = torch.stack([ids[a : a + 17] for a in at])
    logits, _ = lm(batch[:, :-1])
    loss = nn.functional.cross_entropy(logits.flatten(0, 1), batch[:, 1:].flatten())
    opt.zero_grad()
    loss.backward()
    nn.utils.clip_grad_norm_(lm.parameters(), 1.0)
    opt.step()
print(generate(lm, "t", 20))
