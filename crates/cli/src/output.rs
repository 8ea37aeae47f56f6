//! What is said on standard error while a run goes on.

use std::io::IsTerminal;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::args::Common;

/// How much is said.
#[derive(Clone, Copy)]
pub(crate) struct Output {
    quiet: bool,
    verbose: bool,
}

impl Output {
    pub(crate) fn new(common: &Common) -> Self {
        Self { quiet: common.quiet, verbose: common.verbose }
    }

    /// For whoever runs the command.
    pub(crate) fn note(self, message: &str) {
        if !self.quiet {
            eprintln!("foxtrot: {message}");
        }
    }

    /// For whoever wants to know more.
    pub(crate) fn detail(self, message: &str) {
        if self.verbose {
            eprintln!("foxtrot: {message}");
        }
    }

    /// What scripts wait for, so it is printed in any case.
    pub(crate) fn listening_on(self, address: impl std::fmt::Display) {
        eprintln!("foxtrot: listening on {address}");
    }

    /// A bar over n transfers, where it takes seconds and somebody watches.
    pub(crate) fn progress(self, n: usize) -> ProgressBar {
        /// Transfers that are done before anybody would look.
        const SOON_DONE: usize = 10_000;
        if self.quiet || n < SOON_DONE || !std::io::stderr().is_terminal() {
            return ProgressBar::hidden();
        }
        let bar = ProgressBar::with_draw_target(Some(n as u64), ProgressDrawTarget::stderr());
        let style = "{wide_bar} {human_pos}/{human_len} transfers, {per_sec}, {eta} left";
        bar.with_style(
            ProgressStyle::with_template(style).unwrap_or_else(|_| ProgressStyle::default_bar()),
        )
    }
}
