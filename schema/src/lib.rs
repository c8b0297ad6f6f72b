#![doc = "schema"]
