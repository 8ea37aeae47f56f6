//! Encoding and decoding of messages with a fixed layout.

/// Defines a message that is a byte string whose length follows from the number of instances, and
/// whose content is checked when it is decoded. For a generic message, `[Parameter: Bound]` stands before its name.
#[doc(hidden)]
#[macro_export]
macro_rules! message {
    (
        $(#[$meta:meta])*
        $([$parameter:ident: $bound:ident])? $name:ident,
        len: |$n:ident| $len:expr, check: |$bytes:ident, $count:ident| $check:expr
    ) => {
        $(#[$meta])*
        #[must_use]
        pub struct $name $(<$parameter>)? {
            pub(super) bytes: Vec<u8>,
            pub(super) n: usize,
            $(of: core::marker::PhantomData<$parameter>,)?
        }

        impl $(<$parameter: $bound>)? $name $(<$parameter>)? {
            const NAME: &str = stringify!($name);

            /// Length in bytes for n instances.
            #[must_use]
            pub fn encoded_len($n: usize) -> usize {
                $len
            }

            /// A message of n instances from the peer's bytes.
            ///
            /// # Errors
            /// `Usage::BatchTooLarge`; `Decode` if the bytes are none.
            pub fn decode(bytes: &[u8], n: usize) -> Result<Self, $crate::Error> {
                Self::check(bytes, n)?;
                let mut message = Self::blank(n);
                message.bytes.copy_from_slice(bytes);
                Ok(message)
            }

            /// Receives the message of n instances from the peer.
            ///
            /// # Errors
            /// Errors of `decode`.
            pub async fn receive(io: &$crate::engine::Io, n: usize) -> Result<Self, $crate::Error> {
                let bytes = io.recv(Self::encoded_len(n)).await;
                Self::check(&bytes, n)?;
                Ok(Self { bytes, n, $(of: core::marker::PhantomData::<$parameter>)? })
            }

            /// Checks that the bytes are such a message.
            fn check(bytes: &[u8], n: usize) -> Result<(), $crate::Error> {
                $crate::base::check_batch(n)?;
                $crate::expect_len(Self::NAME, bytes, Self::encoded_len(n))?;
                let check = |$bytes: &[u8], $count: usize| -> Result<(), $crate::Decode> { $check };
                Ok(check(bytes, n)?)
            }

            /// A message of n instances, all zeros.
            pub(crate) fn blank(n: usize) -> Self {
                let bytes = vec![0; Self::encoded_len(n)];
                Self { bytes, n, $(of: core::marker::PhantomData::<$parameter>)? }
            }

            /// The encoding.
            #[must_use]
            pub fn as_bytes(&self) -> &[u8] {
                &self.bytes
            }

            /// The encoding.
            #[must_use]
            pub fn into_bytes(self) -> Vec<u8> {
                self.bytes
            }

            /// Number of instances.
            #[must_use]
            pub fn instances(&self) -> usize {
                self.n
            }
        }

        impl $(<$parameter>)? Clone for $name $(<$parameter>)? {
            fn clone(&self) -> Self {
                let (bytes, n) = (self.bytes.clone(), self.n);
                Self { bytes, n, $(of: core::marker::PhantomData::<$parameter>)? }
            }
        }

        impl $(<$parameter>)? PartialEq for $name $(<$parameter>)? {
            fn eq(&self, other: &Self) -> bool {
                (&self.bytes, self.n) == (&other.bytes, other.n)
            }
        }

        impl $(<$parameter>)? Eq for $name $(<$parameter>)? {}

        $crate::erase::redacted! {
            $([$parameter: $bound])? $name $(<$parameter>)?, message => "{} instances", message.n;
        }
    };
}

pub(super) use message;
