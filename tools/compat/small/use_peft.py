"""LoRA on a small Llama: only the added matrices train; merged weights compute the same."""

import torch
from peft import LoraConfig, get_peft_model
from transformers import LlamaConfig, LlamaForCausalLM

config = LlamaConfig(
    vocab_size=64, hidden_size=32, intermediate_size=64, num_hidden_layers=2, num_attention_heads=4, max_position_embeddings=64
)
model = get_peft_model(
    LlamaForCausalLM(config), LoraConfig(r=4, lora_alpha=8, lora_dropout=0.1, target_modules=["q_proj", "v_proj"], task_type="CAUSAL_LM")
)
optimizer = torch.optim.AdamW([p for p in model.parameters() if p.requires_grad], 1e-2)
tokens = torch.randint(3, 64, (4, 16))
for _ in range(10):
    loss = model(input_ids=tokens, labels=tokens).loss
    optimizer.zero_grad()
    loss.backward()
    optimizer.step()
merged = model.merge_and_unload()
merged.requires_grad_(True)
merged(input_ids=tokens, labels=tokens).loss.backward()
