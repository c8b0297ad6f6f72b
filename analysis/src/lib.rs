#![doc = "analysis"]
