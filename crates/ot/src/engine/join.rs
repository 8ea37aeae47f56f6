//! Two protocols side by side on one connection.

use core::{
    future::{Future, poll_fn},
    pin::pin,
    task::Poll,
};

/// Runs both to their ends, each whenever it can go on; ends with the first error of either.
///
/// # Errors
/// The error of the one that fails; the other one is dropped then.
pub async fn join<A, B, E>(
    first: impl Future<Output = Result<A, E>>,
    second: impl Future<Output = Result<B, E>>,
) -> Result<(A, B), E> {
    let (mut first, mut second) = (pin!(first), pin!(second));
    let (mut a, mut b) = (None, None);
    poll_fn(move |context| {
        if a.is_none()
            && let Poll::Ready(ended) = first.as_mut().poll(context)
        {
            match ended {
                Ok(out) => a = Some(out),
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
        if b.is_none()
            && let Poll::Ready(ended) = second.as_mut().poll(context)
        {
            match ended {
                Ok(out) => b = Some(out),
                Err(e) => return Poll::Ready(Err(e)),
            }
        }
        match (a.take(), b.take()) {
            (Some(a), Some(b)) => Poll::Ready(Ok((a, b))),
            (one, other) => {
                (a, b) = (one, other);
                Poll::Pending
            }
        }
    })
    .await
}
