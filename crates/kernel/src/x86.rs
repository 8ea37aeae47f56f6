//! Loads and stores of vectors, of exactly the bytes of an array or a slice.
