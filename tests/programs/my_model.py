"""Trains a small network on several GPUs, with a process for each:  my_model.py [STEPS] [GPUS]

Data-parallel training as launchers do it: every rank has a GPU, a copy of the network and its own part of the data, and
gradients are averaged over all ranks, here by way of the host. Ranges of roctx say what each step is made of. Prints a
line per rank.
"""

import array
import contextlib
import ctypes
import multiprocessing
import os
import random
import sys

INPUTS, HIDDEN, CLASSES, BATCH = 64, 128, 10, 32
PARAMETERS = (INPUTS + 1) * HIDDEN + (HIDDEN + 1) * CLASSES


def load_roctx():
    try:
        return ctypes.CDLL("libroctx64.so.4")
    except OSError:
        return None


def train(rank, steps, shared, barrier):
    from tinygrad import Context, Device, Tensor, dtypes, nn

    roctx = load_roctx()

    @contextlib.contextmanager
    def marked(name):
        if roctx:
            roctx.roctxRangePushA(name.encode())
        yield
        if roctx:
            roctx.roctxRangePop()

    class Network:
        def __init__(self):
            self.first, self.second = nn.Linear(INPUTS, HIDDEN), nn.Linear(HIDDEN, CLASSES)

        def __call__(self, inputs):
            return self.second(self.first(inputs).relu())

    def average(gradients):
        """Replaces the gradients by their mean over all ranks."""
        own = Tensor.cat(*(gradient.flatten() for gradient in gradients)).contiguous().realize()
        shared[rank * PARAMETERS : (rank + 1) * PARAMETERS] = own.data().tolist()
        barrier.wait()
        ranks = len(shared) // PARAMETERS
        mean = array.array("f", (sum(shared[at::PARAMETERS]) / ranks for at in range(PARAMETERS)))
        barrier.wait()
        every = Tensor(mean.tobytes(), dtype=dtypes.float32).realize()
        start = 0
        for gradient in gradients:
            end = start + gradient.numel()
            gradient.assign(every[start:end].reshape(gradient.shape))
            start = end

    # Every rank starts with the same weights and then sees data of its own.
    Tensor.manual_seed(1)
    chance = random.Random(rank)
    network = Network()
    parameters = nn.state.get_parameters(network)
    optimizer = nn.optim.SGD(parameters, lr=0.01, momentum=0.9)
    Tensor.realize(*parameters)
    with Context(TRAINING=1):
        for _ in range(steps):
            with marked("step"):
                with marked("load"):
                    batch = array.array("f", (chance.random() for _ in range(BATCH * INPUTS)))
                    inputs = Tensor(batch.tobytes(), dtype=dtypes.float32).reshape(BATCH, INPUTS).realize()
                    targets = Tensor([chance.randrange(CLASSES) for _ in range(BATCH)]).realize()
                optimizer.zero_grad()
                # Nothing runs before its result is asked for.
                loss = network(inputs).sparse_categorical_crossentropy(targets).backward()
                with marked("forward"):
                    loss.realize()
                with marked("backward"):
                    Tensor.realize(*(parameter.grad for parameter in parameters))
                with marked("all-reduce"):
                    average([parameter.grad for parameter in parameters])
                with marked("optimizer"):
                    optimizer.step()
                    loss.item()
    # In one piece, whatever the other ranks print at the same time.
    sys.stdout.write(f"rank {rank}: {steps} steps on {Device.DEFAULT}\n")


def main(steps, gpus):
    context = multiprocessing.get_context("spawn")
    shared, barrier = context.Array("f", gpus * PARAMETERS, lock=False), context.Barrier(gpus, timeout=600)
    ranks = []
    for rank in range(gpus):
        os.environ.update(RANK=str(rank), LOCAL_RANK=str(rank), WORLD_SIZE=str(gpus))
        # What the rank finds as its first GPU.
        os.environ.update(HIP_VISIBLE_DEVICES=str(rank))
        ranks.append(context.Process(target=train, args=(rank, steps, shared, barrier)))
        ranks[-1].start()
    for rank in ranks:
        rank.join()
    return max(abs(rank.exitcode) for rank in ranks)


if __name__ == "__main__":
    numbers = [int(argument) for argument in sys.argv[1:]]
    sys.exit(main(*(numbers + [10, 4][len(numbers) :])))
