#![doc = "cli"]
