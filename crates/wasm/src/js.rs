//! The interface for JavaScript. The package's own module adds WebSockets and streams (`npm/foxtrot.js`).

use std::{
    cell::RefCell,
    collections::VecDeque,
    io,
    pin::Pin,
    rc::Rc,
    task::{Context, Poll, Waker},
};

use foxtrot::psi::{self, ItemHasher, keys::Normaliser, keys::scan::Grammar};
use foxtrot_net::{Error, HelloError};
use foxtrot_ot::base::Block;
use foxtrot_psi::method::{Assumption, protocol::Progress};
use js_sys::{Array, Function, Object, Reflect, Uint8Array, Uint32Array};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use wasm_bindgen::prelude::*;

use crate::{
    peer::{self, Options, code},
    table::{self, Fault, Plan},
};

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
        let peer = peer::Peer::new(stream, initiator, token.as_deref());
        Self { peer: Rc::new(RefCell::new(Some(peer))), pipe }
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

    /// The peer's terms, by its first message. The session is of no further use.
    #[wasm_bindgen(unchecked_return_type = "PeerTerms")]
    pub async fn terms(&self) -> Result<JsValue, JsValue> {
        let heard = self.take()?.terms().await.map_err(|e| self.error(&e))?;
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
        let (mut peer, options) = (self.begin(tell)?, read_options(&options)?);
        let done = peer.psi_receive(&options, &keys.0, told).await;
        let (common, told) = self.done(peer, done)?;
        let object = about(&told);
        set(&object, "common", common.len() as f64);
        set(&object, "rows", Uint32Array::from(&keys.0.rows_of(&common)[..]));
        Ok(object.into())
    }

    /// Lets the peer find out which of its keys are among these.
    #[wasm_bindgen(js_name = psiSend, unchecked_return_type = "PsiTold")]
    pub async fn psi_send(
        &self,
        keys: &Keys,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let (mut peer, options) = (self.begin(tell)?, read_options(&options)?);
        let done = peer.psi_send(&options, &keys.0, told).await;
        Ok(about(&self.done(peer, done)?).into())
    }

    /// Finds out which of these keys the peer also has, with its payload of `len` bytes for each.
    #[wasm_bindgen(js_name = joinReceive, unchecked_return_type = "JoinResult")]
    pub async fn join_receive(
        &self,
        keys: &Keys,
        len: usize,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let (mut peer, options) = (self.begin(tell)?, read_options(&options)?);
        let done = peer.join_receive(&options, &keys.0, len, told).await;
        let (found, told) = self.done(peer, done)?;
        let (object, matches) = (about(&told), Array::new());
        for (number, payload) in found {
            for row in keys.0.rows_of(&[number]) {
                let one = Object::new();
                set(&one, "row", row);
                set(&one, "payload", Uint8Array::from(&payload[..]));
                matches.push(&one);
            }
        }
        set(&object, "matches", matches);
        Ok(object.into())
    }

    /// Lets the peer find out which of its keys are among these, and read the payload of each match: `len` bytes a row.
    #[wasm_bindgen(js_name = joinSend, unchecked_return_type = "PsiTold")]
    pub async fn join_send(
        &self,
        keys: &Keys,
        payloads: Vec<u8>,
        len: usize,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let (mut peer, options) = (self.begin(tell)?, read_options(&options)?);
        let done = peer.join_send(&options, &keys.0, &payloads, len, told).await;
        Ok(about(&self.done(peer, done)?).into())
    }

    /// Makes `n` random OTs as the sender: 32 bytes each, the key for 0 and the key for 1.
    #[wasm_bindgen(js_name = rotSend)]
    pub async fn rot_send(&self, n: usize) -> Result<Uint8Array, JsValue> {
        let mut peer = self.begin(None)?;
        let done = peer.rot_send(n).await;
        let pairs = self.done(peer, done)?;
        Ok(Uint8Array::from(pairs.as_flattened().as_flattened()))
    }

    /// Makes `n` random OTs as the receiver: packed choice bits, least significant first, and keys of 16 bytes.
    #[wasm_bindgen(js_name = rotReceive, unchecked_return_type = "RandomOts")]
    pub async fn rot_receive(&self, n: usize) -> Result<JsValue, JsValue> {
        let mut peer = self.begin(None)?;
        let done = peer.rot_receive(n).await;
        let (choices, keys) = self.done(peer, done)?;
        let object = Object::new();
        set(&object, "choices", Uint8Array::from(&choices[..]));
        let keys: &[Block] = &keys;
        set(&object, "keys", Uint8Array::from(keys.as_flattened()));
        Ok(object.into())
    }

    /// Sends one message of each pair: the one that the receiver chooses.
    #[wasm_bindgen(js_name = otSend)]
    pub async fn ot_send(
        &self,
        #[wasm_bindgen(unchecked_param_type = "[Uint8Array, Uint8Array][]")] pairs: Array,
    ) -> Result<(), JsValue> {
        let pair = |it: JsValue| -> Result<[Vec<u8>; 2], JsValue> {
            let pair = Array::from(&it);
            Ok([0, 1].map(|i| Uint8Array::new(&pair.get(i)).to_vec()))
        };
        let messages = pairs.iter().map(pair).collect::<Result<Vec<_>, _>>()?;
        let mut peer = self.begin(None)?;
        let done = peer.ot_send(&messages).await;
        self.done(peer, done)
    }

    /// Receives a message of each pair: the first for `false`. One that does not open is null.
    #[wasm_bindgen(js_name = otReceive, unchecked_return_type = "(Uint8Array | null)[]")]
    pub async fn ot_receive(
        &self,
        #[wasm_bindgen(unchecked_param_type = "boolean[]")] choices: Array,
    ) -> Result<Array, JsValue> {
        let choices: Vec<_> = choices.iter().map(|it| it.is_truthy()).collect();
        let mut peer = self.begin(None)?;
        let done = peer.ot_receive(&choices).await;
        let messages = self.done(peer, done)?;
        let message = |it: &Option<_>| match it {
            Some(message) => {
                let message: &foxtrot_ot::transfers::Message = message;
                JsValue::from(Uint8Array::from(message.as_slice()))
            }
            None => JsValue::NULL,
        };
        Ok(messages.iter().map(message).collect())
    }
}

impl Session {
    fn take(&self) -> Result<peer::Peer<JsStream>, JsValue> {
        let peer = self.peer.borrow_mut().take();
        peer.ok_or_else(|| thrown("busy", "a job runs over this session, or one has failed"))
    }

    fn begin(&self, tell: Option<Function>) -> Result<peer::Peer<JsStream>, JsValue> {
        let peer = self.take()?;
        TELL.with(|it| *it.borrow_mut() = tell);
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
        let ended = self.pipe.borrow().ended.clone();
        let thrown = match (error, ended) {
            (Error::Channel(foxtrot_net::ChannelError::GivenUp(_)), _) => None,
            (Error::Channel(_), Some(why)) => Some(thrown(&why, &error.to_string())),
            _ => None,
        };
        let thrown = thrown.unwrap_or_else(|| self::thrown(code(error), &error.to_string()));
        if let Error::Hello(HelloError::Terms(all)) = error {
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

/// The different keys of a list.
#[wasm_bindgen]
pub struct Keys(peer::Keys);

#[wasm_bindgen]
impl Keys {
    /// Keys of strings, as they are; an empty one is no key.
    pub fn of(
        #[wasm_bindgen(unchecked_param_type = "string[]")] all: Array,
        normalize: Option<String>,
    ) -> Result<Keys, JsValue> {
        let normaliser = normaliser(&normalize.unwrap_or_default())?;
        let mut hasher = ItemHasher::new();
        let items = all.iter().map(|it| {
            let key = it.as_string().unwrap_or_default();
            hasher.item([normaliser.apply(key.into()).as_bytes()])
        });
        let keys = peer::Keys::of(all.length() as usize, items);
        Ok(Self(keys.map_err(|e| thrown("too-many-rows", &e.to_string()))?))
    }

    /// The number of different keys.
    #[wasm_bindgen(getter)]
    pub fn length(&self) -> usize {
        self.0.len()
    }

    /// The number of rows whose key an earlier row has.
    #[wasm_bindgen(getter)]
    pub fn duplicates(&self) -> usize {
        self.0.left_out()[0]
    }

    /// The number of rows without a key.
    #[wasm_bindgen(getter)]
    pub fn empty(&self) -> usize {
        self.0.left_out()[1]
    }
}

/// A file that is read piece by piece.
#[wasm_bindgen]
pub struct Table(table::Table);

#[wasm_bindgen]
impl Table {
    /// A file of which nothing has been read. Without a delimiter it has a key in each line.
    #[wasm_bindgen(constructor)]
    pub fn new(
        delimiter: String,
        header: bool,
        columns: Vec<usize>,
        normalisers: Vec<String>,
        sample: usize,
    ) -> Result<Table, JsValue> {
        let grammar = match delimiter.bytes().next() {
            Some(delimiter) => Grammar::Csv { delimiter },
            None => Grammar::Lines,
        };
        let all = normalisers.iter().map(|it| normaliser(it)).collect::<Result<Vec<_>, _>>()?;
        let plan = Plan { grammar, header: header && !delimiter.is_empty() };
        Ok(Self(table::Table::new(plan, columns, all, sample)))
    }

    /// Guesses the delimiter from a file's name and first bytes; none for lines.
    pub fn guess(name: &str, first: &[u8]) -> String {
        match Plan::guess(name, first).grammar {
            Grammar::Csv { delimiter } => char::from(delimiter).into(),
            Grammar::Lines => String::new(),
        }
    }

    /// Reads the next bytes.
    pub fn push(&mut self, bytes: &[u8]) -> Result<(), JsValue> {
        self.0.push(bytes).map_err(|e| faulty(&e))
    }

    /// Reads what is left.
    pub fn end(&mut self) -> Result<(), JsValue> {
        self.0.end().map_err(|e| faulty(&e))
    }

    /// The keys of all rows, once.
    #[wasm_bindgen(js_name = takeKeys)]
    pub fn take_keys(&mut self) -> Result<Keys, JsValue> {
        self.0.take_keys().map(Keys).map_err(|e| faulty(&e))
    }

    /// The columns' names.
    #[wasm_bindgen(getter)]
    pub fn names(&self) -> Vec<String> {
        self.0.names().to_vec()
    }

    /// The number of rows so far.
    #[wasm_bindgen(getter)]
    pub fn rows(&self) -> usize {
        self.0.rows()
    }

    /// The number of empty lines.
    #[wasm_bindgen(getter)]
    pub fn blank(&self) -> usize {
        self.0.blank()
    }

    /// The normalisation, as both sides compare it.
    #[wasm_bindgen(getter)]
    pub fn terms(&self) -> String {
        self.0.terms()
    }

    /// The bytes above the rows.
    #[wasm_bindgen(getter)]
    pub fn above(&self) -> Vec<u8> {
        self.0.above().to_vec()
    }

    /// The first keys, before and after they are normalised, their parts joined by a space.
    #[wasm_bindgen(unchecked_return_type = "[string, string][]")]
    pub fn sample(&self) -> Array {
        let joined = |both: &[Vec<String>; 2]| -> Array {
            both.iter().map(|parts| JsValue::from(parts.join(" "))).collect()
        };
        self.0.sample().iter().map(joined).collect()
    }

    /// Places and lengths of these rows in the file, one after the other.
    pub fn places(&self, rows: &[u32]) -> Vec<f64> {
        let place = |&row: &u32| self.0.place(row as usize).unwrap_or_default();
        rows.iter().map(place).flat_map(|(at, len)| [at as f64, f64::from(len)]).collect()
    }

    /// The fields of a row's bytes.
    pub fn fields(&self, row: &[u8]) -> Vec<String> {
        self.0.fields(row)
    }
}

/// Values that depend on the code of hashes, normalisers and protocols, for tests in another engine.
#[wasm_bindgen(js_name = itemOf)]
pub fn item_of(
    #[wasm_bindgen(unchecked_param_type = "string[]")] parts: Vec<String>,
    normalisers: Vec<String>,
) -> Result<Option<Vec<u8>>, JsValue> {
    let all = normalisers.iter().map(|it| normaliser(it)).collect::<Result<Vec<_>, _>>()?;
    let mut keyer = psi::keys::Keyer::new(all);
    Ok(keyer.item(parts.into_iter().map(Into::into)).map(|it| it.to_vec()))
}

/// Runs both sides of an intersection in memory with fixed seeds, and returns a hash of all messages: for tests. It is the
/// same on every machine.
#[wasm_bindgen(js_name = selfTest)]
pub fn self_test(n: u32) -> Result<String, JsValue> {
    peer::self_test(n).map_err(|e| thrown("other", &e))
}

fn told(Progress { done, of }: Progress) {
    TELL.with(|tell| {
        if let Some(tell) = &*tell.borrow() {
            // A listener that throws says nothing of the job.
            let _ = tell.call2(&JsValue::NULL, &(done as f64).into(), &(of as f64).into());
        }
    });
}

fn normaliser(text: &str) -> Result<Normaliser, JsValue> {
    let text = if text.is_empty() { "none" } else { text };
    text.parse().map_err(|why: String| thrown("normaliser", &why))
}

fn read_options(from: &JsOptions) -> Result<Options, JsValue> {
    let from: &JsValue = from.as_ref();
    let get = |key: &str| match from.is_object() {
        true => Reflect::get(from, &key.into()).ok().filter(|it| !it.is_undefined()),
        false => None,
    };
    let number = |key: &str| get(key).and_then(|it| it.as_f64()).map(|it| it as usize);
    let mut options = Options::default();
    let text = |key: &str| get(key).and_then(|it| it.as_string());
    match text("assumption").as_deref() {
        None | Some("symmetric") => {}
        Some("lpn") => options.psi = options.psi.assumption(Assumption::Lpn),
        Some(other) => return Err(thrown("option", &format!("no assumption is named {other}"))),
    }
    if get("semiHonest").is_some_and(|it| it.is_truthy()) {
        options.psi = options.psi.semi_honest();
    }
    options.most = number("mostKeys").unwrap_or(options.most);
    options.least = number("leastKeys").unwrap_or(options.least);
    options.normalize = text("normalize").unwrap_or(options.normalize);
    options.set = text("set");
    options.columns = get("columns")
        .filter(Array::is_array)
        .map(|it| Array::from(&it).iter().filter_map(|it| it.as_string()).collect());
    Ok(options)
}

fn about(told: &peer::Told) -> Object {
    let object = Object::new();
    set(&object, "peerKeys", told.keys as f64);
    set(&object, "peerColumns", told.details.get("key-columns").cloned());
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

fn faulty(fault: &Fault) -> JsValue {
    let error =
        thrown(fault.code, &format!("line {}: {} {}", fault.line, fault.code, fault.detail));
    set(error.unchecked_ref(), "line", fault.line as f64);
    set(error.unchecked_ref(), "detail", &fault.detail);
    error
}

foxtrot_ot::erase::redacted! {
    Session;
    Keys;
    Table;
}
