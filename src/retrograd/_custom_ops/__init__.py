"""Ops that programs define, `torch.library`: schemas, the ops themselves, and the checks of `opcheck`."""
