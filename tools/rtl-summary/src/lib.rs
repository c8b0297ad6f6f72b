#![doc = "rtl-summary"]
