"""Batches: a loop over a loader without its model."""

import importlib

from registry import case


def data(torch):
    return importlib.import_module(f"{torch.__name__}.utils.data")


def epoch(loader):
    def run():
        for _ in loader:
            pass

    return run


def rows(torch):
    return data(torch).TensorDataset(torch.randn(2048, 16), torch.randint(0, 10, (2048,)))


@case("DataLoader of a TensorDataset, 64 batches of 32", target=3)
def in_order(torch):
    return epoch(data(torch).DataLoader(rows(torch), batch_size=32))


@case("DataLoader of a TensorDataset, 64 batches of 32, shuffled", target=3)
def shuffled(torch):
    return epoch(data(torch).DataLoader(rows(torch), batch_size=32, shuffle=True))


@case("DataLoader of a Dataset of dicts, 64 batches of 32", target=3)
def dictionaries(torch):
    images, labels = torch.randn(2048, 3, 8, 8), list(range(2048))

    class Pictures(data(torch).Dataset):
        def __len__(self):
            return len(labels)

        def __getitem__(self, n):
            return {"image": images[n], "label": labels[n], "scale": 0.5}

    return epoch(data(torch).DataLoader(Pictures(), batch_size=32))


def _workers(torch, **options):
    return epoch(data(torch).DataLoader(rows(torch), batch_size=32, num_workers=2, **options))


@case("DataLoader with 2 workers that stay, 64 batches of 32", target=1)
def workers_that_stay(torch):
    return _workers(torch, persistent_workers=True)


@case("DataLoader with 2 new workers, 64 batches of 32", target=1)
def new_workers(torch):
    return _workers(torch)


@case("DataLoader with 2 workers that stay, 16 batches of 1.5 MB", target=1)
def large_batches(torch):
    images = torch.randn(512, 3, 64, 64)
    return epoch(data(torch).DataLoader(data(torch).TensorDataset(images), batch_size=32, num_workers=2, persistent_workers=True))
