//! Beaver's multiplication in a small MPC engine: two parties multiply secret numbers with triples.
#![allow(clippy::panic_in_result_fn, clippy::unwrap_used, reason = "an example checks itself")]

use std::thread;

use foxtrot::{Error, Peer, triples};

/// A party of the engine: its shares of some numbers x and y, and its triples.
struct Party {
    x: Vec<u64>,
    y: Vec<u64>,
    triples: triples::Triples<u64>,
}

/// Shares of x − a and y − b, which the parties open to each other.
type Opened = Vec<[u64; 2]>;

impl Party {
    /// Makes the triples with the peer.
    fn new(peer: &mut Peer, x: Vec<u64>, y: Vec<u64>) -> Result<Self, Error> {
        let triples = triples::generate(peer, x.len())?;
        Ok(Self { x, y, triples })
    }

    fn open(&self) -> Opened {
        let mask = |i: usize| {
            let [a, b, _] = self.triples.get(i);
            [self.x[i].wrapping_sub(a), self.y[i].wrapping_sub(b)]
        };
        (0..self.x.len()).map(mask).collect()
    }

    /// Shares of all x·y. One of the two parties adds the product of what was opened.
    fn multiply(&self, ours: &Opened, peers: &Opened, adds: bool) -> Vec<u64> {
        let share = |i: usize| {
            let [d, e] = [0, 1].map(|part| ours[i][part].wrapping_add(peers[i][part]));
            let [a, b, c] = self.triples.get(i);
            let both = if adds { d.wrapping_mul(e) } else { 0 };
            c.wrapping_add(d.wrapping_mul(b)).wrapping_add(e.wrapping_mul(a)).wrapping_add(both)
        };
        (0..self.x.len()).map(share).collect()
    }
}

fn main() -> Result<(), Error> {
    // Shares of x = (6, 7) and of y = (7, 8): the sums of both parties' parts.
    let (mut ours, mut theirs) = Peer::pair();
    let other = thread::spawn(move || Party::new(&mut theirs, vec![2, 3], vec![5, 5]));
    let one = Party::new(&mut ours, vec![4, 4], vec![2, 3])?;
    let other = other.join().expect("no panic")?;

    // A real engine sends this over its own connection.
    let opened = [one.open(), other.open()];
    let products =
        [one.multiply(&opened[0], &opened[1], true), other.multiply(&opened[1], &opened[0], false)];
    for (i, expected) in [6 * 7, 7 * 8].into_iter().enumerate() {
        let product = products[0][i].wrapping_add(products[1][i]);
        println!("product {i}: {product}");
        assert_eq!(product, expected);
    }
    Ok(())
}

#[test]
fn runs() {
    main().unwrap();
}
