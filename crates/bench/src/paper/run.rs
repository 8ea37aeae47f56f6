//! Measuring what the tables name, each benchmark once.

use std::{collections::BTreeMap, env, process::Command, rc::Rc, time::Duration};

use foxtrot_cli::shared::{Failure, Workers, say};
use foxtrot_ot::Backend;
use serde_json::Value;

use super::{
    machine::Machine,
    measurement::{Job, Measurement, from_json},
    processes,
};
use crate::{
    Benchmark, Setting, base_named, effort::Effort, ext, over::Over, yardsticks::Yardsticks,
};

/// The result of a job.
#[derive(Clone)]
pub(super) enum Outcome {
    Measured(Rc<Measurement>),
    /// The reason why there is no measurement.
    Absent(String),
}

impl Outcome {
    pub(super) fn measured(self) -> Option<Rc<Measurement>> {
        match self {
            Self::Measured(measurement) => Some(measurement),
            Self::Absent(_) => None,
        }
    }

    pub(super) fn measurement(&self) -> Option<&Measurement> {
        match self {
            Self::Measured(measurement) => Some(measurement),
            Self::Absent(_) => None,
        }
    }
}

/// Remembers what it has measured.
pub(super) struct Runner {
    quick: bool,
    machine: Machine,
    pub(super) yardsticks: Yardsticks,
    done: BTreeMap<Job, Outcome>,
    quiet: bool,
    /// Jobs that failed.
    pub(super) failed: usize,
    /// The place of the job, for the line of progress.
    pub(super) place: String,
}

impl Runner {
    pub(super) fn new(quick: bool, quiet: bool, machine: Machine) -> Result<Self, Failure> {
        let yardsticks = Yardsticks::measure()?;
        let (done, place) = (BTreeMap::new(), String::new());
        Ok(Self { quick, machine, yardsticks, done, quiet, failed: 0, place })
    }

    pub(super) fn processor(&self) -> &str {
        &self.machine.processor
    }

    /// Returns the measurements that stand in a file of samples.
    pub(super) fn measured(&self) -> impl Iterator<Item = (&Job, &Measurement)> {
        self.done.iter().filter_map(|(job, outcome)| Some((job, outcome.measurement()?)))
    }

    /// Returns the time for a point of a curve that is in no table.
    pub(super) fn budget(&self) -> Duration {
        Duration::from_millis(if self.quick { 500 } else { 6000 })
    }

    /// Threads of each party where the paper has so many, with both parties on this machine. `None` if it has too few
    /// cores for more than the paper's least.
    pub(super) fn threads(&self, paper: usize, least: bool) -> Option<usize> {
        let ours = (self.machine.cores / 2).max(1);
        (least || ours >= paper).then(|| ours.min(paper))
    }

    /// Returns the number to make where the table has n.
    pub(super) fn scaled(&self, bench: &str, n: usize, over: Over) -> usize {
        match (self.quick, bench.starts_with("triples/")) {
            (true, true) if is_slow(over) => n.min(1 << 15),
            (true, true) => n.min(1 << 17),
            (true, false) => n.min(1 << 20),
            (false, _) => n,
        }
    }

    /// Returns the numbers to make for points of a line, where the table has `xs`; for a look, two
    /// points.
    pub(super) fn points(&self, bench: &str, xs: &[usize], over: Over) -> Vec<usize> {
        let scaled = |n: &usize| match self.quick && is_slow(over) {
            true => (*n).min(1 << 16),
            false => self.scaled(bench, *n, over),
        };
        let mut sizes: Vec<_> = xs.iter().map(scaled).collect();
        sizes.sort_unstable();
        sizes.dedup();
        if self.quick && sizes.len() > 2 {
            sizes.drain(1..sizes.len() - 1);
        }
        sizes
    }

    /// Returns the earlier outcome of a job, if there is one.
    pub(super) fn known(&self, job: &Job) -> Option<&Outcome> {
        self.done.get(job)
    }

    /// Measures it, if that is not done. What fails is absent, said, and counted in `failed`.
    pub(super) fn outcome(&mut self, job: &Job) -> Outcome {
        if let Some(outcome) = self.done.get(job) {
            return outcome.clone();
        }
        let outcome = match self.measure(job) {
            Ok(Ok(measurement)) => Outcome::Measured(Rc::new(measurement)),
            Ok(Err(why)) => Outcome::Absent(why),
            Err(failure) => {
                self.failed += 1;
                say(&format!("{} {} failed: {}", self.place, job.bench, failure.message()));
                Outcome::Absent(failure.message().into())
            }
        };
        self.done.insert(job.clone(), outcome.clone());
        outcome
    }

    fn effort(&self, job: &Job) -> Effort {
        let slow = is_slow(job.over);
        match self.quick {
            true if slow && job.bench.starts_with("triples/") => Effort::Exactly(1),
            false if slow && job.bench.starts_with("triples/") => Effort::Exactly(3),
            true => Effort::Quick,
            false => Effort::Usual,
        }
    }

    /// The measurement, or why there is none.
    fn measure(&self, job: &Job) -> Result<Result<Measurement, String>, Failure> {
        if job.bench == processes::NAME {
            self.progress(job);
            return processes::measure(job.n, self.effort(job));
        }
        let Some(benchmark) = Benchmark::all().find(|it| it.name() == job.bench) else {
            return Ok(Err("not in this build".into()));
        };
        // What runs in one thread does so whatever the others have.
        let one = benchmark.check(job.threads, job.over).is_err();
        let threads = if one { 1 } else { job.threads };
        benchmark.check(threads, job.over)?;
        let measurement = match &job.backend {
            Some(name) if name != Backend::best().name() => {
                if !Backend::all().any(|backend| backend.name() == name) {
                    return Ok(Err(format!("this processor has no {name}")));
                }
                self.progress(job);
                self.in_another_process(job, threads, name)?
            }
            _ => {
                self.progress(job);
                self.here(&benchmark, job, threads)?
            }
        };
        Ok(Ok(Measurement { mhz: self.machine.mhz, least: benchmark.least(), ..measurement }))
    }

    fn here(
        &self,
        benchmark: &Benchmark,
        job: &Job,
        threads: usize,
    ) -> Result<Measurement, Failure> {
        let base = job.base.as_deref().map_or(Ok(ext::BASE), base_named)?;
        let workers = Workers::new(threads)?;
        let (n, over, effort) = (job.n, job.over, self.effort(job));
        let measured = benchmark.run(&Setting { n, over, workers: &workers, base, effort })?;
        Ok(Measurement::new(n, measured.samples))
    }

    /// A process has one backend.
    fn in_another_process(
        &self,
        job: &Job,
        threads: usize,
        backend: &str,
    ) -> Result<Measurement, Failure> {
        let failed = |why: &dyn std::fmt::Display| {
            Failure::run(format!("cannot measure {} with {backend}: {why}", job.bench))
        };
        let program = env::current_exe().map_err(|e| failed(&e))?;
        let mut command = Command::new(program);
        command.env("FOXTROT_BACKEND", backend);
        command.args(["run", &job.bench, "--json", "--samples", "--n"]);
        command.args([&job.n.to_string(), "--threads", &threads.to_string()]);
        match job.over {
            Over::Memory => {}
            Over::Tcp => drop(command.args(["--transport", "tcp"])),
            Over::Net(net) => drop(command.args(["--net", net.name()])),
        }
        if let Some(base) = &job.base {
            command.args(["--base", base]);
        }
        if self.effort(job) != Effort::Usual {
            command.arg("--quick");
        }
        let output = command.output().map_err(|e| failed(&e))?;
        let said = String::from_utf8_lossy(&output.stderr);
        if !output.status.success() {
            return Err(failed(&said.trim()));
        }
        let report: Value = serde_json::from_slice(&output.stdout).map_err(|e| failed(&e))?;
        let samples = from_json(&report["samples"]).filter(|samples| !samples.is_empty());
        Ok(Measurement::new(job.n, samples.ok_or_else(|| failed(&"no samples"))?))
    }

    fn progress(&self, job: &Job) {
        if self.quiet {
            return;
        }
        let Job { bench, n, over, backend, .. } = job;
        let backend = backend.as_deref().map(|name| format!(" on {name}")).unwrap_or_default();
        say(&format!("{} {bench} n = {n}, {}{backend}", self.place, over.name()));
    }
}

/// Returns true if runs take seconds, most of which is waiting.
fn is_slow(over: Over) -> bool {
    matches!(over, Over::Net(net) if net.link().bits_per_second() < 1_000_000_000)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_job_that_fails_is_absent_with_its_reason_and_the_run_goes_on() {
        let machine = Machine::of_a_test();
        let mut runner = Runner::new(true, true, machine).unwrap();
        let job = Job {
            bench: "psi/symmetric".into(),
            n: 8,
            over: Over::Memory,
            threads: 1,
            backend: None,
            base: Some("no-such-base".into()),
        };
        for _ in 0..2 {
            let Outcome::Absent(why) = runner.outcome(&job) else { panic!("it was measured") };
            assert!(why.contains("no-such-base"), "{why}");
            assert_eq!(runner.failed, 1);
        }
        let outcome = runner.outcome(&Job { bench: "no/such".into(), ..job });
        assert!(matches!(outcome, Outcome::Absent(why) if why == "not in this build"));
        assert_eq!(runner.failed, 1);
    }
}
