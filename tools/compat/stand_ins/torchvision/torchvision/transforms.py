import numpy
import torch
from PIL import Image


class Compose:
    def __init__(self, transforms):
        self.transforms = transforms

    def __call__(self, image):
        for transform in self.transforms:
            image = transform(image)
        return image


class ToTensor:
    def __call__(self, image):
        pixels = numpy.array(image)
        pixels = pixels[None] if pixels.ndim == 2 else pixels.transpose(2, 0, 1)
        return torch.from_numpy(numpy.ascontiguousarray(pixels)).to(torch.get_default_dtype()).div(255)


class Normalize:
    def __init__(self, mean, std):
        self.mean, self.std = torch.tensor(mean).view(-1, 1, 1), torch.tensor(std).view(-1, 1, 1)

    def __call__(self, image):
        return (image - self.mean) / self.std


class Lambda:
    def __init__(self, function):
        self.function = function

    def __call__(self, image):
        return self.function(image)


class Resize:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        width, height = image.size
        scale = self.size / min(width, height)
        return image.resize((max(self.size, int(width * scale)), max(self.size, int(height * scale))), Image.Resampling.BILINEAR)


class CenterCrop:
    def __init__(self, size):
        self.size = size

    def __call__(self, image):
        left, top = (image.size[0] - self.size) // 2, (image.size[1] - self.size) // 2
        return image.crop((left, top, left + self.size, top + self.size))


class RandomCrop:
    def __init__(self, size, padding=0):
        self.size, self.padding = size, padding

    def __call__(self, image):
        pixels = numpy.pad(numpy.array(image), [(self.padding, self.padding)] * 2 + [(0, 0)])
        top = int(torch.randint(0, pixels.shape[0] - self.size + 1, (1,)))
        left = int(torch.randint(0, pixels.shape[1] - self.size + 1, (1,)))
        return Image.fromarray(pixels[top : top + self.size, left : left + self.size])


class RandomHorizontalFlip:
    def __init__(self, p=0.5):
        self.p = p

    def __call__(self, image):
        return image.transpose(Image.Transpose.FLIP_LEFT_RIGHT) if float(torch.rand(1)) < self.p else image
