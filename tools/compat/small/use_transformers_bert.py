"""BERT from a configuration: classification and masked words, with dropout."""

import torch
from transformers import BertConfig, BertForMaskedLM, BertForSequenceClassification

config = BertConfig(
    vocab_size=64,
    hidden_size=32,
    num_hidden_layers=2,
    num_attention_heads=4,
    intermediate_size=64,
    max_position_embeddings=64,
    num_labels=3,
)
tokens = torch.randint(3, 64, (4, 16))
mask = torch.ones_like(tokens)
mask[:, 12:] = 0
for kind, labels in ((BertForSequenceClassification, torch.tensor([0, 1, 2, 1])), (BertForMaskedLM, tokens)):
    model = kind(config)
    model.train()
    optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
    for _ in range(8):
        loss = model(input_ids=tokens, attention_mask=mask, labels=labels).loss
        optimizer.zero_grad()
        loss.backward()
        optimizer.step()
