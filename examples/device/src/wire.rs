//! Bytes, records and frames.

use alloc::{rc::Rc, vec, vec::Vec};
use core::{cell::RefCell, future::poll_fn, task::Poll};

use foxtrot_ot::line::{HEAD_LEN, Line, MOST, OVERHEAD, Opener};

use crate::{BYTES_PER_STEP, Board, Fault};

/// The bytes of a record.
const RECORD: usize = MOST + OVERHEAD;

/// The line's end at the board: one record each way at most.
pub(crate) struct Port {
    incoming: [u8; RECORD],
    have: usize,
    want: usize,
    outgoing: [u8; RECORD],
    at: usize,
    end: usize,
    /// The run has more to do at once.
    works: bool,
    pub(crate) in_session: bool,
    pub(crate) silence: bool,
}

impl Port {
    pub(crate) const fn new() -> Self {
        Self {
            incoming: [0; RECORD],
            have: 0,
            want: 0,
            outgoing: [0; RECORD],
            at: 0,
            end: 0,
            works: true,
            in_session: false,
            silence: false,
        }
    }

    /// Moves some bytes each way; returns their number.
    pub(crate) fn exchange(&mut self, board: &mut impl Board) -> usize {
        let mut moved = 0;
        for _ in 0..BYTES_PER_STEP {
            if self.have >= self.want {
                break;
            }
            let Some(byte) = board.receive() else { break };
            self.incoming[self.have] = byte;
            self.have += 1;
            moved += 1;
        }
        for _ in 0..BYTES_PER_STEP {
            if self.at == self.end || !board.send(self.outgoing[self.at]) {
                break;
            }
            self.at += 1;
            moved += 1;
        }
        moved
    }

    /// Returns true if the run can go on.
    pub(crate) fn is_due(&self) -> bool {
        self.works || self.silence || self.have >= self.want && self.at == self.end
    }
}

/// Ends a step: the run goes on in the next.
pub(crate) async fn pause(port: &RefCell<Port>) {
    let mut paused = false;
    poll_fn(|_| {
        if paused {
            port.borrow_mut().works = false;
            return Poll::Ready(());
        }
        paused = true;
        port.borrow_mut().works = true;
        Poll::Pending
    })
    .await;
}

/// Waits until so many bytes have come and all ours have gone.
pub(crate) async fn settle(port: &RefCell<Port>, want: usize) -> Result<(), Fault> {
    {
        let mut port = port.borrow_mut();
        (port.want, port.works) = (want, false);
    }
    poll_fn(|_| {
        let mut port = port.borrow_mut();
        if core::mem::take(&mut port.silence) {
            (port.at, port.end) = (0, 0);
            return Poll::Ready(Err(Fault::Silence));
        }
        match port.have >= port.want && port.at == port.end {
            true => Poll::Ready(Ok(())),
            false => Poll::Pending,
        }
    })
    .await
}

/// Receives exactly N bytes that are in no record.
pub(crate) async fn receive<const N: usize>(port: &RefCell<Port>) -> Result<[u8; N], Fault> {
    settle(port, N).await?;
    let mut port = port.borrow_mut();
    let bytes = core::array::from_fn(|k| port.incoming[k]);
    (port.have, port.want) = (0, 0);
    Ok(bytes)
}

/// Puts out bytes that are in no record.
pub(crate) fn put(port: &RefCell<Port>, bytes: &[u8]) {
    let mut port = port.borrow_mut();
    port.outgoing[..bytes.len()].copy_from_slice(bytes);
    (port.at, port.end) = (0, bytes.len());
}

/// Frames over the records of a line.
pub(crate) struct Wire {
    pub(crate) port: Rc<RefCell<Port>>,
    line: Line,
    /// The text of the record that came last, not taken yet, within the port.
    next: usize,
    end: usize,
}

/// Bytes of a frame's head.
const FRAME_HEAD: usize = 5;

/// The lane of hello, reasons and closing.
pub(crate) const HELLO: u8 = 0;
/// The lane of the protocol.
pub(crate) const PROTOCOL: u8 = 1;

impl Wire {
    pub(crate) fn new(port: Rc<RefCell<Port>>, line: Line) -> Self {
        Self { port, line, next: 0, end: 0 }
    }

    pub(crate) fn exporter(&self) -> &[u8; 32] {
        &self.line.exporter
    }

    /// Waits for the next record and opens it.
    async fn fill(&mut self) -> Result<(), Fault> {
        self.port.borrow_mut().have = 0;
        settle(&self.port, HEAD_LEN).await?;
        let head = core::array::from_fn(|k| self.port.borrow().incoming[k]);
        let len = Opener::record_len(head)?;
        settle(&self.port, len).await?;
        {
            let mut port = self.port.borrow_mut();
            let text = self.line.opener.open(&mut port.incoming[..len])?;
            (self.next, self.end) = (HEAD_LEN, HEAD_LEN + text.len());
            if text.is_empty() {
                return Err(Fault::Ended);
            }
        }
        pause(&self.port).await;
        Ok(())
    }

    async fn read(&mut self, mut to: &mut [u8]) -> Result<(), Fault> {
        while !to.is_empty() {
            if self.next == self.end {
                self.fill().await?;
            }
            let len = to.len().min(self.end - self.next);
            let (now, later) = to.split_at_mut(len);
            now.copy_from_slice(&self.port.borrow().incoming[self.next..self.next + len]);
            self.next += len;
            to = later;
        }
        Ok(())
    }

    /// The next frame, which is on that lane and has a length in the range.
    pub(crate) async fn frame(&mut self, lane: u8, lens: [usize; 2]) -> Result<Vec<u8>, Fault> {
        let mut head = [0; FRAME_HEAD];
        self.read(&mut head).await?;
        let [a, b, c, d, on] = head;
        let len = usize::try_from(u32::from_le_bytes([a, b, c, d])).unwrap_or(usize::MAX);
        if on == HELLO && len == 1 && (lane != HELLO || lens[0] > 1) {
            let mut reason = [0];
            self.read(&mut reason).await?;
            return Err(Fault::GaveUp(reason[0]));
        }
        if on != lane || !(lens[0]..=lens[1]).contains(&len) {
            return Err(Fault::Frame);
        }
        let mut payload = vec![0; len];
        self.read(&mut payload).await?;
        Ok(payload)
    }

    /// Sends a frame; returns when the line has taken it.
    pub(crate) async fn send(&mut self, lane: u8, payload: &[u8]) -> Result<(), Fault> {
        let [a, b, c, d] = u32::try_from(payload.len()).map_err(|_| Fault::Job)?.to_le_bytes();
        let head = [a, b, c, d, lane];
        let mut at = 0;
        let total = FRAME_HEAD + payload.len();
        while at < total {
            let len = MOST.min(total - at);
            {
                let mut port = self.port.borrow_mut();
                let port = &mut *port;
                let text = &mut port.outgoing[HEAD_LEN..HEAD_LEN + len];
                // The head is whole in the first record.
                let heads = if at == 0 { FRAME_HEAD } else { 0 };
                text[..heads].copy_from_slice(&head[..heads]);
                let from = at + heads - FRAME_HEAD;
                text[heads..].copy_from_slice(&payload[from..from + len - heads]);
                port.end = self.line.sealer.seal_in_place(len, &mut port.outgoing);
                port.at = 0;
            }
            at += len;
            self.taken().await?;
        }
        Ok(())
    }

    /// Says that no more records come.
    pub(crate) async fn close(&mut self) -> Result<(), Fault> {
        {
            let mut port = self.port.borrow_mut();
            let port = &mut *port;
            port.end = self.line.sealer.seal_in_place(0, &mut port.outgoing);
            port.at = 0;
        }
        self.taken().await
    }

    /// Waits until the line has taken what is put out. What comes meanwhile waits in the board.
    async fn taken(&mut self) -> Result<(), Fault> {
        let have = self.port.borrow().have;
        settle(&self.port, have).await
    }
}
