//! A firmware's ELF file, of 32 bits, little-endian.

use std::{fs, path::Path};

use crate::tools::{self, Result};

pub(super) struct Image {
    file: Vec<u8>,
    /// Address, size and name of functions and variables, by address.
    symbols: Vec<(u32, u32, String)>,
}

/// Owners of flash: a name, and parts of the mangled names of their symbols. The first that fits has a symbol.
const OWNERS: [(&str, &[&str]); 9] = [
    ("session: hello, records, frames", &["foxtrot_device"]),
    ("BLAKE3", &["6blake3"]),
    ("AES", &["foxtrot_kernel3aes", "3aes8backends", "foxtrot_ot5coins"]),
    ("ring", &["foxtrot_kernel"]),
    ("protocols", &["foxtrot_ot"]),
    ("ChaCha20-Poly1305", &["chacha20", "poly1305", "6cipher", "universal_hash"]),
    ("the example's board and jobs", &["5party", "start", "reset", "fault"]),
    ("alloc", &["5alloc"]),
    ("core, memory and division", &[""]),
];

impl Image {
    pub(super) fn read(path: &Path) -> Result<Self> {
        let file =
            fs::read(path).or_else(|e| tools::failed(format_args!("{}: {e}", path.display())))?;
        let mut image = Self { file, symbols: Vec::new() };
        image.symbols = image.all_symbols();
        image.symbols.sort();
        Ok(image)
    }

    fn all_symbols(&self) -> Vec<(u32, u32, String)> {
        let (table, entry, count) = (self.number(32, 4), self.number(46, 2), self.number(48, 2));
        // A section of type 2 has symbols, and links to the section of their names.
        let sections = (0..count).map(|k| table + k * entry);
        let Some(at) = sections.into_iter().find(|&at| self.number(at + 4, 4) == 2) else {
            return Vec::new();
        };
        let names = self.number(table + self.number(at + 24, 4) * entry + 16, 4);
        let (start, len) = (self.number(at + 16, 4), self.number(at + 20, 4));
        let symbols = (start..start + len).step_by(16).filter_map(|at| {
            let name = self.file.get((names + self.number(at, 4)) as usize..)?;
            let name = String::from_utf8_lossy(name.split(|&it| it == 0).next()?).into_owned();
            // Variables and functions; the lowest bit of a function's address says that it has Thumb's instructions.
            let is_thing = matches!(self.number(at + 12, 1) & 15, 1 | 2);
            is_thing.then(|| (self.number(at + 4, 4) & !1, self.number(at + 8, 4), name))
        });
        symbols.collect()
    }

    fn number(&self, at: u32, len: usize) -> u32 {
        let bytes = self.file.get(at as usize..).and_then(|it| it.get(..len)).unwrap_or_default();
        bytes.iter().rev().fold(0, |number, &byte| number << 8 | u32::from(byte))
    }

    /// Offset, address and size of the segments that are loaded.
    fn segments(&self) -> impl Iterator<Item = [u32; 3]> {
        let (table, entry, count) = (self.number(28, 4), self.number(42, 2), self.number(44, 2));
        let loaded = (0..count).map(move |k| table + k * entry);
        let loaded = loaded.filter(|&at| self.number(at, 4) == 1);
        loaded.map(|at| [4, 8, 16].map(|field| self.number(at + field, 4)))
    }

    /// Bytes that a board keeps in flash.
    pub(super) fn flash(&self) -> u32 {
        self.segments().map(|[_, _, size]| size).sum()
    }

    /// The bytes in flash by owner, and what belongs to none: alignment, vectors, merged constants.
    pub(super) fn flash_by_owner(&self) -> Vec<(&'static str, u32)> {
        let is_stored =
            |at: u32| self.segments().any(|[_, start, size]| (start..start + size).contains(&at));
        let mut owners = OWNERS.map(|(name, _)| (name, 0)).to_vec();
        let mut end = 0;
        for (at, size, name) in self.symbols.iter().filter(|&&(at, ..)| is_stored(at)) {
            // Functions with the same code may be merged.
            let new = (at + size).saturating_sub(end.max(*at));
            end = end.max(at + size);
            let owner = OWNERS.iter().position(|(_, all)| all.iter().any(|it| name.contains(it)));
            owners[owner.unwrap_or(OWNERS.len() - 1)].1 += new;
        }
        let rest = self.flash() - owners.iter().map(|(_, size)| size).sum::<u32>();
        owners.push(("constants without a name, alignment", rest));
        owners
    }

    /// The address of a function.
    pub(super) fn find(&self, name: &str) -> Result<u32> {
        match self.symbols.iter().find(|symbol| symbol.2 == name) {
            Some(symbol) => Ok(symbol.0),
            None => tools::failed(format_args!("the image has no {name}")),
        }
    }

    /// The function that an address is in.
    pub(super) fn name(&self, at: u32) -> String {
        let before = self.symbols.partition_point(|symbol| symbol.0 <= at);
        match before.checked_sub(1).map(|k| &self.symbols[k]) {
            Some((start, _, name)) => format!("{} + {}", demangled(name), at - start),
            None => format!("{at:#x}"),
        }
    }

    /// The instruction at an address, as a number of 32 bits.
    pub(super) fn instruction(&self, at: u32) -> u32 {
        let segment = self.segments().find(|[_, start, size]| (*start..start + size).contains(&at));
        segment.map_or(0, |[offset, start, _]| self.number(offset + at - start, 4))
    }
}

/// The path in a mangled name, without its hash.
fn demangled(name: &str) -> String {
    let Some(mut rest) = name.strip_prefix("_ZN") else { return name.to_owned() };
    let mut parts = Vec::new();
    while let Some(digits) = rest.find(|it: char| !it.is_ascii_digit()).filter(|&it| it > 0) {
        let end = digits + rest[..digits].parse().unwrap_or(0);
        parts.push(rest.get(digits..end).unwrap_or_default());
        rest = rest.get(end..).unwrap_or_default();
    }
    // The last one is the hash.
    parts.pop();
    let mut path = parts.join("::");
    for (from, to) in
        [("$LT$", "<"), ("$GT$", ">"), ("$u20$", " "), ("$u7b$", "{"), ("$u7d$", "}"), ("..", "::")]
    {
        path = path.replace(from, to);
    }
    path
}
