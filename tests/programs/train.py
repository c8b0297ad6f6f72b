"""Trains a small network with tinygrad on the first GPU, forward, backward and optimiser:  train.py [STEPS]

Prints a line per step.
"""

import sys

from tinygrad import Context, Device, Tensor, nn


class Network:
    def __init__(self):
        self.first, self.second = nn.Linear(64, 128), nn.Linear(128, 10)

    def __call__(self, inputs):
        return self.second(self.first(inputs).relu())


def main(steps):
    Tensor.manual_seed(1)
    network = Network()
    optimiser = nn.optim.SGD(nn.state.get_parameters(network), lr=0.01, momentum=0.9)
    for step in range(steps):
        inputs, targets = Tensor.rand(32, 64), Tensor.randint(32, high=10)
        optimiser.zero_grad()
        loss = network(inputs).sparse_categorical_crossentropy(targets).backward()
        optimiser.step()
        # A kernel computes nothing on a simulated GPU, so the loss says nothing.
        loss.item()
        print(f"step {step} on {Device.DEFAULT}")


if __name__ == "__main__":
    with Context(TRAINING=1):
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
