//! One module per subcommand.

pub(crate) mod generate;
pub(crate) mod keygen;
pub(crate) mod ot;
pub(crate) mod peers;
pub(crate) mod protocols;
pub(crate) mod psi;
pub(crate) mod rot;
pub(crate) mod triples;
