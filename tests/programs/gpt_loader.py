"""Trains a small GPT-like model on one GPU and records five steps with torch.profiler.

The loader prepares each batch in the main process, so the GPU waits for it; the loss is printed in every step.
Usage: python3 gpt_loader.py trace.json.gz"""

import sys

import numpy
import torch
from torch import nn
from torch.profiler import ProfilerActivity, profile, record_function, schedule

BATCH, TOKENS, WIDTH, BLOCKS, WORDS = 8, 512, 1024, 4, 8192


class Block(nn.Module):
    def __init__(self):
        super().__init__()
        self.attention = nn.MultiheadAttention(WIDTH, 16, batch_first=True)
        self.layers = nn.Sequential(nn.Linear(WIDTH, 4 * WIDTH), nn.GELU(), nn.Linear(4 * WIDTH, WIDTH))
        self.before, self.between = nn.LayerNorm(WIDTH), nn.LayerNorm(WIDTH)

    def forward(self, x):
        y = self.before(x)
        x = x + self.attention(y, y, y, need_weights=False)[0]
        return x + self.layers(self.between(x))


class Text(torch.utils.data.Dataset):
    def __init__(self):
        self.words = numpy.random.default_rng(1).integers(0, WORDS, 1 << 22)

    def __len__(self):
        return 1 << 12

    def __getitem__(self, number):
        # Sorts out what is frequent, as a tokenizer would.
        start = number * TOKENS
        counts = numpy.bincount(self.words[start : start + (1 << 17)], minlength=WORDS)
        order = numpy.argsort(-counts, kind="stable")
        return torch.from_numpy(order[self.words[start : start + TOKENS]].copy())


torch.manual_seed(1)
model = nn.Sequential(nn.Embedding(WORDS, WIDTH), *(Block() for _ in range(BLOCKS)), nn.Linear(WIDTH, WORDS))
model = model.cuda().to(torch.bfloat16)
optimizer = torch.optim.SGD(model.parameters(), lr=1e-3, momentum=0.9)
batches = iter(torch.utils.data.DataLoader(Text(), batch_size=BATCH, num_workers=0))
activities = [ProfilerActivity.CPU, ProfilerActivity.CUDA]
with profile(activities=activities, schedule=schedule(wait=6, warmup=2, active=5)) as profiler:
    for step in range(13):
        with record_function("load batch"):
            batch = next(batches)
        words = batch.cuda()
        logits = model(words)
        loss = nn.functional.cross_entropy(logits[:, :-1].flatten(0, 1).float(), words[:, 1:].flatten())
        optimizer.zero_grad(set_to_none=True)
        loss.backward()
        optimizer.step()
        print(f"step {step}: loss {loss.item():.3f}")
        profiler.step()
profiler.export_chrome_trace(sys.argv[1])
