//! Every rule of the domain, by a small event that shows it.

mod definition;
mod durations;
mod faults;
mod generated;
mod grants;
mod groups;
mod hostile;
mod luck;
mod outcomes;
mod rolls;
mod rows;
mod schedule;
mod standing;
mod strategies;
mod summary;
mod support;
mod waking;
