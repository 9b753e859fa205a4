"""A module trained and validated by Trainer, with logging, a scheduler, early stopping and a checkpoint."""

import pytorch_lightning as pl
import torch
from torch import nn
from torch.utils.data import DataLoader, TensorDataset

pl.seed_everything(0)
x = torch.randn(128, 8)
y = (x[:, :1] * 2 - x[:, 1:2]).sin()


class Fit(pl.LightningModule):
    def __init__(self, width=16):
        super().__init__()
        self.save_hyperparameters()
        self.net = nn.Sequential(nn.Linear(8, width), nn.Tanh(), nn.Linear(width, 1))

    def forward(self, x):
        return self.net(x)

    def training_step(self, batch, index):
        loss = nn.functional.mse_loss(self(batch[0]), batch[1])
        self.log("loss", loss)
        return loss

    def validation_step(self, batch, index):
        self.log("validation", nn.functional.mse_loss(self(batch[0]), batch[1]), prog_bar=True)

    def configure_optimizers(self):
        optimizer = torch.optim.Adam(self.parameters(), 0.01)
        return {"optimizer": optimizer, "lr_scheduler": torch.optim.lr_scheduler.StepLR(optimizer, 1, 0.9)}


data = TensorDataset(x, y)
stop = pl.callbacks.EarlyStopping("validation", patience=3)
saved = pl.callbacks.ModelCheckpoint("saved", monitor="validation")
trainer = pl.Trainer(
    max_epochs=3, accelerator="cpu", callbacks=[stop, saved], logger=False, enable_progress_bar=False, gradient_clip_val=1.0
)
trainer.fit(Fit(), DataLoader(data, 16, shuffle=True), DataLoader(data, 64))
again = Fit.load_from_checkpoint(saved.best_model_path)
nn.functional.mse_loss(again(x), y).backward()
