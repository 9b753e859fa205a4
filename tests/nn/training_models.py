"""Small models and how they are trained, for test_training.py and the file of losses that goes with it.

Each function makes a model, data and an optimizer from a fixed seed, and gives a function that does one step and returns its loss. Run as a
program, this writes PyTorch's losses of 100 steps to training_losses.json.
"""

import importlib
import json
import math
import pathlib

LOSSES = pathlib.Path(__file__).with_name("training_losses.json")
STEPS = 100


def mlp_with_dropout(torch, nn, F):
    model = nn.Sequential(nn.Linear(8, 32), nn.ReLU(), nn.Dropout(0.2), nn.Linear(32, 32), nn.GELU(), nn.Dropout(0.1), nn.Linear(32, 4))
    x, y = torch.randn(64, 8), torch.randint(0, 4, (64,))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.05, momentum=0.9, nesterov=True, weight_decay=1e-4)
    return trained(optimizer, lambda: F.cross_entropy(model(x), y), torch.optim.lr_scheduler.StepLR(optimizer, 30, 0.5))


def conv_net_with_batch_norm(torch, nn, F):
    model = nn.Sequential(
        nn.Conv2d(3, 8, 3, padding=1), nn.BatchNorm2d(8), nn.ReLU(), nn.Conv2d(8, 8, 3, stride=2, groups=2), nn.BatchNorm2d(8), nn.ReLU(),
        nn.Flatten(), nn.Linear(8 * 3 * 3, 5),
    )  # fmt: skip
    x, y = torch.randn(16, 3, 8, 8), torch.randint(0, 5, (16,))
    optimizer = torch.optim.Adam(model.parameters(), lr=2e-3)
    return trained(
        optimizer, lambda: F.cross_entropy(model(x), y, label_smoothing=0.1), torch.optim.lr_scheduler.CosineAnnealingLR(optimizer, STEPS)
    )


def residual_net(torch, nn, F):
    class Block(nn.Module):
        def __init__(self, inner, outer, stride):
            super().__init__()
            self.conv1 = nn.Conv2d(inner, outer, 3, stride, 1, bias=False)
            self.norm1 = nn.BatchNorm2d(outer)
            self.conv2 = nn.Conv2d(outer, outer, 3, padding=1, bias=False)
            self.norm2 = nn.BatchNorm2d(outer, momentum=0.2)
            self.short = nn.Conv2d(inner, outer, 1, stride) if stride > 1 else nn.Identity()

        def forward(self, x):
            y = self.norm2(self.conv2(F.relu(self.norm1(self.conv1(x)))))
            return F.silu(y + self.short(x))

    model = nn.Sequential(nn.Conv2d(1, 4, 3, padding=1), Block(4, 4, 1), Block(4, 8, 2), nn.Flatten(), nn.Linear(8 * 16, 3))
    x, y = torch.randn(12, 1, 8, 8), torch.randn(12, 3)
    optimizer = torch.optim.AdamW(model.parameters(), lr=1e-3, weight_decay=0.05)
    schedule = torch.optim.lr_scheduler.OneCycleLR(optimizer, max_lr=5e-3, total_steps=STEPS + 1)
    return trained(optimizer, lambda: F.smooth_l1_loss(model(x), y), schedule)


def gru_classifier(torch, nn, F):
    gru, head = nn.GRU(5, 12, num_layers=2, batch_first=True, bidirectional=True), nn.Linear(24, 3)
    x, y = torch.randn(10, 7, 5), torch.randint(0, 3, (10,))
    optimizer = torch.optim.RMSprop([*gru.parameters(), *head.parameters()], lr=1e-3, alpha=0.95, momentum=0.5, centered=True)
    schedule = torch.optim.lr_scheduler.ExponentialLR(optimizer, 0.99)
    return trained(optimizer, lambda: F.nll_loss(head(gru(x)[0].mean(1)).log_softmax(1), y), schedule)


def lstm_language_model(torch, nn, F):
    embed, lstm, head = nn.Embedding(20, 8, padding_idx=0), nn.LSTM(8, 16, 2, proj_size=8), nn.Linear(8, 20, bias=False)
    head.weight = embed.weight  # tied
    tokens = torch.randint(1, 20, (13, 6))
    parameters = [*embed.parameters(), *lstm.parameters()]
    optimizer = torch.optim.SGD(parameters, lr=0.3)

    def loss():
        out, _ = lstm(embed(tokens[:-1]))
        return F.cross_entropy(head(out).flatten(0, 1), tokens[1:].flatten())

    schedule = torch.optim.lr_scheduler.ReduceLROnPlateau(optimizer, factor=0.5, patience=3)
    return trained(optimizer, loss, schedule, clip=lambda: nn.utils.clip_grad_norm_(parameters, 0.5), watches=True)


def transformer_encoder(torch, nn, F):
    layer = nn.TransformerEncoderLayer(16, 4, 32, dropout=0.1, activation="gelu", batch_first=True, norm_first=True)
    encoder, head = nn.TransformerEncoder(layer, 2, nn.LayerNorm(16), enable_nested_tensor=False), nn.Linear(16, 4)
    x, y = torch.randn(6, 9, 16), torch.randint(0, 4, (6, 9))
    padding = torch.arange(9) >= torch.tensor([9, 7, 8, 9, 5, 6])[:, None]
    y[padding] = -100
    optimizer = torch.optim.AdamW([*encoder.parameters(), *head.parameters()], lr=2e-3, amsgrad=True)
    schedule = torch.optim.lr_scheduler.LambdaLR(optimizer, lambda step: min(1.0, (step + 1) / 20))
    return trained(optimizer, lambda: F.cross_entropy(head(encoder(x, src_key_padding_mask=padding)).flatten(0, 1), y.flatten()), schedule)


def causal_decoder(torch, nn, F):
    class Attention(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.qkv, self.out = nn.Linear(width, 3 * width), nn.Linear(width, width)

        def forward(self, x):
            n, t, c = x.shape
            q, k, v = (part.reshape(n, t, self.heads, c // self.heads).transpose(1, 2) for part in self.qkv(x).chunk(3, -1))
            return self.out(F.scaled_dot_product_attention(q, k, v, is_causal=True).transpose(1, 2).reshape(n, t, c))

    class Layer(nn.Module):
        def __init__(self, width):
            super().__init__()
            self.norm1, self.attend = nn.RMSNorm(width, eps=1e-6), Attention(width, 2)
            self.norm2, self.up, self.down = nn.RMSNorm(width, eps=1e-6), nn.Linear(width, 4 * width), nn.Linear(2 * width, width)

        def forward(self, x):
            x = x + self.attend(self.norm1(x))
            return x + self.down(F.glu(self.up(self.norm2(x))))

    tokens, places = nn.Embedding(16, 12), nn.Parameter(0.1 * torch.randn(10, 12))
    body = nn.Sequential(Layer(12), Layer(12), nn.LayerNorm(12), nn.Linear(12, 16))
    data = torch.randint(0, 16, (5, 11))
    optimizer = torch.optim.NAdam([*tokens.parameters(), places, *body.parameters()], lr=2e-3)
    schedule = torch.optim.lr_scheduler.CosineAnnealingWarmRestarts(optimizer, 25)
    return trained(optimizer, lambda: F.cross_entropy(body(tokens(data[:, :-1]) + places).transpose(1, 2), data[:, 1:]), schedule)


def vae(torch, nn, F):
    encoder = nn.Sequential(nn.Linear(12, 24), nn.Tanh(), nn.Linear(24, 2 * 3))
    decoder = nn.Sequential(nn.Linear(3, 24), nn.Softplus(), nn.Linear(24, 12))
    x = torch.rand(32, 12)
    optimizer = torch.optim.Adamax([*encoder.parameters(), *decoder.parameters()], lr=5e-3)

    def loss():
        mean, log_var = encoder(x).chunk(2, 1)
        z = mean + torch.randn_like(mean) * (0.5 * log_var).exp()
        apart = -0.5 * (1 + log_var - mean.square() - log_var.exp()).sum(1).mean()
        return F.binary_cross_entropy_with_logits(decoder(z), x, reduction="none").sum(1).mean() + apart

    return trained(optimizer, loss, torch.optim.lr_scheduler.PolynomialLR(optimizer, STEPS, power=0.9))


def autoencoder(torch, nn, F):
    model = nn.Sequential(
        nn.Conv2d(2, 6, 3, stride=2, padding=1, padding_mode="reflect"), nn.GroupNorm(3, 6), nn.LeakyReLU(0.1),
        nn.ConvTranspose2d(6, 4, 4, stride=2, padding=1), nn.InstanceNorm2d(4, affine=True), nn.PReLU(4), nn.Conv2d(4, 2, 1),
    )  # fmt: skip
    x = torch.randn(8, 2, 8, 8)
    optimizer = torch.optim.Adagrad(model.parameters(), lr=0.02, lr_decay=1e-3)
    return trained(optimizer, lambda: F.mse_loss(model(x), x), torch.optim.lr_scheduler.MultiStepLR(optimizer, [40, 80], 0.3))


def embedding_bag_classifier(torch, nn, F):
    bag, head = nn.EmbeddingBag(50, 8, mode="sum", padding_idx=3), nn.Linear(8, 2)
    words, offsets = torch.randint(0, 50, (90,)), torch.arange(0, 90, 9)
    factors = nn.Parameter(torch.rand(90))
    y = torch.rand(10, 2)
    optimizer = torch.optim.RAdam([*bag.parameters(), factors, *head.parameters()], lr=5e-3)
    schedule = torch.optim.lr_scheduler.CyclicLR(optimizer, 1e-3, 1e-2, step_size_up=10, cycle_momentum=False)
    return trained(optimizer, lambda: F.binary_cross_entropy(head(bag(words, offsets, factors)).sigmoid(), y), schedule)


def gan(torch, nn, F):
    maker = nn.Sequential(nn.Linear(4, 16), nn.ReLU(), nn.Linear(16, 6))
    judge = nn.Sequential(nn.utils.parametrizations.spectral_norm(nn.Linear(6, 16)), nn.LeakyReLU(0.2), nn.Linear(16, 1))
    real = torch.randn(24, 6) * 0.5 + 1
    of_maker = torch.optim.Adam(maker.parameters(), lr=1e-3, betas=(0.5, 0.999))
    of_judge = torch.optim.Adam(judge.parameters(), lr=1e-3, betas=(0.5, 0.999))
    yes, no = torch.ones(24, 1), torch.zeros(24, 1)

    def step():
        made = maker(torch.randn(24, 4))
        of_judge.zero_grad()
        judged = F.binary_cross_entropy_with_logits(judge(real), yes) + F.binary_cross_entropy_with_logits(judge(made.detach()), no)
        judged.backward()
        of_judge.step()
        of_maker.zero_grad()
        fooled = F.binary_cross_entropy_with_logits(judge(made), yes)
        fooled.backward()
        of_maker.step()
        return judged.item() + fooled.item()

    return step


def ctc_reader(torch, nn, F):
    model = nn.Sequential(nn.Conv1d(6, 12, 3, padding=1), nn.ELU(), nn.Conv1d(12, 5, 1))
    x, targets = torch.randn(7, 6, 15), torch.randint(1, 5, (7, 4))
    lengths, sizes = torch.tensor([15, 12, 9, 15, 14, 10, 11]), torch.tensor([4, 2, 3, 1, 4, 0, 3])
    optimizer = torch.optim.Adadelta(model.parameters(), lr=1.0)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 0.1, 1.0, 20)
    return trained(optimizer, lambda: F.ctc_loss(model(x).permute(2, 0, 1).log_softmax(2), targets, lengths, sizes), schedule)


def linear_cross_entropy_head(torch, nn, F):
    body, head = nn.Linear(6, 10), nn.LinearCrossEntropyLoss(10, 40, bias=True)
    x, y = torch.randn(30, 6), torch.randint(0, 40, (30,))
    optimizer = torch.optim.Adafactor([*body.parameters(), *head.parameters()], lr=0.05)
    return trained(optimizer, lambda: head(torch.tanh(body(x)), y), torch.optim.lr_scheduler.ConstantLR(optimizer, 0.5, 10))


def trained(optimizer, compute, schedule, clip=None, watches=False):
    def step():
        optimizer.zero_grad()
        loss = compute()
        loss.backward()
        if clip is not None:
            clip()
        optimizer.step()
        schedule.step(*([loss.item()] if watches else []))
        return loss.item()

    return step


MODELS = {f.__name__: f for f in (
    mlp_with_dropout, conv_net_with_batch_norm, residual_net, gru_classifier, lstm_language_model, transformer_encoder, causal_decoder, vae,
    autoencoder, embedding_bag_classifier, gan, ctc_reader, linear_cross_entropy_head,
)}  # fmt: skip


def losses(torch, name):
    torch.manual_seed(20)
    step = MODELS[name](torch, torch.nn, torch.nn.functional)
    found = [step() for _ in range(STEPS)]
    assert all(map(math.isfinite, found))
    return found


if __name__ == "__main__":
    oracle = importlib.import_module("torch")
    lines = (f"{json.dumps(name)}: {json.dumps([float(f'{v:.9g}') for v in losses(oracle, name)])}" for name in MODELS)
    LOSSES.write_text("{\n" + ",\n".join(lines) + "\n}\n")
