//! Comparison of runs of the device with different secrets: every instruction and every address.

use std::{
    collections::BTreeSet,
    fs,
    path::{Path, PathBuf},
};

use super::{Line, Machine, folder, image::Image};
use crate::tools::{self, Result};

/// Runs of the image `secrets` without a fault: digits, whose bits are choices.
const RUNS: [char; 4] = ['1', '2', '4', '7'];
/// Faults that it can plant, which have to be found in the section of that name, and there only.
const FAULTS: [&str; 3] = ["branch", "index", "division"];
const PLANTED: &str = "planted";
/// The plain transform divides a number of values by that of a block.
const BLOCKS: &str = "foxtrot_kernel::ring::ntt::";
/// Parts of the names of other functions that compute with secrets: they never divide. The rest divides lengths.
const COMPUTE: [&str; 5] = ["foxtrot_kernel", "blake3", "aes::", "chacha20", "poly1305"];

/// A trace between two edges.
struct Section {
    name: String,
    /// Entries as the plugin gives them.
    events: Vec<u64>,
}

/// The address, if the event is an instruction: those of memory are above 2³².
fn instruction(event: u64) -> Option<u32> {
    event.try_into().ok()
}

/// Compiles the plugin of the emulator, which writes traces.
fn plugin() -> Result<PathBuf> {
    let to = Line::new()?.path("trace.so");
    let mut rustc = tools::command("rustc", "--edition 2024 -O --crate-type cdylib");
    tools::run(rustc.arg(folder().join("trace.rs")).arg("-o").arg(&to))?;
    Ok(to)
}

impl Machine {
    /// Compares runs with other secrets, and lets the comparison find what is planted.
    pub(super) fn secrets(&self) -> Result {
        let (plugin, image) = (plugin()?, Image::read(&self.image("secrets"))?);
        let run =
            |digit: char, fault: &str| self.trace(&plugin, &image, &format!("{digit} {fault}"));
        let first = run(RUNS[0], "none")?;
        for &digit in &RUNS[1..] {
            if let Some((section, why)) = difference(&image, &first, &run(digit, "none")?) {
                return tools::failed(format_args!("{}: {section}: {why}", self.name));
            }
        }
        let divisions = self.divisions(&image, &first);
        let (counted, divisions): (Vec<_>, Vec<_>) = divisions
            .into_iter()
            .partition(|at| at.contains(BLOCKS) || !COMPUTE.iter().any(|it| at.contains(it)));
        if !divisions.is_empty() {
            return tools::failed(format_args!("{}: divisions: {divisions:#?}", self.name));
        }
        for fault in FAULTS {
            let (one, other) = (run('0', fault)?, run('1', fault)?);
            let found = match difference(&image, &one, &other) {
                Some((section, why)) if section == PLANTED => why,
                Some((section, why)) => return tools::failed(format_args!("{section}: {why}")),
                None => {
                    let planted = other.iter().rposition(|section| section.name == PLANTED);
                    self.divisions(&image, &other[planted.unwrap_or_default()..]).join(", ")
                }
            };
            if found.is_empty() {
                return tools::failed(format_args!(
                    "{}: a planted {fault} is not found",
                    self.name
                ));
            }
            println!("{}: found the planted {fault}: {found}", self.name);
        }
        let (sections, events) =
            (first.len(), first.iter().map(|it| it.events.len()).sum::<usize>());
        println!(
            "{}: {sections} pieces do the same for {} secrets: {events} instructions and accesses to memory, \
             {} places that divide lengths",
            self.name,
            RUNS.len(),
            counted.len()
        );
        Ok(())
    }

    /// Runs the image and takes what it executes in its sections.
    fn trace(&self, plugin: &Path, image: &Image, arguments: &str) -> Result<Vec<Section>> {
        let path = tools::target().join("device/trace");
        let mut emulator = self.emulator("secrets", arguments);
        let load = format!("{},to={}", plugin.display(), path.display());
        let said = tools::output(emulator.args(["-serial", "none", "-plugin", &load]))?;
        let console = String::from_utf8_lossy(&said.stderr).into_owned();
        if !said.status.success() {
            return tools::failed(format_args!("{emulator:?}: {console}"));
        }
        let trace = fs::read(&path).or_else(|e| tools::failed(format_args!("the trace: {e}")))?;
        let _ = fs::remove_file(&path);
        let edge = u64::from(image.find("edge")?);
        let events = trace.as_chunks().0.iter().map(|&event| u64::from_le_bytes(event));
        let (mut sections, mut names) = (Vec::<Section>::new(), console.lines());
        let mut is_inside = false;
        for event in events {
            if event == edge {
                is_inside = !is_inside;
                if is_inside {
                    let name = names.next().unwrap_or_default().to_owned();
                    sections.push(Section { name, events: Vec::new() });
                }
            } else if let Some(section) = sections.last_mut().filter(|_| is_inside) {
                section.events.push(event);
            }
        }
        Ok(sections)
    }

    /// The functions that divide by an instruction whose time depends on its operands.
    fn divisions(&self, image: &Image, sections: &[Section]) -> Vec<String> {
        let all = sections.iter().flat_map(|section| &section.events);
        let executed: BTreeSet<u32> = all.filter_map(|&event| instruction(event)).collect();
        let divides = |at: &u32| {
            let code = image.instruction(*at);
            match self.target.starts_with("thumb") {
                // SDIV and UDIV.
                true => code & 0xf0f0_ffd0 == 0xf0f0_fb90,
                // DIV, DIVU, REM and REMU.
                false => code & 0xfe00_407f == 0x0200_4033,
            }
        };
        executed.into_iter().filter(divides).map(|at| image.name(at)).collect()
    }
}

/// The first difference of two runs: the section, and the instruction.
fn difference(image: &Image, one: &[Section], other: &[Section]) -> Option<(String, String)> {
    let pair = one.iter().zip(other).find(|(one, other)| one.events != other.events);
    let Some((one, other)) = pair else {
        let differ = one.len() != other.len() || one.is_empty();
        return differ.then(|| (String::new(), "the runs have other sections".to_owned()));
    };
    let same = one.events.iter().zip(&other.events).take_while(|(one, other)| one == other).count();
    let last = one.events[..same].iter().rev().find_map(|&event| instruction(event));
    let at = last.map_or_else(String::new, |at| image.name(at));
    let is_access = one.events.get(same).is_some_and(|&event| instruction(event).is_none());
    let what = if is_access { "another address" } else { "another way" };
    Some((one.name.clone(), format!("{what} at {at}")))
}
