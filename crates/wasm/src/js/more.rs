//! All jobs but those of the page's usual run, in a module of WebAssembly that fewer load.

use foxtrot::{
    Block,
    job::Role,
    ot,
    psi::{
        Function::{Both, Count, Intersection, Join, Sum},
        Outcome,
        agreement::PsiTerms,
        keys::Told,
        run::{Beside, Found, Payloads, Set},
    },
    rot,
};
use js_sys::{Array, Function, Object, Uint8Array};
use wasm_bindgen::prelude::*;

use super::{JsOptions, Session, about, found_rows, number, read_options, set, thrown};
use crate::{js::Keys, peer};

impl Session {
    /// Negotiates on these terms, and compares this set.
    async fn compare(
        &self,
        terms: PsiTerms,
        set: impl Set,
        tell: Option<Function>,
    ) -> Result<(Found, Told), JsValue> {
        let mut peer = self.begin(tell)?;
        let done = terms.compare(&mut peer, set).await;
        self.done(peer, done)
    }
}

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
        let terms = read_options(&options)?.terms(Role::Sender, Intersection, &keys.0);
        let (_, told) = self.compare(terms, peer::copy(&keys.0), tell).await?;
        Ok(about(&told).into())
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
        let terms = read_options(&options)?.terms(Role::Receiver, Join, &keys.0);
        let terms = PsiTerms { payload: Some(len), ..terms };
        let (found, told) = self.compare(terms, peer::copy(&keys.0), tell).await?;
        let (object, matches) = (about(&told), Array::new());
        for (number, payload) in found.payloads {
            for row in keys.0.indices(&[number]) {
                let one = Object::new();
                set(&one, "row", row as f64);
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
        let terms = read_options(&options)?.terms(Role::Sender, Join, &keys.0);
        let terms = PsiTerms { payload: Some(len), ..terms };
        let payloads = peer::firsts(&keys.0, &payloads, len).map_err(|e| self.error(&e.into()))?;
        let set = Beside { items: peer::copy(&keys.0), beside: Payloads(payloads, len) };
        Ok(about(&self.compare(terms, set, tell).await?.1).into())
    }

    /// Lets the peer find out which of its keys are among these, and finds out which they are.
    #[wasm_bindgen(js_name = psiSendBoth, unchecked_return_type = "PsiResult")]
    pub async fn psi_send_both(
        &self,
        keys: &Keys,
        options: JsOptions,
        tell: Option<Function>,
    ) -> Result<JsValue, JsValue> {
        let terms = read_options(&options)?.terms(Role::Sender, Both, &keys.0);
        let (found, told) = self.compare(terms, peer::copy(&keys.0), tell).await?;
        Ok(found_rows(&keys.0, &found.first(), &told).into())
    }

    /// Counts common keys as the receiver or the sender of the protocol; both learn the same.
    #[wasm_bindgen(js_name = psiCount, unchecked_return_type = "CountResult")]
    pub async fn psi_count(
        &self,
        keys: &Keys,
        sends: bool,
        options: JsOptions,
    ) -> Result<JsValue, JsValue> {
        let min_count = number(&options, "minCount").unwrap_or(0.0) as u64;
        let largest = number(&options, "largest").map(|it| it as u64);
        let (role, function) = (
            if sends { Role::Sender } else { Role::Receiver },
            if largest.is_some() { Sum } else { Count },
        );
        let terms = read_options(&options)?.terms(role, function, &keys.0);
        let terms = PsiTerms { min_count, largest, ..terms };
        let (found, told) = self.compare(terms, peer::copy(&keys.0), None).await?;
        let object = about(&told);
        if let Some(Outcome::Released { count, sum }) = found.outcome {
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
        let done = rot::send(&mut peer, n).await;
        let pairs = self.done(peer, done)?;
        Ok(Uint8Array::from(pairs.as_flattened().as_flattened()))
    }

    /// Makes `n` random OTs as the receiver: packed choice bits, least significant first, and keys of 16 bytes.
    #[wasm_bindgen(js_name = rotReceive, unchecked_return_type = "RandomOts")]
    pub async fn rot_receive(&self, n: usize) -> Result<JsValue, JsValue> {
        let mut peer = self.begin(None)?;
        let done = rot::receive(&mut peer, n).await;
        let (choices, keys) = self.done(peer, done)?;
        let object = Object::new();
        set(&object, "choices", Uint8Array::from(choices.as_bytes()));
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
        let done = ot::send(&mut peer, &messages).await;
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
        let done = ot::receive(&mut peer, &choices).await;
        let messages = self.done(peer, done)?;
        let message =
            |it: Option<&[u8]>| it.map_or(JsValue::NULL, |it| Uint8Array::from(it).into());
        Ok(messages.iter().map(message).collect())
    }
}

/// Runs both sides of an intersection in memory with fixed seeds, and returns a hash of all messages: for tests. It is the
/// same on every machine.
#[wasm_bindgen(js_name = selfTest)]
pub fn self_test(n: u32) -> Result<String, JsValue> {
    peer::self_test(n).map_err(|e| thrown("other", &e))
}
