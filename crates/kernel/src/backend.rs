//! The instruction set that the kernels use.

use core::fmt;

#[cfg(target_arch = "aarch64")]
use crate::simd::neon::Neon;
#[cfg(target_arch = "x86_64")]
use crate::simd::{avx2::Avx2, avx512::Avx512};
#[cfg(target_feature = "simd128")]
use crate::simd128::Simd128;

/// Proof that an instruction set is there: its values come from detection only.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Backend(Vectors);

/// The instruction sets, each with the proof by which its vector operations are called, inside [`Backend::run`].
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Vectors {
    /// No vector instructions: the plain Rust version runs.
    None,
    #[cfg(target_arch = "x86_64")]
    Avx2(Avx2),
    #[cfg(target_arch = "x86_64")]
    Avx512(Avx512),
    #[cfg(target_arch = "aarch64")]
    Neon(Neon),
    #[cfg(target_feature = "simd128")]
    Simd128(Simd128),
    /// Packed versions of some kernels, and plain Rust for the others.
    #[cfg(dsp)]
    Dsp,
}

/// Plain Rust, for traits that are implemented for it as well: one lane, or one block.
#[derive(Clone, Copy)]
pub(crate) struct Scalar;

/// Runs `$vector`, which is generic over what it finds in `$simd`, or `$portable` if the backend has
/// nothing of that kind; each compiled for the instructions it is made of, and for no others. With
/// `neon`, which the trait [`Simd`](crate::simd::Simd) is implemented for, that is one of the kinds.
/// Without `$portable` it is `$vector` on [`Scalar`].
macro_rules! dispatch {
    ($backend:expr, $simd:ident => $vector:expr $(,)?) => {
        dispatch!(x86 $backend, $simd => $vector)
    };
    ($kinds:ident $backend:expr, $simd:ident => $vector:expr $(,)?) => {
        dispatch!($kinds $backend, $simd => $vector, {
            let $simd = $crate::backend::Scalar;
            $vector
        })
    };
    ($backend:expr, $simd:ident => $vector:expr, $portable:expr $(,)?) => {
        dispatch!(x86 $backend, $simd => $vector, $portable)
    };
    // Where AVX2 takes two blocks to a vector if the processor can, and NEON one if it has AES and products.
    (wide $backend:expr, $simd:ident => $vector:expr, $portable:expr $(,)?) => {{
        #[cfg(target_arch = "x86_64")]
        if let $crate::backend::Vectors::Avx2(simd) = $backend.vectors() && let Some($simd) = simd.wide() {
            $simd.run(#[inline(always)] || $vector)
        } else {
            dispatch!(x86 $backend, $simd => $vector, $portable)
        }
        #[cfg(target_arch = "aarch64")]
        if let $crate::backend::Vectors::Neon(simd) = $backend.vectors() && let Some($simd) = simd.wide() {
            $simd.run(#[inline(always)] || $vector)
        } else {
            dispatch!(x86 $backend, $simd => $vector, $portable)
        }
        #[cfg(not(any(target_arch = "x86_64", target_arch = "aarch64")))]
        dispatch!(x86 $backend, $simd => $vector, $portable)
    }};
    ($kinds:ident $backend:expr, $simd:ident => $vector:expr, $portable:expr $(,)?) => {
        match $backend.vectors() {
            #[cfg(target_arch = "x86_64")]
            $crate::backend::Vectors::Avx2($simd) => $simd.run(
                #[inline(always)]
                || $vector,
            ),
            #[cfg(target_arch = "x86_64")]
            $crate::backend::Vectors::Avx512($simd) => $simd.run(
                #[inline(always)]
                || $vector,
            ),
            #[cfg(target_arch = "aarch64")]
            $crate::backend::Vectors::Neon(neon) => {
                dispatch!(@$kinds neon, $simd => $vector, $portable)
            }
            // What has other vectors calls them by itself.
            _ => $portable,
        }
    };
    (@neon $token:ident, $simd:ident => $vector:expr, $portable:expr) => {{
        let $simd = $token;
        $vector
    }};
    (@x86 $token:ident, $simd:ident => $vector:expr, $portable:expr) => {{
        let _ = $token;
        $portable
    }};
}

/// The reason why a backend cannot be had by its name.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BackendError {
    /// No backend has that name.
    Unknown,
    /// This processor, or this build, lacks it.
    Unavailable,
}

impl fmt::Display for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Unknown => {
                "not a backend; there are portable, avx2, avx512, neon, simd128 and dsp"
            }
            Self::Unavailable => "this processor does not have that backend",
        })
    }
}

impl core::error::Error for BackendError {}

/// `is_x86_feature_detected!` with the kernel's `std`, what the target guarantees without.
#[cfg(target_arch = "x86_64")]
macro_rules! has {
    ($($feature:tt),* $(,)?) => {{
        #[cfg(feature = "std")]
        { $(std::arch::is_x86_feature_detected!($feature))&&* }
        #[cfg(not(feature = "std"))]
        { cfg!(all($(target_feature = $feature),*)) }
    }};
}

/// Features of `Vectors::Avx2`: Haswell and later. [`has_wide_aes`] tells of those beyond.
#[cfg(target_arch = "x86_64")]
macro_rules! avx2_features {
    ($has:ident) => {
        $has!("avx2", "fma", "bmi1", "bmi2", "popcnt", "aes", "pclmulqdq")
    };
}

/// The further features that `Vectors::Avx512` requires: Ice Lake, Zen 4 and later have them.
#[cfg(target_arch = "x86_64")]
macro_rules! avx512_features {
    ($has:ident) => {
        $has!(
            "avx512f",
            "avx512bw",
            "avx512dq",
            "avx512vl",
            "avx512ifma",
            "avx512vbmi",
            "avx512vbmi2",
            "gfni",
            "vaes",
            "vpclmulqdq",
        )
    };
}

/// Returns true if the processor has AES and carry-less products for vectors of 256 bits, as many have without
/// AVX-512.
#[cfg(target_arch = "x86_64")]
#[inline]
pub(crate) fn has_wide_aes() -> bool {
    has!("vaes", "vpclmulqdq")
}

impl Backend {
    /// The code that every target has.
    pub const PORTABLE: Self = Self(Vectors::None);

    /// Every backend that this processor has, the slowest first.
    #[allow(unsafe_code, reason = "proofs of instruction sets, where they are detected")]
    pub fn all() -> impl Iterator<Item = Self> {
        [
            Some(Vectors::None),
            #[cfg(target_arch = "x86_64")]
            // SAFETY: the features are those of AVX2's proof.
            avx2_features!(has).then(|| Vectors::Avx2(unsafe { Avx2::detected() })),
            #[cfg(target_arch = "x86_64")]
            (avx2_features!(has) && avx512_features!(has))
                // SAFETY: the features are those of AVX-512's proof.
                .then(|| Vectors::Avx512(unsafe { Avx512::detected() })),
            #[cfg(target_arch = "aarch64")]
            // SAFETY: every AArch64 processor that Rust compiles for has NEON.
            Some(Vectors::Neon(unsafe { Neon::detected() })),
            #[cfg(target_feature = "simd128")]
            Some(Vectors::Simd128(Simd128::here())),
            #[cfg(dsp)]
            Some(Vectors::Dsp),
        ]
        .into_iter()
        .flatten()
        .map(Self)
    }

    /// The fastest backend of this processor, or, with `std`, the one that `FOXTROT_BACKEND` names.
    ///
    /// A value of the variable that cannot be honoured is ignored here; a program that wants to
    /// report it asks [`Backend::from_env`].
    #[must_use]
    pub fn best() -> Self {
        #[cfg(feature = "std")]
        {
            static BEST: std::sync::OnceLock<Backend> = std::sync::OnceLock::new();
            *BEST.get_or_init(|| Self::from_env().unwrap_or_else(|_| Self::fastest()))
        }
        #[cfg(not(feature = "std"))]
        Self::fastest()
    }

    /// The backend that the variable `FOXTROT_BACKEND` names; the fastest if it is not set, or
    /// empty.
    ///
    /// # Errors
    /// [`BackendError`] if the variable names no backend of this processor.
    #[cfg(feature = "std")]
    pub fn from_env() -> Result<Self, BackendError> {
        match std::env::var_os("FOXTROT_BACKEND") {
            None => Ok(Self::fastest()),
            Some(name) if name.is_empty() => Ok(Self::fastest()),
            Some(name) => Self::named(name.to_str().unwrap_or_default()),
        }
    }

    /// The backend of that name.
    ///
    /// # Errors
    /// [`BackendError`] if there is none, or not here.
    pub fn named(name: &str) -> Result<Self, BackendError> {
        if !["portable", "avx2", "avx512", "neon", "simd128", "dsp"].contains(&name) {
            return Err(BackendError::Unknown);
        }
        Self::all().find(|backend| backend.name() == name).ok_or(BackendError::Unavailable)
    }

    /// `portable`, `avx2`, `avx512`, `neon`, `simd128` or `dsp`.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self.0 {
            Vectors::None => "portable",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2(_) => "avx2",
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512(_) => "avx512",
            #[cfg(target_arch = "aarch64")]
            Vectors::Neon(_) => "neon",
            #[cfg(target_feature = "simd128")]
            Vectors::Simd128(_) => "simd128",
            #[cfg(dsp)]
            Vectors::Dsp => "dsp",
        }
    }

    /// The hand-written vector operations of this backend.
    #[inline(always)]
    pub(crate) fn vectors(self) -> Vectors {
        self.0
    }

    /// Returns true for the packed instructions of 32-bit ARM. Without `std` they are the only code for what they can, whatever
    /// the backend: every such processor has them, and flash is short. The results are the same.
    #[cfg(dsp)]
    #[inline(always)]
    pub(crate) fn is_dsp(self) -> bool {
        cfg!(not(feature = "std")) || self.0 == Vectors::Dsp
    }

    /// The backend for `lanes` 32-bit lanes: the one with shorter vectors if these are enough.
    #[cfg_attr(not(target_arch = "x86_64"), expect(unused_variables, reason = "one length each"))]
    pub(crate) fn for_lanes(self, lanes: usize) -> Self {
        match self.0 {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512(simd) if lanes <= 8 => Self(Vectors::Avx2(simd.single())),
            _ => self,
        }
    }

    fn fastest() -> Self {
        Self::all().last().unwrap_or(Self::PORTABLE)
    }

    /// Runs a kernel written in plain Rust, compiled for this backend's instructions.
    ///
    /// This is the slot of every operation that has no hand-written version for a backend. The
    /// closure must be inlined always, and so must all that it calls: only what is inlined
    /// is compiled for the instruction set. "Inlining" in `lib.rs` says which attribute that takes.
    #[inline(always)]
    pub(crate) fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
        match self.vectors() {
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2(simd) => simd.run(kernel),
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512(simd) => simd.run(kernel),
            // For others the whole program is compiled with what they have, as NEON is part of the AArch64 baseline.
            _ => kernel(),
        }
    }
}

/// Writes the `run` of a token, for its features.
#[cfg(target_arch = "x86_64")]
macro_rules! run {
    ($token:ty: $($features:literal),*) => {
        impl $token {
            /// Runs a kernel compiled for these instructions; the rules are those of [`Backend::run`]. It is never
            /// inlined: the curve's kernels call it for what they share.
            #[inline(always)]
            pub(crate) fn run<R>(self, kernel: impl FnOnce() -> R) -> R {
                #[inline(never)]
                $(#[target_feature(enable = $features)])*
                fn out_of_line<R>(kernel: impl FnOnce() -> R) -> R {
                    kernel()
                }
                #[allow(unsafe_code, reason = "calls code compiled for a detected instruction set")]
                // SAFETY: the token exists only where its features were detected.
                unsafe {
                    out_of_line(kernel)
                }
            }
        }
    };
}

#[cfg(target_arch = "x86_64")]
run!(Avx2: "avx2,fma,bmi1,bmi2,popcnt,aes,pclmulqdq");
#[cfg(target_arch = "x86_64")]
run!(
    Avx512: "avx2,fma,bmi1,bmi2,popcnt,aes,pclmulqdq",
    "avx512f,avx512bw,avx512dq,avx512vl,avx512ifma,avx512vbmi,avx512vbmi2",
    "gfni,vaes,vpclmulqdq"
);

impl fmt::Debug for Backend {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn portable_is_always_there_and_comes_first() {
        assert_eq!(Backend::all().next(), Some(Backend::PORTABLE));
        assert_eq!(Backend::named("portable"), Ok(Backend::PORTABLE));
    }

    #[test]
    fn every_backend_is_found_by_its_name() {
        for backend in Backend::all() {
            assert_eq!(Backend::named(backend.name()), Ok(backend));
        }
    }

    #[test]
    fn names_that_are_no_backend_here_are_refused() {
        assert_eq!(Backend::named("sse9"), Err(BackendError::Unknown));
        assert_eq!(Backend::named(""), Err(BackendError::Unknown));
        let foreign = if cfg!(target_arch = "aarch64") { "avx2" } else { "neon" };
        assert_eq!(Backend::named(foreign), Err(BackendError::Unavailable));
    }
}
