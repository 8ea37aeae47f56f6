//! Two protocols side by side on one connection.

use core::{
    future::{Future, poll_fn},
    pin::{Pin, pin},
    task::{Context, Poll},
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
        go_on(&mut a, first.as_mut(), context)?;
        go_on(&mut b, second.as_mut(), context)?;
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

/// Continues a protocol that has no output yet.
fn go_on<Out, E>(
    out: &mut Option<Out>,
    run: Pin<&mut impl Future<Output = Result<Out, E>>>,
    context: &mut Context<'_>,
) -> Result<(), E> {
    if out.is_none()
        && let Poll::Ready(ended) = run.poll(context)
    {
        *out = Some(ended?);
    }
    Ok(())
}
