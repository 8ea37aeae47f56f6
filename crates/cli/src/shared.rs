//! Items that the program `foxtrot-bench` shares with the command; no promise to others.

pub use crate::{
    args::{VERSION, threads},
    clock::{date, thread_cpu},
    failure::Failure,
    interrupt::{catch as catch_interrupts, on_interrupt},
    memory::keep_what_is_freed,
    method::{Extension, Method, params, security},
    output::say,
    report::Report,
    start::start,
    workers::Workers,
};
