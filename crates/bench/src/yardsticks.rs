//! Yardsticks of this machine, measured in the same run: figures are to be compared as ratios.

use std::{
    fs,
    hint::black_box,
    io::{self, Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use aes::{
    Aes128,
    cipher::{BlockCipherEncrypt, KeyInit},
};
use curve25519_dalek::{constants::ED25519_BASEPOINT_POINT, scalar::Scalar};
use foxtrot_cli::shared::{Failure, thread_cpu};
use serde_json::{Map, Value};

/// The yardstick for figures: the newest record of the machine that `docs/performance.md` is about.
macro_rules! record {
    () => {
        "2026-11-22-epyc-wire-5"
    };
}
const RECORD: &str = record!();
const OF_RECORD: &str =
    include_str!(concat!("../../../bench/record/", record!(), "/yardsticks.csv"));

/// The yardsticks of the processor alone. Copying and TCP differ by more than [`OFF`] between records of one machine.
const COMPARED: [&str; 3] = ["x25519_us", "aes_block_ns", "blake3_32_ns"];

/// A bound on the ratio between two records of one machine.
const OFF: f64 = 1.2;

/// CPU times of well-known operations.
pub(super) struct Yardsticks {
    /// One `EdwardsPoint * Scalar` of curve25519-dalek, variable base, not compressed.
    pub(super) x25519_us: f64,
    /// One block of AES-128 under a fixed key, xored to its input.
    pub(super) aes_block_ns: f64,
    memcpy_gbps: f64,
    /// One BLAKE3 hash of 32 bytes.
    blake3_32_ns: f64,
    /// Sending over loopback TCP.
    tcp_send_ns_per_byte: f64,
    /// The system's load, before the yardsticks were measured.
    load: Option<f64>,
}

impl Yardsticks {
    pub(super) fn measure() -> Result<Self, Failure> {
        let load = load();
        let tcp = tcp_send_ns_per_byte()
            .map_err(|e| Failure::run(format!("cannot measure loopback TCP: {e}")))?;
        Ok(Self {
            x25519_us: x25519_ns() / 1e3,
            aes_block_ns: aes_block_ns(),
            memcpy_gbps: memcpy_gbps(),
            blake3_32_ns: blake3_32_ns(),
            tcp_send_ns_per_byte: tcp,
            load,
        })
    }

    pub(super) fn figures(&self) -> [(&'static str, f64); 5] {
        [
            ("x25519_us", self.x25519_us),
            ("aes_block_ns", self.aes_block_ns),
            ("memcpy_gbps", self.memcpy_gbps),
            ("blake3_32_ns", self.blake3_32_ns),
            ("tcp_send_ns_per_byte", self.tcp_send_ns_per_byte),
        ]
    }

    /// Returns a warning if the machine is busy, or not like the record's.
    pub(super) fn warning(&self) -> Option<String> {
        warning(self.load, cores(), &self.figures(), OF_RECORD)
    }

    pub(super) fn json(&self) -> Map<String, Value> {
        let figures = self.figures().into_iter();
        let figures = figures.map(|(name, figure)| (name.to_owned(), figure.into()));
        figures.chain([("warning".into(), self.warning().into())]).collect()
    }

    pub(super) fn print(&self, out: &mut impl Write) -> io::Result<()> {
        let figures = self.figures().map(|(name, figure)| format!("{name} {figure:.2}"));
        writeln!(out, "yardsticks: {}", figures.join(", "))?;
        self.warning().iter().try_for_each(|warning| writeln!(out, "{warning}"))
    }
}

/// Returns the reasons why times of this machine are not to be compared with others: its load when it began, and
/// figures that are not those of the record, of lines with a name and a number each.
fn warning(
    load: Option<f64>,
    cores: usize,
    figures: &[(&str, f64)],
    record: &str,
) -> Option<String> {
    let busy = load.filter(|load| *load > OFF * cores as f64);
    let busy = busy.map(|load| format!("a load of {load:.1} on {cores} cores"));
    let of_record = |name: &str| {
        let line = record.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(','))?;
        line.parse::<f64>().ok()
    };
    let compared = figures.iter().filter(|(name, _)| COMPARED.contains(name));
    let times = compared.filter_map(|(name, figure)| Some((name, figure / of_record(name)?)));
    let off = times.filter(|(_, times)| times.max(1.0 / times) > OFF);
    let off: Vec<_> = off.map(|(name, times)| format!("{name} × {times:.2}")).collect();
    let off = (!off.is_empty())
        .then(|| format!("yardsticks not those of the record {RECORD}: {}", off.join(", ")));
    let reasons: Vec<_> = [busy, off].into_iter().flatten().collect();
    (!reasons.is_empty()).then(|| {
        format!(
            "warning: {}. This machine is busy, or another: compare ratios to yardsticks, not times",
            reasons.join("; ")
        )
    })
}

/// Returns the number of threads that have wanted a core in the last minute, if the system tells.
pub(super) fn load() -> Option<f64> {
    fs::read_to_string("/proc/loadavg").ok()?.split(' ').next()?.parse().ok()
}

/// Nanoseconds of CPU per operation: the median of several runs of many operations.
fn nanoseconds(operations: u32, mut run: impl FnMut()) -> f64 {
    run();
    let mut times: Vec<Duration> = (0..15)
        .map(|_| {
            let start = thread_cpu();
            run();
            thread_cpu() - start
        })
        .collect();
    times.sort_unstable();
    times[times.len() / 2].as_secs_f64() * 1e9 / f64::from(operations)
}

fn x25519_ns() -> f64 {
    let scalar = Scalar::from_bytes_mod_order([0x5a; 32]);
    let mut point = ED25519_BASEPOINT_POINT;
    nanoseconds(50, || {
        for _ in 0..50 {
            point = black_box(point) * black_box(scalar);
        }
    })
}

fn aes_block_ns() -> f64 {
    let cipher = Aes128::new(&[7; 16].into());
    let input = vec![aes::Block::from([9; 16]); 4096];
    let mut output = input.clone();
    nanoseconds(4096 * 8, || {
        for _ in 0..8 {
            output.copy_from_slice(black_box(&input));
            cipher.encrypt_blocks(&mut output);
            for (y, x) in output.iter_mut().zip(&input) {
                y.iter_mut().zip(x).for_each(|(y, x)| *y ^= x);
            }
            black_box(&mut output);
        }
    })
}

fn memcpy_gbps() -> f64 {
    const BYTES: u32 = 32 << 20;
    let source = vec![1u8; BYTES as usize];
    let mut target = vec![0u8; BYTES as usize];
    1.0 / nanoseconds(BYTES, || black_box(&mut target).copy_from_slice(black_box(&source)))
}

fn blake3_32_ns() -> f64 {
    let mut value = [3; 32];
    nanoseconds(2000, || {
        for _ in 0..2000 {
            value = *blake3::hash(black_box(&value)).as_bytes();
        }
    })
}

fn tcp_send_ns_per_byte() -> io::Result<f64> {
    const CHUNK: usize = 64 << 10;
    const CHUNKS: u32 = 256;
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let mut writer = TcpStream::connect(listener.local_addr()?)?;
    let (mut reader, _) = listener.accept()?;
    let sink = thread::spawn(move || {
        let mut buffer = vec![0; CHUNK];
        while reader.read(&mut buffer).is_ok_and(|read| read > 0) {}
    });
    let data = vec![1; CHUNK];
    let mut result = Ok(());
    let time = nanoseconds(CHUNKS * u32::try_from(CHUNK).unwrap_or(u32::MAX), || {
        for _ in 0..CHUNKS {
            if let Err(e) = writer.write_all(&data) {
                result = Err(e);
            }
        }
    });
    drop(writer);
    let _ = sink.join();
    result.map(|()| time)
}

/// Cores that this process may use.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn yardsticks_that_are_a_fifth_off_the_record_and_a_busy_machine_are_warned_of() {
        let record =
            "yardstick,value\nx25519_us,20\naes_block_ns,5\nmemcpy_gbps,9\nblake3_32_ns,80\n";
        let with = |load, x25519, aes| {
            let rest =
                [("memcpy_gbps", 1.0), ("blake3_32_ns", 81.0), ("tcp_send_ns_per_byte", 9.0)];
            let figures = [&[("x25519_us", x25519), ("aes_block_ns", aes)], &rest[..]].concat();
            warning(load, 2, &figures, record)
        };
        assert_eq!(with(None, 23.9, 4.2), None);
        assert_eq!(with(Some(2.3), 20.0, 5.0), None);
        let slow = with(None, 24.1, 5.0).unwrap();
        assert!(slow.contains(": x25519_us × 1.21. This machine is busy"), "{slow}");
        let both = with(Some(19.0), 40.0, 2.5).unwrap();
        assert!(both.starts_with("warning: a load of 19.0 on 2 cores; yardsticks"), "{both}");
        assert!(both.contains(": x25519_us × 2.00, aes_block_ns × 0.50. This"), "{both}");
        let busy = with(Some(19.0), 20.0, 5.0).unwrap();
        assert!(busy.starts_with("warning: a load of 19.0 on 2 cores. This machine"), "{busy}");
    }

    #[test]
    fn the_record_has_every_yardstick() {
        let none = COMPARED.map(|name| (name, f64::INFINITY));
        let warning = warning(None, 1, &none, OF_RECORD).unwrap();
        assert!(COMPARED.iter().all(|name| warning.contains(name)), "{warning}");
    }
}
