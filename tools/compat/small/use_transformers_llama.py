"""Llama from a configuration: grouped heads, rotary positions, training and generation with a cache."""

import torch
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(
    vocab_size=64,
    hidden_size=32,
    intermediate_size=64,
    num_hidden_layers=2,
    num_attention_heads=4,
    num_key_value_heads=2,
    max_position_embeddings=64,
    bos_token_id=0,
    eos_token_id=1,
    pad_token_id=2,
)
model = LlamaForCausalLM(config)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
tokens = torch.randint(3, 64, (4, 24))
mask = torch.ones_like(tokens)
mask[0, :4] = 0
for _ in range(10):
    loss = model(input_ids=tokens, attention_mask=mask, labels=tokens).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
model.eval()
for options in ({"do_sample": False}, {"do_sample": True, "top_k": 10}):
    text = model.generate(tokens[:2, :6], max_new_tokens=12, **options)
    model(input_ids=text, labels=text).loss.backward()
