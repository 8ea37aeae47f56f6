//! Files that are open and have a name all the same: `/dev/stdout`, `/dev/fd/3` and what these are
//! links to.

use std::{
    fs::{self, File},
    io::{self, ErrorKind},
    path::{Path, PathBuf},
};

use super::folder;

/// An open file, by its number in a process.
pub(super) struct Open {
    number: u32,
    folder: PathBuf,
}

impl Open {
    /// Returns the file descriptor that the name stands for, if it has the form of one. It need not
    /// be open.
    pub(super) fn named(path: &Path) -> Option<Self> {
        let number = path.file_name()?.to_str()?.parse().ok()?;
        // Without links, of which /proc/self and /dev/fd are two.
        let folder = fs::canonicalize(folder(path)).ok()?;
        let in_process = folder.strip_prefix("/proc").is_ok_and(|rest| rest.ends_with("fd"));
        (in_process || folder == Path::new("/dev/fd")).then_some(Self { number, folder })
    }

    /// Another handle for it, which writes where the first one would write next. Opened anew it would
    /// be written from its beginning.
    ///
    /// # Errors
    ///
    /// If it is not open for writing, or not ours.
    pub(super) fn for_writing(&self) -> io::Result<File> {
        #[cfg(target_os = "linux")]
        self.check()?;
        #[cfg(unix)]
        {
            use std::os::fd::AsFd;
            match self.number {
                0 => return io::stdin().as_fd().try_clone_to_owned().map(File::from),
                1 => return io::stdout().as_fd().try_clone_to_owned().map(File::from),
                2 => return io::stderr().as_fd().try_clone_to_owned().map(File::from),
                _ => {}
            }
        }
        self.another()
    }

    /// Checks that the file was given to us, and for writing.
    #[cfg(target_os = "linux")]
    fn check(&self) -> io::Result<()> {
        const WRITES: u32 = 0o3;
        const OURS_ALONE: u32 = 0o2_000_000;
        if !self.folder.starts_with(fs::canonicalize("/proc/self")?) {
            return Err(io::Error::other("it is open in another process"));
        }
        let info = fs::read_to_string(format!("/proc/self/fdinfo/{}", self.number))?;
        let flags = info.lines().find_map(|line| line.strip_prefix("flags:"));
        let flags = flags.and_then(|flags| u32::from_str_radix(flags.trim(), 8).ok());
        match flags.ok_or(ErrorKind::InvalidData)? {
            // What is closed for programs that we start we have opened ourselves.
            flags if flags & OURS_ALONE != 0 => Err(ErrorKind::NotFound.into()),
            flags if flags & WRITES == 0 => Err(io::Error::other("it is not open for writing")),
            _ => Ok(()),
        }
    }

    #[cfg(target_os = "linux")]
    fn another(&self) -> io::Result<File> {
        use rustix::process::{PidfdFlags, PidfdGetfdFlags, getpid, pidfd_getfd, pidfd_open};
        let number = i32::try_from(self.number).map_err(|_| ErrorKind::NotFound)?;
        let process = pidfd_open(getpid(), PidfdFlags::empty())?;
        Ok(File::from(pidfd_getfd(process, number, PidfdGetfdFlags::empty())?))
    }

    /// Elsewhere than on Linux, opening it is this.
    #[cfg(not(target_os = "linux"))]
    fn another(&self) -> io::Result<File> {
        File::options().write(true).open(self.folder.join(self.number.to_string()))
    }
}
