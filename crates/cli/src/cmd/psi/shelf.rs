//! The sets of a server: one or several by name, which may be read again while it serves.

use std::{
    fs, mem,
    path::{Path, PathBuf},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
    thread,
    time::Duration,
};

use foxtrot::{
    Error,
    job::Table,
    psi::{agreement::PsiTerms, fields::Fields, terms::SET},
};
use foxtrot_net::Reason;
use foxtrot_ot::erase::{Secret, Zero};
use zeroize::Zeroizing;

use super::agreement::SetTerms;
use crate::{
    failure::Failure,
    files::Stamp,
    output::say,
    table::{Item, Set},
};

/// Time between two looks whether a file has changed.
const LOOK: Duration = Duration::from_secs(1);

/// A set as it was read, with the terms under which it is compared.
pub(super) struct Stock {
    /// The items by each key.
    pub(super) items: Vec<Zeroizing<Vec<Item>>>,
    pub(super) fields: Option<Fields>,
    /// The number beside each item, for a sum.
    pub(super) numbers: Zeroizing<Vec<u64>>,
    pub(super) terms: SetTerms,
}

pub(super) struct Shelf {
    books: Vec<Book>,
}

struct Book {
    name: Option<String>,
    path: PathBuf,
    stock: Mutex<Arc<Stock>>,
    /// The file as it was before it was read.
    read: Option<Stamp>,
}

impl Shelf {
    /// Reads all sets, whose names differ, and reads their files again when they change, if that is wanted.
    pub(super) fn open(
        sets: Vec<(Option<String>, PathBuf)>,
        reload: bool,
        read: impl Fn(&Path) -> Result<Stock, Failure> + Send + 'static,
    ) -> Result<Arc<Self>, Failure> {
        match sets.iter().filter(|(_, path)| path == Path::new("-")).count() {
            0 => {}
            1 if !reload => {}
            1 => return Err(Failure::usage("--reload needs files; standard input is read once")),
            _ => return Err(Failure::usage("only one set can be read from standard input")),
        }
        let mut books: Vec<Book> = Vec::new();
        for (name, path) in sets {
            if let Some(name) =
                name.as_ref().filter(|&it| books.iter().any(|book| book.is(Some(it))))
            {
                return Err(Failure::usage(format!("two sets have the name {name}")));
            }
            let stamp = stamp(&path);
            let stock = Arc::new(read(&path)?.named(name.clone()));
            if let Some(first) = books.first()
                && first.stock().terms.normalised() != stock.terms.normalised()
            {
                let (one, other) = (first.path.display(), path.display());
                return Err(Failure::usage(format!(
                    "keys of {one} and {other} have different numbers of columns"
                )));
            }
            books.push(Book { name, path, stock: Mutex::new(stock), read: stamp });
        }
        let shelf = Arc::new(Self { books });
        if reload {
            Arc::clone(&shelf).reload(read)?;
        }
        Ok(shelf)
    }

    /// The set that a peer with these details asks for, as it is now.
    pub(super) fn asked(&self, details: &Table) -> Result<Arc<Stock>, Failure> {
        let name = details.get(SET).map(String::as_str);
        let book = self.books.iter().find(|book| book.is(name));
        book.map(Book::stock).ok_or_else(|| {
            let why = match name {
                Some(name) => {
                    format!("the peer asks for a set {}", foxtrot_net::printable(name))
                }
                None => "the peer asks for no set by name".into(),
            };
            Failure::run(why + ", which is not here").told(Reason::NoSuchSet)
        })
    }

    pub(super) fn all(&self) -> impl Iterator<Item = Arc<Stock>> {
        self.books.iter().map(Book::stock)
    }

    /// Reads files again whenever they have changed, as long as the process runs.
    fn reload(
        self: Arc<Self>,
        read: impl Fn(&Path) -> Result<Stock, Failure> + Send + 'static,
    ) -> Result<(), Failure> {
        let watch = move || {
            let seen = self.books.iter().map(|book| (stamp(&book.path), book.read));
            let mut seen: Vec<_> = seen.collect();
            loop {
                thread::sleep(LOOK);
                for (book, (before, last_read)) in self.books.iter().zip(&mut seen) {
                    let now = stamp(&book.path);
                    // A file that is still being written changes from look to look.
                    if now.is_some() && now == *before && *last_read != now {
                        *last_read = now;
                        book.renew(&read);
                    }
                    *before = now;
                }
            }
        };
        let started = thread::Builder::new().name("foxtrot-reload".into()).spawn(watch);
        started.map(drop).map_err(|e| Failure::run(format!("cannot start a thread: {e}")))
    }
}

/// A copy of values that are secret.
pub(super) fn copy<T: Copy + Zero>(all: &[T]) -> Result<Secret<T>, Error> {
    let too_large = |_| Error::OutOfMemory { bytes: size_of_val(all) };
    let mut copy = Secret::try_with_capacity(all.len()).map_err(too_large)?;
    copy.0.extend_from_slice(all);
    Ok(copy)
}

impl Stock {
    /// The items of a file, which was read once for each key, with these fields.
    pub(super) fn of(sets: Vec<Set>, fields: Option<Fields>, terms: SetTerms) -> Self {
        let items = sets.into_iter().map(|set| set.keys.into_items()).collect();
        Self { items, fields, numbers: Zeroizing::default(), terms }
    }

    /// Copies of the items of a file, whose rows are still needed.
    pub(super) fn copied(sets: &[Set], terms: SetTerms) -> Result<Self, Failure> {
        let copied = |set: &Set| Ok(Zeroizing::new(mem::take(&mut copy(set.keys.items())?.0)));
        let items = sets.iter().map(copied).collect::<Result<_, Error>>()?;
        Ok(Self { items, fields: None, numbers: Zeroizing::default(), terms })
    }

    /// Gives the set the name by which peers ask for it.
    fn named(self, set: Option<String>) -> Self {
        let terms = self.terms.with(|psi| PsiTerms { set, ..psi });
        Self { terms, ..self }
    }
}

impl Book {
    fn is(&self, name: Option<&str>) -> bool {
        self.name.as_deref() == name
    }

    fn lock(&self) -> MutexGuard<'_, Arc<Stock>> {
        self.stock.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn stock(&self) -> Arc<Stock> {
        Arc::clone(&self.lock())
    }

    /// Takes the file's new content, unless it cannot be read or is another kind of set.
    fn renew(&self, read: &impl Fn(&Path) -> Result<Stock, Failure>) {
        let path = self.path.display();
        match read(&self.path) {
            Ok(new) if new.terms.normalised() == self.stock().terms.normalised() => {
                say(&format!("reloaded {path}: {} keys", new.terms.psi.keys[0].size));
                *self.lock() = Arc::new(new.named(self.name.clone()));
            }
            Ok(_) => say(&format!(
                "cannot reload {path}: its keys have other columns; the old set stays"
            )),
            Err(e) => say(&format!("cannot reload {path}: {}; the old set stays", e.message())),
        }
    }
}

fn stamp(path: &Path) -> Option<Stamp> {
    fs::metadata(path).ok().map(|found| Stamp::of(&found))
}
