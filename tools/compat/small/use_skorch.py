"""A classifier and a regressor with scikit-learn's interface, in a pipeline and a search."""

import numpy
import torch
from sklearn.model_selection import cross_val_score
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import StandardScaler
from skorch import NeuralNetClassifier, NeuralNetRegressor
from torch import nn

draw = numpy.random.default_rng(0)
x = draw.normal(size=(120, 6)).astype(numpy.float32)
labels = (x[:, 0] > 0).astype(numpy.int64)


class Net(nn.Module):
    def __init__(self, width=8, outputs=2):
        super().__init__()
        self.net = nn.Sequential(nn.Linear(6, width), nn.ReLU(), nn.Linear(width, outputs))

    def forward(self, x):
        return self.net(x)


options = {"max_epochs": 3, "lr": 0.1, "verbose": 0, "iterator_train__shuffle": True}
classifier = NeuralNetClassifier(Net, criterion=nn.CrossEntropyLoss, **options)
make_pipeline(StandardScaler(), classifier).fit(x, labels)
if classifier.predict_proba(x).shape != (120, 2) or not 0.3 < cross_val_score(classifier, x, labels, cv=2).mean() <= 1:
    raise SystemExit("a score out of range")
regressor = NeuralNetRegressor(Net, module__outputs=1, optimizer=torch.optim.Adam, **(options | {"lr": 0.01}))
regressor.fit(x, x[:, :1] * 2)
