"""Batches of data sets, in PyTorch's order for a seed.

https://pytorch.org/docs/stable/data.html
"""

import bisect
import itertools
import math
import warnings
from collections.abc import Mapping, Sequence

import tenon

__all__ = """
    BatchSampler ConcatDataset DataLoader Dataset IterableDataset RandomSampler Sampler SequentialSampler Subset SubsetRandomSampler
    TensorDataset WeightedRandomSampler default_collate random_split
""".split()


# --- Data sets


class Dataset:
    """The base of data sets: `dataset[index]`, and usually `len(dataset)`."""

    def __class_getitem__(cls, item):
        return cls

    def __getitem__(self, index):
        raise NotImplementedError("Subclasses of Dataset should implement __getitem__.")

    def __add__(self, other):
        return ConcatDataset([self, other])


class IterableDataset(Dataset):
    """The base of data sets that are only iterated over."""


class TensorDataset(Dataset):
    """The rows of tensors that have the same first size."""

    def __init__(self, *tensors):
        if any(tensors[0].size(0) != tensor.size(0) for tensor in tensors):
            raise AssertionError("Size mismatch between tensors")
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(tensor[index] for tensor in self.tensors)

    def __len__(self):
        return self.tensors[0].size(0)


class Subset(Dataset):
    """The elements of a data set at some indices."""

    def __init__(self, dataset, indices):
        self.dataset, self.indices = dataset, indices

    def __getitem__(self, index):
        return self.dataset[[self.indices[i] for i in index]] if isinstance(index, list) else self.dataset[self.indices[index]]

    def __len__(self):
        return len(self.indices)


class ConcatDataset(Dataset):
    """Data sets one behind the other."""

    def __init__(self, datasets):
        self.datasets = list(datasets)
        if not self.datasets:
            raise AssertionError("datasets should not be an empty iterable")
        self.cumulative_sizes = list(itertools.accumulate(map(len, self.datasets)))

    def __len__(self):
        return self.cumulative_sizes[-1]

    def __getitem__(self, index):
        if index < 0:
            if -index > len(self):
                raise ValueError("absolute value of index should not exceed dataset length")
            index += len(self)
        at = bisect.bisect_right(self.cumulative_sizes, index)
        return self.datasets[at][index - (self.cumulative_sizes[at - 1] if at else 0)]


def random_split(dataset, lengths, generator=None):
    """Subsets of these lengths, or shares of the whole, of a data set in random order."""
    if math.isclose(sum(lengths), 1) and sum(lengths) <= 1:
        for number, share in enumerate(lengths):
            if share < 0 or share > 1:
                raise ValueError(f"Fraction at index {number} is not between 0 and 1")
        lengths = [math.floor(len(dataset) * share) for share in lengths]
        for number in range(len(dataset) - sum(lengths)):
            lengths[number % len(lengths)] += 1
        for number, length in enumerate(lengths):
            if length == 0:
                warnings.warn(f"Length of split at index {number} is 0. This might result in an empty dataset.", stacklevel=2)
    if sum(lengths) != len(dataset):
        raise ValueError("Sum of input lengths does not equal the length of the input dataset!")
    indices = iter(tenon.randperm(sum(lengths), generator=generator).tolist())
    return [Subset(dataset, list(itertools.islice(indices, length))) for length in lengths]


# --- Samplers


class Sampler:
    """The base of what gives indices, in the order in which elements are read."""

    def __class_getitem__(cls, item):
        return cls


class SequentialSampler(Sampler):
    """All indices in order."""

    def __init__(self, data_source):
        self.data_source = data_source

    def __iter__(self):
        return iter(range(len(self.data_source)))

    def __len__(self):
        return len(self.data_source)


def _drawn_seed(generator=None):
    return int(tenon.empty((), dtype=tenon.int64, device="cpu").random_(generator=generator).item())


class RandomSampler(Sampler):
    """Indices in random order, or drawn with replacement."""

    def __init__(self, data_source, replacement=False, num_samples=None, generator=None):
        self.data_source, self.replacement, self._num_samples, self.generator = data_source, replacement, num_samples, generator
        if not isinstance(replacement, bool):
            raise TypeError(f"replacement should be a boolean value, but got replacement={replacement}")
        if not isinstance(self.num_samples, int) or self.num_samples <= 0:
            raise ValueError(f"num_samples should be a positive integer value, but got num_samples={self.num_samples}")

    @property
    def num_samples(self):
        return len(self.data_source) if self._num_samples is None else self._num_samples

    def __iter__(self):
        count, generator = len(self.data_source), self.generator
        if generator is None:
            generator = tenon.Generator().manual_seed(_drawn_seed())
        if self.replacement:
            sizes = [32] * (self.num_samples // 32) + [self.num_samples % 32]
            for size in sizes:
                yield from tenon.randint(count, (size,), generator=generator).tolist()
            return
        for _ in range(self.num_samples // count):
            yield from tenon.randperm(count, generator=generator).tolist()
        yield from tenon.randperm(count, generator=generator).tolist()[: self.num_samples % count]

    def __len__(self):
        return self.num_samples


class SubsetRandomSampler(Sampler):
    """Some indices in random order."""

    def __init__(self, indices, generator=None):
        self.indices, self.generator = indices, generator

    def __iter__(self):
        for place in tenon.randperm(len(self.indices), generator=self.generator).tolist():
            yield self.indices[place]

    def __len__(self):
        return len(self.indices)


class WeightedRandomSampler(Sampler):
    """Indices drawn with weights."""

    def __init__(self, weights, num_samples, replacement=True, generator=None):
        self.weights = tenon.as_tensor(weights, dtype=tenon.float64)
        self.num_samples, self.replacement, self.generator = num_samples, replacement, generator

    def __iter__(self):
        return iter(tenon.multinomial(self.weights, self.num_samples, self.replacement, generator=self.generator).tolist())

    def __len__(self):
        return self.num_samples


class BatchSampler(Sampler):
    """Lists of batch_size indices."""

    def __init__(self, sampler, batch_size, drop_last):
        if not isinstance(batch_size, int) or isinstance(batch_size, bool) or batch_size <= 0:
            raise ValueError(f"batch_size should be a positive integer value, but got batch_size={batch_size}")
        if not isinstance(drop_last, bool):
            raise ValueError(f"drop_last should be a boolean value, but got drop_last={drop_last}")
        self.sampler, self.batch_size, self.drop_last = sampler, batch_size, drop_last

    def __iter__(self):
        indices = iter(self.sampler)
        while batch := list(itertools.islice(indices, self.batch_size)):
            if len(batch) == self.batch_size or not self.drop_last:
                yield batch

    def __len__(self):
        whole, rest = divmod(len(self.sampler), self.batch_size)
        return whole + bool(rest and not self.drop_last)


# --- Batches


def default_collate(batch):
    """Elements as one: tensors and numbers stacked, dicts and sequences part by part."""
    first = batch[0]
    if isinstance(first, tenon.Tensor):
        return tenon.stack(batch)
    if type(first).__module__ == "numpy" and hasattr(first, "dtype"):
        return tenon.stack([tenon.as_tensor(each) for each in batch])
    if isinstance(first, float):
        return tenon.tensor(batch, dtype=tenon.float64)
    if isinstance(first, int):
        return tenon.tensor(batch)
    if isinstance(first, (str, bytes)):
        return batch
    if isinstance(first, Mapping):
        return {key: default_collate([each[key] for each in batch]) for key in first}
    if isinstance(first, tuple) and hasattr(first, "_fields"):
        return type(first)(*map(default_collate, zip(*batch)))
    if isinstance(first, Sequence):
        if any(len(each) != len(first) for each in batch):
            raise RuntimeError("each element in list of batch should be of equal size")
        return [default_collate(part) for part in zip(*batch)]
    raise TypeError(f"default_collate: batch must contain tensors, numpy arrays, numbers, dicts or lists; found {type(first)}")


class DataLoader:
    """Iterates over a data set in batches.

    Arguments about workers and pinned memory are accepted for PyTorch's sake: this process reads the elements.
    """

    def __init__(self, dataset, batch_size=1, shuffle=None, sampler=None, batch_sampler=None, num_workers=0, collate_fn=None, pin_memory=False,
                 drop_last=False, timeout=0, worker_init_fn=None, multiprocessing_context=None, generator=None, *, prefetch_factor=None,
                 persistent_workers=False, pin_memory_device="", in_order=True):  # fmt: skip
        if num_workers < 0:
            raise ValueError("num_workers option should be non-negative; use num_workers=0 to disable multiprocessing.")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        is_iterable = isinstance(dataset, IterableDataset)
        if is_iterable and shuffle:
            raise ValueError(f"DataLoader with IterableDataset: expected unspecified shuffle option, but got shuffle={shuffle}")
        if batch_sampler is not None and (batch_size != 1 or shuffle or sampler is not None or drop_last):
            raise ValueError("batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and drop_last")
        if batch_size is None and drop_last:
            raise ValueError("batch_size=None option disables auto-batching and is mutually exclusive with drop_last")
        if sampler is None and not is_iterable:
            sampler = RandomSampler(dataset, generator=generator) if shuffle else SequentialSampler(dataset)
        if batch_sampler is None and batch_size is not None and not is_iterable:
            batch_sampler = BatchSampler(sampler, batch_size, drop_last)
        self.dataset, self.batch_size, self.sampler, self.batch_sampler = dataset, batch_size, sampler, batch_sampler
        self.drop_last, self.generator, self.num_workers, self.pin_memory = drop_last, generator, num_workers, pin_memory
        self.collate_fn = collate_fn or (default_collate if batch_sampler is not None or is_iterable and batch_size is not None else lambda element: element)

    def __iter__(self):
        _drawn_seed(self.generator)  # PyTorch draws one for its workers
        return self._batches()

    def _batches(self):
        if isinstance(self.dataset, IterableDataset):
            elements = iter(self.dataset)
            if self.batch_size is None:
                yield from map(self.collate_fn, elements)
                return
            while batch := list(itertools.islice(elements, self.batch_size)):
                if len(batch) == self.batch_size or not self.drop_last:
                    yield self.collate_fn(batch)
        elif self.batch_sampler is None:
            for index in self.sampler:
                yield self.collate_fn(self.dataset[index])
        else:
            for indices in self.batch_sampler:
                yield self.collate_fn([self.dataset[index] for index in indices])

    def __len__(self):
        if isinstance(self.dataset, IterableDataset):
            count = len(self.dataset)
            return count if self.batch_size is None else (count // self.batch_size if self.drop_last else math.ceil(count / self.batch_size))
        return len(self.sampler if self.batch_sampler is None else self.batch_sampler)
