//! The interface for JavaScript. The package's own module adds WebSockets and streams (`npm/foxtrot.js`).

#[cfg(feature = "all-jobs")]
mod more;
mod tables;

use std::{
    cell::RefCell,
    collections::VecDeque,
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use foxtrot::{
    Cause, Error, Progress,
    job::Role,
    options::camel,
    psi::{
        self, Assumption,
        Function::{Both, Intersection, Join},
        agreement::{Columns, PsiTerms},
        fields::{Duplicates, Padding},
        keys::Told,
        run::{Found, Set},
    },
};
use foxtrot_net::HelloError;
use js_sys::{Array, Function, Object, Reflect, Uint8Array, Uint32Array};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasm_bindgen::prelude::*;

use crate::peer::{self, Options, code};
#[cfg(feature = "all-jobs")]
pub use more::self_test;
pub use tables::{Keys, Table, escaped, item_of, printable, safe};

/// The most bytes that wait to be read: more than any protocol has on its way.
const MOST_HELD: usize = 96 << 20;

#[wasm_bindgen(typescript_custom_section)]
const TYPES: &str = include_str!("types.d.ts");

#[wasm_bindgen]
extern "C" {
    /// Takes bytes for the peer.
    pub type Outlet;

    /// Takes some bytes; false if no more should come before `wake`.
    #[wasm_bindgen(method)]
    fn write(this: &Outlet, bytes: Uint8Array) -> bool;

    /// Terms of an intersection.
    #[wasm_bindgen(typescript_type = "PsiOptions")]
    pub type JsOptions;
}

thread_local! {
    /// The listener of the job that runs: closures of protocols hold no JavaScript.
    static TELL: RefCell<Option<Function>> = const { RefCell::new(None) };
}

/// Bytes from the peer, as they came.
#[derive(Default)]
struct Pipe {
    pieces: VecDeque<Vec<u8>>,
    read: usize,
    held: usize,
    /// Why there are no more.
    ended: Option<String>,
    is_full: bool,
    waker: Option<Waker>,
    waits: bool,
}

struct JsStream {
    outlet: Outlet,
    pipe: Rc<RefCell<Pipe>>,
}

impl Pipe {
    fn wake(&mut self) {
        self.waker.take().into_iter().for_each(Waker::wake);
    }
}

impl AsyncRead for JsStream {
    fn poll_read(
        self: Pin<&mut Self>,
        waking: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let pipe = &mut *self.pipe.borrow_mut();
        let Some(piece) = pipe.pieces.front() else {
            if pipe.ended.is_some() {
                return Poll::Ready(Ok(()));
            }
            (pipe.waker, pipe.waits) = (Some(waking.waker().clone()), true);
            return Poll::Pending;
        };
        pipe.waits = false;
        let rest = &piece[pipe.read..];
        let some = rest.len().min(buffer.remaining());
        buffer.put_slice(&rest[..some]);
        pipe.read += some;
        if pipe.read == piece.len() {
            pipe.held -= piece.len();
            pipe.read = 0;
            pipe.pieces.pop_front();
        }
        Poll::Ready(Ok(()))
    }
}

impl AsyncWrite for JsStream {
    fn poll_write(
        self: Pin<&mut Self>,
        waking: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        let pipe = &mut *self.pipe.borrow_mut();
        if pipe.ended.is_some() {
            return Poll::Ready(Err(io::ErrorKind::BrokenPipe.into()));
        }
        if pipe.is_full {
            pipe.waker = Some(waking.waker().clone());
            return Poll::Pending;
        }
        // A message of its own in JavaScript's memory: ours may grow, and move.
        pipe.is_full = !self.outlet.write(Uint8Array::from(bytes));
        Poll::Ready(Ok(bytes.len()))
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A peer behind a stream, which something else has secured.
#[wasm_bindgen]
pub struct Session {
    peer: Rc<RefCell<Option<peer::Peer<JsStream>>>>,
    pipe: Rc<RefCell<Pipe>>,
}

#[wasm_bindgen]
impl Session {
    /// A session of which nothing has been said. The initiator is the side that opened the stream; both have the same
    /// token, or none.
    #[wasm_bindgen(constructor)]
    pub fn new(outlet: Outlet, initiator: bool, token: Option<String>) -> Self {
        let pipe = Rc::<RefCell<Pipe>>::default();
        let stream = JsStream { outlet, pipe: Rc::clone(&pipe) };
        // There are no keys, which alone could be wrong.
        let peer = peer::open(stream, initiator, token.as_deref()).ok();
        Self { peer: Rc::new(RefCell::new(peer)), pipe }
    }

    /// Takes bytes of the peer. Too many that nobody reads end the session.
    pub fn push(&self, bytes: Vec<u8>) {
        let pipe = &mut *self.pipe.borrow_mut();
        if bytes.is_empty() || pipe.ended.is_some() {
            return;
        }
        pipe.held += bytes.len();
        if pipe.held > MOST_HELD {
            pipe.pieces.clear();
            pipe.ended = Some("misbehaved".into());
        } else {
            pipe.pieces.push_back(bytes);
        }
        pipe.wake();
    }

    /// Says that nothing comes any more, and why.
    pub fn end(&self, why: String) {
        let pipe = &mut *self.pipe.borrow_mut();
        pipe.ended.get_or_insert(why);
        pipe.wake();
    }

    /// Says that the outlet takes more.
    pub fn wake(&self) {
        let pipe = &mut *self.pipe.borrow_mut();
        pipe.is_full = false;
        pipe.wake();
    }

    /// True while a job waits for the peer.
    #[wasm_bindgen(getter)]
    pub fn waits(&self) -> bool {
        self.pipe.borrow().waits
    }

    /// The peer's terms, by its first message. With a token it also finds out whether the peer has the same. The session is
    /// of no further use.
    #[wasm_bindgen(unchecked_return_type = "PeerTerms")]
    pub async fn terms(&self) -> Result<JsValue, JsValue> {
        let heard = self.take()?.look().await.map_err(|e| self.error(&e))?;
        let role = heard.role.to_string();
        let table = |table: &foxtrot_net::hello::Table| {
            let object = Object::new();
            table.iter().for_each(|(key, value)| set(&object, key, value));
            object
        };
        let object = Object::new();
        set(&object, "role", role);
        set(&object, "terms", table(&heard.terms));
        set(&object, "offers", table(&heard.offers));
        Ok(object.into())
    }

    /// Finds out which of these keys the peer also has.
    #[wasm_bindgen(js_name = psiReceive, unchecked_return_type = "PsiResult")]
    pub async fn psi_receive(
        &self,
        keys: &Keys,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let terms = read_options(&options)?.terms(Role::Receiver, Intersection, &keys.0);
        let (found, told) = self.receive(terms, peer::copy(&keys.0), tell).await?;
        Ok(found_rows(&keys.0, &found.first(), &told).into())
    }

    /// Finds out which of these keys the peer also has, with its fields in the columns of `options.with`.
    #[wasm_bindgen(js_name = psiReceiveWith, unchecked_return_type = "ColumnsResult")]
    pub async fn psi_receive_with(
        &self,
        keys: &Keys,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let (columns, padding) = columns_of(&options)?;
        let terms = read_options(&options)?.terms(Role::Receiver, Join, &keys.0);
        let columns = Columns { names: columns, padding };
        let terms = PsiTerms { columns: Some(columns), ..terms };
        let (found, told) = self.receive(terms, peer::copy(&keys.0), tell).await?;
        let found = found.fields(padding).map_err(|e| self.error(&e))?;
        let (common, fields): (Vec<_>, Vec<_>) = found.into_iter().unzip();
        let object = found_rows(&keys.0, &common, &told);
        let mut of_keys = vec![&[][..]; keys.0.len()];
        common.iter().zip(&fields).for_each(|(&key, fields)| of_keys[key] = fields);
        let texts: Array =
            (keys.0.of_rows().flatten()).flat_map(|key| of_keys[key]).map(JsValue::from).collect();
        set(&object, "fields", texts);
        Ok(object.into())
    }

    /// Finds out which of these keys the peer also has; the peer finds out the same.
    #[wasm_bindgen(js_name = psiReceiveBoth, unchecked_return_type = "PsiResult")]
    pub async fn psi_receive_both(
        &self,
        keys: &Keys,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let terms = read_options(&options)?.terms(Role::Receiver, Both, &keys.0);
        let (found, told) = self.receive(terms, peer::copy(&keys.0), tell).await?;
        Ok(found_rows(&keys.0, &found.first(), &told).into())
    }
}

impl Session {
    fn take(&self) -> Result<peer::Peer<JsStream>, JsValue> {
        let peer = self.peer.borrow_mut().take();
        peer.ok_or_else(|| thrown("busy", "a job runs over this session, or one has failed"))
    }

    /// Negotiates on these terms, and compares this set as the receiver.
    async fn receive(
        &self,
        terms: PsiTerms,
        set: impl Set,
        tell: Option<Function>,
    ) -> Result<(Found, Told), JsValue> {
        let mut peer = self.begin(tell)?;
        let done = terms.receive(&mut peer, set).await;
        self.done(peer, done)
    }

    fn begin(&self, tell: Option<Function>) -> Result<peer::Peer<JsStream>, JsValue> {
        let mut peer = self.take()?;
        TELL.with(|it| *it.borrow_mut() = tell);
        peer.on_progress(told);
        Ok(peer)
    }

    /// Keeps the peer for the next job, unless this one failed.
    fn done<T>(&self, peer: peer::Peer<JsStream>, done: Result<T, Error>) -> Result<T, JsValue> {
        TELL.with(|it| *it.borrow_mut() = None);
        match done {
            Ok(done) => {
                *self.peer.borrow_mut() = Some(peer);
                Ok(done)
            }
            Err(e) => Err(self.error(&e)),
        }
    }

    fn error(&self, error: &Error) -> JsValue {
        use Error::Session;
        use foxtrot_net::Error as Net;
        let ended = self.pipe.borrow().ended.clone();
        let thrown = match (error, ended) {
            (Session(Net::Channel(foxtrot_net::ChannelError::GivenUp(_))), _) => None,
            (Session(Net::Channel(_)), Some(why)) => Some(thrown(&why, &error.to_string())),
            _ => None,
        };
        let thrown = thrown.unwrap_or_else(|| self::thrown(code(error), &error.to_string()));
        let Cause { blame, hint, .. } = error.cause();
        set(thrown.unchecked_ref(), "blame", format!("{blame:?}").to_lowercase());
        set(thrown.unchecked_ref(), "hint", hint.map(|it| it.spelled(camel)));
        if let Session(Net::Hello(HelloError::Terms(all))) = error {
            let list = Array::new();
            for it in all {
                let one = Object::new();
                set(&one, "key", &it.key);
                set(&one, "here", it.here.clone());
                set(&one, "peer", it.peer.clone());
                list.push(&one);
            }
            set(thrown.unchecked_ref(), "differences", list);
        }
        thrown
    }
}

fn told(Progress { done, of, .. }: Progress) {
    TELL.with(|tell| {
        if let Some(tell) = &*tell.borrow() {
            // A listener that throws says nothing of the job.
            let _ = tell.call2(&JsValue::NULL, &(done as f64).into(), &(of as f64).into());
        }
    });
}

fn get(from: &JsOptions, key: &str) -> Option<JsValue> {
    let from: &JsValue = from.as_ref();
    match from.is_object() {
        true => Reflect::get(from, &key.into()).ok().filter(|it| !it.is_undefined()),
        false => None,
    }
}

fn number(from: &JsOptions, key: &str) -> Option<f64> {
    get(from, key)?.as_f64()
}

fn text(from: &JsOptions, key: &str) -> Option<String> {
    get(from, key)?.as_string()
}

fn texts(from: &JsOptions, key: &str) -> Option<Vec<String>> {
    let array = get(from, key).filter(Array::is_array)?;
    Some(Array::from(&array).iter().filter_map(|it| it.as_string()).collect())
}

fn read_options(from: &JsOptions) -> Result<Options, JsValue> {
    let mut options = Options::default();
    match text(from, "assumption").as_deref() {
        None | Some("symmetric") => {}
        Some("lpn") => options.psi = options.psi.assumption(Assumption::Lpn),
        Some(other) => return Err(thrown("option", &format!("no assumption is named {other}"))),
    }
    if get(from, "semiHonest").is_some_and(|it| it.is_truthy()) {
        options.psi = options.psi.semi_honest();
    }
    if let Some(most) = number(from, "maxPeerKeys") {
        options.psi = options.psi.max_peer_keys(most as usize);
    }
    if let Some(least) = number(from, "minPeerKeys") {
        options.psi = options.psi.min_peer_keys(least as usize);
    }
    options.normalize = text(from, "normalize").unwrap_or(options.normalize);
    options.set = text(from, "set");
    options.columns = texts(from, "columns");
    Ok(options)
}

/// The sender's columns that the receiver wants, and the form in which they come.
fn columns_of(from: &JsOptions) -> Result<(Vec<String>, Padding), JsValue> {
    let columns = texts(from, "with").filter(|it| !it.is_empty());
    let columns = columns.ok_or_else(|| thrown("option", "options.with names no column"))?;
    let width = number(from, "width").map_or(64, |it| it as usize).min(usize::from(u16::MAX));
    let name = text(from, "duplicates").unwrap_or_else(|| Duplicates::Refuse.name().into());
    let duplicates = Duplicates::ALL.into_iter().find(|it| it.name() == name);
    let duplicates = duplicates.ok_or_else(|| thrown("option", &format!("no rule is {name}")))?;
    Ok((columns, Padding { width, duplicates }))
}

fn found_rows(keys: &psi::keys::Keys, common: &[usize], told: &Told) -> Object {
    let object = about(told);
    set(&object, "common", common.len() as f64);
    let rows: Vec<_> = keys.indices(common).into_iter().map(|row| row as u32).collect();
    set(&object, "rows", Uint32Array::from(&rows[..]));
    object
}

fn about(told: &Told) -> Object {
    let object = Object::new();
    set(&object, "peerKeys", told.keys as f64);
    set(&object, "peerColumns", told.columns.clone());
    let hex: String = told.session.iter().map(|byte| format!("{byte:02x}")).collect();
    set(&object, "session", hex);
    object
}

fn set(object: &Object, key: &str, value: impl Into<JsValue>) {
    // Of an object of our own.
    let _ = Reflect::set(object, &key.into(), &value.into());
}

fn thrown(code: &str, message: &str) -> JsValue {
    let error = js_sys::Error::new(message);
    set(&error, "code", code);
    error.into()
}

foxtrot_ot::erase::redacted! { Session; }
