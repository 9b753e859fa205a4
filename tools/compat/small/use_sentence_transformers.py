"""An encoder built from a configuration, with pooling, trained by a contrastive loss; no tokenizer, nothing downloaded."""

import torch
from sentence_transformers import losses, util
from sentence_transformers.models import Dense, Normalize, Pooling
from transformers import BertConfig, BertModel

bert = BertModel(BertConfig(vocab_size=64, hidden_size=32, num_hidden_layers=2, num_attention_heads=4, intermediate_size=64))
pooling, dense, normal = Pooling(32, "mean"), Dense(32, 16), Normalize()


class Encoder(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.parts = torch.nn.ModuleList([bert, pooling, dense, normal])

    def forward(self, features):
        found = bert(input_ids=features["input_ids"], attention_mask=features["attention_mask"]).last_hidden_state
        features = {**features, "token_embeddings": found}
        for part in (pooling, dense, normal):
            features = part(features)
        return features


model = Encoder()
loss_of = losses.MultipleNegativesRankingLoss(model)
optimizer = torch.optim.AdamW(model.parameters(), 1e-3)
first, second = torch.randint(3, 64, (6, 12)), torch.randint(3, 64, (6, 12))
mask = torch.ones_like(first)
for _ in range(8):
    loss = loss_of([{"input_ids": tokens, "attention_mask": mask} for tokens in (first, second)], None)
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
similarity = util.cos_sim(model({"input_ids": first, "attention_mask": mask})["sentence_embedding"], torch.ones(1, 16))
similarity.sum().backward()
