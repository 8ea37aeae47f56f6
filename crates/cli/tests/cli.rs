//! The command as its users meet it.
#![allow(clippy::unwrap_used, reason = "a failed unwrap is a failed test")]

#[cfg(unix)]
#[path = "cli/assumption.rs"]
mod assumption;
#[cfg(unix)]
#[path = "cli/audit.rs"]
mod audit;
#[path = "cli/audit_peers.rs"]
mod audit_peers;
#[path = "cli/claims.rs"]
mod claims;
#[cfg(unix)]
#[path = "cli/closing.rs"]
mod closing;
#[path = "cli/cmd.rs"]
mod cmd;
#[path = "cli/counts.rs"]
mod counts;
#[path = "cli/daily.rs"]
mod daily;
#[path = "cli/doors.rs"]
mod doors;
#[path = "cli/extension.rs"]
mod extension;
#[cfg(unix)]
#[path = "cli/full_disk.rs"]
mod full_disk;
#[path = "cli/inputs.rs"]
mod inputs;
#[cfg(unix)]
#[path = "cli/interrupt.rs"]
mod interrupt;
#[path = "cli/join.rs"]
mod join;
#[path = "cli/keygen.rs"]
mod keygen;
#[path = "cli/library.rs"]
mod library;
#[cfg(target_os = "linux")]
#[path = "cli/limits.rs"]
mod limits;
#[path = "cli/one_of_n.rs"]
mod one_of_n;
#[path = "cli/or_keys.rs"]
mod or_keys;
#[path = "cli/outputs.rs"]
mod outputs;
#[path = "cli/peers.rs"]
mod peers;
#[cfg(unix)]
#[path = "cli/phases.rs"]
mod phases;
#[path = "cli/policy.rs"]
mod policy;
#[path = "cli/psi.rs"]
mod psi;
#[path = "cli/psi_parties.rs"]
mod psi_parties;
#[cfg(target_os = "linux")]
#[path = "cli/psi_strangers.rs"]
mod psi_strangers;
#[path = "cli/python.rs"]
mod python;
#[path = "cli/readme.rs"]
mod readme;
#[path = "cli/records.rs"]
mod records;
#[cfg(unix)]
#[path = "cli/relay.rs"]
mod relay;
#[path = "cli/secure.rs"]
mod secure;
#[path = "cli/shards.rs"]
mod shards;
#[path = "cli/standing.rs"]
mod standing;
#[path = "cli/strangers.rs"]
mod strangers;
#[path = "cli/streams.rs"]
mod streams;
#[path = "cli/support.rs"]
mod support;
#[path = "cli/triples.rs"]
mod triples;
#[cfg(unix)]
#[path = "cli/triples_gilboa.rs"]
mod triples_gilboa;
#[cfg(unix)]
#[path = "cli/triples_resume.rs"]
mod triples_resume;
#[path = "cli/two_parties.rs"]
mod two_parties;
#[path = "cli/waiting.rs"]
mod waiting;
