//! The machine on which the figures were measured.

use std::{env::consts, fs, time::SystemTime};

use foxtrot_cli::shared::date;
use foxtrot_ot::Backend;

use crate::yardsticks::cores;

/// Properties of the machine, as far as the system tells.
#[derive(Clone, Debug)]
pub(crate) struct Machine {
    pub(crate) processor: String,
    /// The processor's nominal clock, which is that of its time-stamp counter.
    pub(crate) mhz: Option<f64>,
    pub(crate) cores: usize,
    pub(crate) system: String,
    pub(crate) backend: &'static str,
    pub(crate) compiler: &'static str,
    /// The commit from which the program was built, marked if its sources had been changed.
    pub(crate) commit: &'static str,
    /// Year, month and day, as 2026-11-21; of UTC.
    pub(crate) date: String,
    /// The command line, without the files that it writes.
    pub(crate) command: String,
}

impl Machine {
    pub(crate) fn of_this_run(command: String) -> Self {
        let info = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
        let entry = |key: &str| {
            let line = info.lines().find(|line| line.starts_with(key))?;
            Some(line.split_once(':')?.1.trim().to_owned())
        };
        Self {
            processor: entry("model name").unwrap_or_else(|| consts::ARCH.into()),
            mhz: entry("cpu MHz").and_then(|mhz| mhz.parse().ok()),
            cores: cores(),
            system: format!("{}, {}", consts::OS, consts::ARCH),
            backend: Backend::best().name(),
            compiler: env!("FOXTROT_COMPILER"),
            commit: env!("FOXTROT_COMMIT"),
            date: date(SystemTime::now()),
            command,
        }
    }

    #[cfg(test)]
    pub(crate) fn of_a_test() -> Self {
        let (commit, compiler) = ("0123456", "rustc 1.0.0");
        Self { commit, compiler, ..Self::of_this_run("foxtrot-bench paper".into()) }
    }

    /// Names and values.
    pub(crate) fn rows(&self) -> Vec<(&'static str, String)> {
        let clock = self.mhz.map_or("not known".into(), |mhz| format!("{mhz:.0} MHz nominal"));
        vec![
            ("processor", self.processor.clone()),
            ("clock", clock),
            ("cores", self.cores.to_string()),
            ("system", self.system.clone()),
            ("backend", self.backend.into()),
            ("compiler", self.compiler.into()),
            ("commit of the program", self.commit.into()),
            ("date", self.date.clone()),
            ("command", self.command.clone()),
        ]
    }
}
