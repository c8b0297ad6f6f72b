//! The rules of ARCHITECTURE.md that a look at the files can check. Every rule is a function from files to faults, and
//! every rule is tested on a made-up file that breaks it.

#[cfg(test)]
mod advisories;
#[cfg(test)]
mod book;
#[cfg(test)]
mod checkout;
#[cfg(test)]
mod comments;
#[cfg(test)]
mod cycles;
#[cfg(test)]
mod dependencies;
#[cfg(test)]
mod layers;
#[cfg(test)]
mod matrix;
#[cfg(test)]
mod module_graph;
#[cfg(test)]
mod named_files;
#[cfg(test)]
mod rules;
#[cfg(test)]
mod words;
