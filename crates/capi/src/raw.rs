//! References of C's pointers, and the border that no panic crosses.
//!
//! A pointer that is null or misaligned is an error, and so is a size that no memory has. Other wrong pointers cannot be recognised.
#![allow(unsafe_code, reason = "pointers of C")]

use std::{
    ffi::{CStr, c_char},
    io::{self, Read, Write},
    net::Shutdown,
    panic::{AssertUnwindSafe, catch_unwind},
    slice,
    sync::Arc,
};

use crate::{
    failure::{Failure, Result},
    types::{Bytes, CLOSE_BOTH, CLOSE_READ, CLOSE_WRITE, Callbacks, Error, Status},
};

/// Runs a call. Writes its error where the caller wants it, and catches a panic.
///
/// # Safety
/// `error` is null or may be written.
pub(crate) unsafe fn call(error: *mut Error, call: impl FnOnce() -> Result) -> Status {
    let result = catch_unwind(AssertUnwindSafe(call)).unwrap_or_else(|panic| {
        // A value of a panic may panic again when it is dropped.
        std::mem::forget(panic);
        Err(Failure::panicked())
    });
    let Err(failure) = result else { return Status::Ok };
    if !error.is_null() && error.is_aligned() {
        // SAFETY: the caller's promise.
        unsafe { error.write(failure.to_c()) };
    }
    failure.status
}

/// A reference of a pointer to one value.
///
/// # Safety
/// `pointer` is null or points to a value of the type, which nothing changes in the meantime.
pub(crate) unsafe fn get<'a, T>(pointer: *const T, name: &str) -> Result<&'a T> {
    is_valid(pointer, name)?;
    // SAFETY: the caller's promise; it is neither null nor misaligned.
    Ok(unsafe { &*pointer })
}

/// The value behind a pointer, or the default for null.
///
/// # Safety
/// As [`get`].
pub(crate) unsafe fn get_or_default<T: Copy + Default>(pointer: *const T) -> Result<T> {
    if pointer.is_null() {
        return Ok(T::default());
    }
    // SAFETY: the caller's promise.
    unsafe { get(pointer, "options") }.copied()
}

/// An array of C.
///
/// # Safety
/// `pointer` is null or points to `n` values, which nothing changes in the meantime.
pub(crate) unsafe fn all<'a, T>(pointer: *const T, n: usize, name: &str) -> Result<&'a [T]> {
    if n == 0 {
        return Ok(&[]);
    }
    is_valid(pointer, name)?;
    fits::<T>(n, name)?;
    // SAFETY: the caller's promise; it is not null, aligned, and not larger than an array can be.
    Ok(unsafe { slice::from_raw_parts(pointer, n) })
}

/// An array of C that is written.
///
/// # Safety
/// `pointer` is null or points to `n` values, which nothing else uses in the meantime.
pub(crate) unsafe fn all_mut<'a, T>(pointer: *mut T, n: usize, name: &str) -> Result<&'a mut [T]> {
    if n == 0 {
        return Ok(&mut []);
    }
    is_valid(pointer, name)?;
    fits::<T>(n, name)?;
    // SAFETY: the caller's promise; it is not null, aligned, and not larger than an array can be.
    Ok(unsafe { slice::from_raw_parts_mut(pointer, n) })
}

/// The byte strings of an array.
///
/// # Safety
/// `pointer` is null or points to `n` structs, each of which is right.
pub(crate) unsafe fn strings<'a>(
    pointer: *const Bytes,
    n: usize,
    name: &str,
) -> Result<Vec<&'a [u8]>> {
    // SAFETY: the caller's promise, for the array and for what it points to.
    unsafe { all(pointer, n, name)?.iter().map(|it| all(it.data, it.len, name)).collect() }
}

/// A text in UTF-8 that ends with a zero.
///
/// # Safety
/// `pointer` is null or points to a text with a zero at its end.
pub(crate) unsafe fn text<'a>(pointer: *const c_char, name: &str) -> Result<&'a str> {
    is_valid(pointer, name)?;
    // SAFETY: the caller's promise; it is not null.
    let text = unsafe { CStr::from_ptr(pointer) };
    text.to_str().map_err(|_| Failure::caller(format!("{name} is not UTF-8")))
}

/// Writes one value.
///
/// # Safety
/// `pointer` is null or may be written.
pub(crate) unsafe fn set<T>(pointer: *mut T, value: T, name: &str) -> Result {
    is_valid(pointer, name)?;
    // SAFETY: the caller's promise; it is neither null nor misaligned.
    unsafe { pointer.write(value) };
    Ok(())
}

/// Makes a value, and writes its handle; null if it cannot be made.
///
/// # Safety
/// `pointer` is null or may be written.
pub(crate) unsafe fn make<T>(
    pointer: *mut *mut T,
    name: &str,
    make: impl FnOnce() -> Result<T>,
) -> Result {
    // SAFETY: the caller's promise.
    unsafe { set(pointer, std::ptr::null_mut(), name)? };
    let made = Box::into_raw(Box::new(make()?));
    // SAFETY: the caller's promise.
    unsafe { set(pointer, made, name) }
}

/// Takes the value of a handle back; `None` for null.
///
/// # Safety
/// `handle` is null, or of [`make`] and not yet taken back.
pub(crate) unsafe fn take<T>(handle: *mut T) -> Option<T> {
    // SAFETY: the caller's promise.
    (!handle.is_null()).then(|| *unsafe { Box::from_raw(handle) })
}

/// A copy of a file descriptor.
///
/// # Safety
/// None beyond that of `fcntl`: a descriptor that is not open is an error.
#[cfg(unix)]
pub(crate) fn copy_of(fd: i32, name: &str) -> Result<std::os::fd::OwnedFd> {
    if fd < 0 {
        return Err(Failure::caller(format!("{name} is no file descriptor")));
    }
    // SAFETY: it is not -1, and is used for this one call, which checks it.
    let borrowed = unsafe { std::os::fd::BorrowedFd::borrow_raw(fd) };
    let copied = borrowed.try_clone_to_owned();
    copied.map_err(|e| Failure::caller(format!("{name} cannot be used: {e}")))
}

/// A stream of C, released when nothing uses it any more.
pub(crate) struct Foreign(Callbacks);

// SAFETY: the header asks for callbacks that any thread may call.
unsafe impl Send for Foreign {}
// SAFETY: as above.
unsafe impl Sync for Foreign {}

impl Foreign {
    /// Takes the callbacks over, whose functions do as the header says.
    pub(crate) fn new(callbacks: Callbacks) -> Result<Arc<Self>> {
        match (callbacks.read, callbacks.write) {
            (Some(_), Some(_)) => Ok(Arc::new(Self(callbacks))),
            _ => Err(Failure::caller("callbacks need read and write")),
        }
    }

    pub(crate) fn close(&self, how: Shutdown) {
        let how = match how {
            Shutdown::Read => CLOSE_READ,
            Shutdown::Write => CLOSE_WRITE,
            Shutdown::Both => CLOSE_BOTH,
        };
        if let Some(close) = self.0.close {
            // SAFETY: the context is not yet released.
            unsafe { close(self.0.context, how) };
        }
    }
}

impl Drop for Foreign {
    fn drop(&mut self) {
        if let Some(release) = self.0.release {
            // SAFETY: nothing else has the callbacks any more.
            unsafe { release(self.0.context) };
        }
    }
}

/// The half of a stream of C that reads, or the one that writes.
pub(crate) struct Half(pub(crate) Arc<Foreign>);

impl Read for Half {
    fn read(&mut self, to: &mut [u8]) -> io::Result<usize> {
        let Callbacks { read: Some(read), context, .. } = self.0.0 else { return Ok(0) };
        // SAFETY: the buffer has this length; the context is not yet released.
        moved(unsafe { read(context, to.as_mut_ptr(), to.len()) }, to.len())
    }
}

impl Write for Half {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        let Callbacks { write: Some(write), context, .. } = self.0.0 else { return Ok(0) };
        // SAFETY: the bytes have this length; the context is not yet released.
        moved(unsafe { write(context, from.as_ptr(), from.len()) }, from.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// The number of bytes that a callback says it has moved.
fn moved(said: isize, most: usize) -> io::Result<usize> {
    match usize::try_from(said) {
        Ok(n) if n <= most => Ok(n),
        Ok(_) => Err(io::Error::other("a callback moved more bytes than there are")),
        Err(_) => Err(io::Error::other("a callback failed")),
    }
}

fn is_valid<T>(pointer: *const T, name: &str) -> Result {
    match (pointer.is_null(), pointer.is_aligned()) {
        (true, _) => Err(Failure::caller(format!("{name} is NULL"))),
        (false, false) => Err(Failure::caller(format!("{name} is not aligned"))),
        (false, true) => Ok(()),
    }
}

fn fits<T>(n: usize, name: &str) -> Result {
    let bytes = n.checked_mul(size_of::<T>());
    match bytes.is_some_and(|bytes| isize::try_from(bytes).is_ok()) {
        true => Ok(()),
        false => Err(Failure::caller(format!("{name} cannot have {n} elements"))),
    }
}

#[cfg(test)]
mod tests {
    use std::{mem::MaybeUninit, sync::Mutex};

    use super::*;
    use crate::peer::exclusively;

    #[test]
    fn a_panic_is_a_status_and_its_handle_takes_no_other_call() {
        let handle = Mutex::new(());
        let panics = || exclusively(&handle, |()| panic!("a fault"));
        let mut error = MaybeUninit::<Error>::uninit();
        // SAFETY: the error may be written.
        let status = unsafe { call(error.as_mut_ptr(), panics) };
        assert_eq!(status, Status::Panicked);
        // SAFETY: a call that fails writes the error.
        assert_eq!(unsafe { error.assume_init() }.status, Status::Panicked);
        // SAFETY: there is no error to write.
        let status = unsafe { call(std::ptr::null_mut(), || exclusively(&handle, |()| Ok(()))) };
        assert_eq!(status, Status::Panicked);
    }
}
