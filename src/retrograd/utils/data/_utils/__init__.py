"""The parts of a DataLoader: how samples are fetched and joined, and how worker processes hand batches on."""

from retrograd._utils import ExceptionWrapper as ExceptionWrapper
from retrograd.utils.data._utils import collate as collate, fetch as fetch, pin_memory as pin_memory, worker as worker
