"""GPT-2 from a configuration: training, then text by search, by beams and by sampling."""

import torch
from transformers import GPT2Config, GPT2LMHeadModel

config = GPT2Config(vocab_size=64, n_positions=64, n_embd=32, n_layer=2, n_head=4, bos_token_id=0, eos_token_id=1, pad_token_id=2)
model = GPT2LMHeadModel(config)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
tokens = torch.randint(3, 64, (4, 24))
for _ in range(10):
    loss = model(input_ids=tokens, labels=tokens).loss
    optimizer.zero_grad()
    loss.backward()
    torch.nn.utils.clip_grad_norm_(model.parameters(), 1.0)
    optimizer.step()
model.eval()
texts = [
    model.generate(tokens[:2, :5], max_new_tokens=12, do_sample=False),
    model.generate(tokens[:2, :5], max_new_tokens=8, num_beams=3, do_sample=False),
    model.generate(tokens[:2, :5], max_new_tokens=12, do_sample=True, top_k=20, top_p=0.9, temperature=0.8),
]
for text in texts:
    model(input_ids=text, labels=text).loss.backward()
