#![doc = "support"]
