//! The paths that options and arguments name, and what a command does with them.

/// The use of a path.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Use {
    /// A file that is read; a set `-` is standard input.
    Read,
    /// Our identity key, with the list of peers beside it.
    Identity,
    /// A device.
    Device,
    /// A directory with tickets of base OTs.
    BaseTickets,
    /// The file of a result; `-` is standard output.
    Result,
    /// The beginning of the names of results.
    Prefix,
    /// A new directory of results.
    Folder,
    /// A directory of manual pages.
    Pages,
    /// A new identity key.
    Key,
    /// The record of a run.
    Record,
    /// The audit log.
    Audit,
    /// Limits per day.
    Limits,
    /// A ticket of shards, which is written or, with `--shard`, read.
    Ticket,
}

/// The use of the path with this id in a command of this group; `None` if the id names no path.
pub(crate) fn use_of(group: &str, id: &str) -> Option<Use> {
    Some(match (group, id) {
        ("ot", "messages" | "choices") | ("psi", "a" | "b" | "set" | "named") => Use::Read,
        ("triples", "first" | "second") | ("keygen", "show") => Use::Read,
        (_, "policy" | "tokens" | "psk") => Use::Read,
        (_, "identity") => Use::Identity,
        (_, "serial") => Use::Device,
        (_, "resume_base") => Use::BaseTickets,
        ("rot", "output") => Use::Prefix,
        ("triples", "output") => Use::Folder,
        ("keygen", "output") => Use::Key,
        ("psi" | "ot", "output") => Use::Result,
        ("generate", "all") => Use::Pages,
        (_, "record") => Use::Record,
        (_, "audit") => Use::Audit,
        (_, "limits") => Use::Limits,
        (_, "ticket") => Use::Ticket,
        _ => return None,
    })
}
