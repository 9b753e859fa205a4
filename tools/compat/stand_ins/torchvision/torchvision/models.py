import enum

from torch import nn


class VGG16_Weights(enum.Enum):
    IMAGENET1K_V1 = "none here"


class VGG(nn.Module):
    def __init__(self):
        super().__init__()
        layers, channels = [], 3
        for width in (64, 64, 0, 128, 128, 0, 256, 256, 256, 0, 512, 512, 512, 0, 512, 512, 512, 0):
            layers += [nn.Conv2d(channels, width, 3, padding=1), nn.ReLU(inplace=True)] if width else [nn.MaxPool2d(2, 2)]
            channels = width or channels
        self.features = nn.Sequential(*layers)


def vgg16(weights=None):
    return VGG()


class _Block(nn.Module):
    def __init__(self, channels, width, stride):
        super().__init__()
        self.conv1 = nn.Conv2d(channels, width, 3, stride, 1, bias=False)
        self.bn1 = nn.BatchNorm2d(width)
        self.relu = nn.ReLU(inplace=True)
        self.conv2 = nn.Conv2d(width, width, 3, 1, 1, bias=False)
        self.bn2 = nn.BatchNorm2d(width)
        self.downsample = None
        if stride != 1:
            self.downsample = nn.Sequential(nn.Conv2d(channels, width, 1, stride, bias=False), nn.BatchNorm2d(width))

    def forward(self, x):
        out = self.bn2(self.conv2(self.relu(self.bn1(self.conv1(x)))))
        return self.relu(out + (x if self.downsample is None else self.downsample(x)))


class ResNet(nn.Module):
    def __init__(self):
        super().__init__()
        self.conv1 = nn.Conv2d(3, 64, 7, 2, 3, bias=False)
        self.bn1 = nn.BatchNorm2d(64)
        self.relu = nn.ReLU(inplace=True)
        self.maxpool = nn.MaxPool2d(3, 2, 1)
        for n, (channels, width) in enumerate(((64, 64), (64, 128), (128, 256), (256, 512)), 1):
            setattr(self, f"layer{n}", nn.Sequential(_Block(channels, width, 1 if n == 1 else 2), _Block(width, width, 1)))
        self.avgpool = nn.AdaptiveAvgPool2d((1, 1))
        self.fc = nn.Linear(512, 1000)

    def forward(self, x):
        x = self.maxpool(self.relu(self.bn1(self.conv1(x))))
        x = self.layer4(self.layer3(self.layer2(self.layer1(x))))
        return self.fc(self.avgpool(x).flatten(1))


def resnet18(weights=None):
    return ResNet()
