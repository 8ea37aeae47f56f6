//! All jobs but those of the page's usual run, in a module of WebAssembly that fewer load.

use foxtrot_net::hello::Role;
use foxtrot_ot::base::Block;
use foxtrot_psi::circuit::Outcome;
use js_sys::{Array, Function, Object, Uint8Array};
use wasm_bindgen::prelude::*;

use super::{JsOptions, Session, about, found_rows, number, read_options, set, thrown, told};
use crate::{
    js::Keys,
    peer::{self, Counting},
};

#[wasm_bindgen]
impl Session {
    /// Lets the peer find out which of its keys are among these.
    #[wasm_bindgen(js_name = psiSend, unchecked_return_type = "PsiTold")]
    pub async fn psi_send(
        &self,
        keys: &Keys,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let (mut peer, options) = (self.begin(tell)?, read_options(&options)?);
        let done = peer.psi_send(&options, &keys.0, &mut told).await;
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
        let done = peer.join_receive(&options, &keys.0, len, &mut told).await;
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
        let done = peer.join_send(&options, &keys.0, &payloads, len, &mut told).await;
        Ok(about(&self.done(peer, done)?).into())
    }

    /// Lets the peer find out which of its keys are among these, and finds out which they are.
    #[wasm_bindgen(js_name = psiSendBoth, unchecked_return_type = "PsiResult")]
    pub async fn psi_send_both(
        &self,
        keys: &Keys,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let (mut peer, options) = (self.begin(tell)?, read_options(&options)?);
        let done = peer.send_both(&options, &keys.0, &mut told).await;
        let (common, told) = self.done(peer, done)?;
        Ok(found_rows(&keys.0, &common, &told).into())
    }

    /// Counts common keys as the receiver or the sender of the protocol; both learn the same.
    #[wasm_bindgen(js_name = psiCount, unchecked_return_type = "CountResult")]
    pub async fn psi_count(
        &self,
        keys: &Keys,
        sends: bool,
        options: JsOptions,
    ) -> Result<JsValue, JsValue> {
        let counting = Counting {
            at_least: number(&options, "minCount").unwrap_or(0.0) as u64,
            largest: number(&options, "largest").map(|it| it as u64),
        };
        let role = if sends { Role::Sender } else { Role::Receiver };
        let (mut peer, options) = (self.begin(None)?, read_options(&options)?);
        let done = peer.count(&options, role, &keys.0, counting).await;
        let (outcome, told) = self.done(peer, done)?;
        let object = about(&told);
        if let Outcome::Released { count, sum } = outcome {
            set(&object, "count", count as f64);
            // A sum may be larger than the numbers of JavaScript.
            set(&object, "sum", sum.map(|it| it.to_string()));
        }
        Ok(object.into())
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
                let message: &foxtrot_ot::convert::Message = message;
                JsValue::from(Uint8Array::from(message.as_slice()))
            }
            None => JsValue::NULL,
        };
        Ok(messages.iter().map(message).collect())
    }
}

/// Runs both sides of an intersection in memory with fixed seeds, and returns a hash of all messages: for tests. It is the
/// same on every machine.
#[wasm_bindgen(js_name = selfTest)]
pub fn self_test(n: u32) -> Result<String, JsValue> {
    peer::self_test(n).map_err(|e| thrown("other", &e))
}
