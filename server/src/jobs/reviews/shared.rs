//! The parts of a server's reviews that keepers share: the store, other servers, and who keeps
//! which session.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use tokio::sync::mpsc;

use super::message::Message;
use super::notice::{NoticeKind, Notices};
use crate::jobs::nats::Address;
use crate::people::audit::Audit;
use crate::store::{self, Store, StoreError};

/// State that keepers share.
#[derive(Debug)]
pub(super) struct Shared {
    pub(super) store: Arc<store::Lazy>,
    pub(super) notices: Notices,
    /// Audit log for decisions.
    pub(super) audit: OnceLock<Arc<Audit>>,
    mailboxes: Mutex<HashMap<Arc<str>, mpsc::Sender<Message>>>,
}

impl Shared {
    pub(super) fn new(store: Arc<store::Lazy>, nats: Option<Address>) -> Self {
        let (audit, mailboxes) = Default::default();
        Self { store, notices: Notices::new(nats), audit, mailboxes }
    }

    pub(super) fn store(&self) -> Result<Store, StoreError> {
        self.store.open()
    }

    /// Sessions that have a keeper.
    pub(super) fn open(&self) -> usize {
        self.mailboxes().len()
    }

    fn mailboxes(&self) -> MutexGuard<'_, HashMap<Arc<str>, mpsc::Sender<Message>>> {
        self.mailboxes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The mailbox of a session's keeper; `start` gives it one where there is none.
    pub(super) fn mailbox(
        self: &Arc<Self>,
        review: &str,
        start: impl FnOnce(Arc<str>) -> mpsc::Sender<Message>,
    ) -> mpsc::Sender<Message> {
        let this = Arc::downgrade(self);
        self.notices.listen(move |review, notice| {
            if let Some(this) = this.upgrade() {
                this.take_notice(review, notice);
            }
        });
        let mut mailboxes = self.mailboxes();
        if let Some(mailbox) = mailboxes.get(review)
            && !mailbox.is_closed()
        {
            return mailbox.clone();
        }
        let review: Arc<str> = review.into();
        let mailbox = start(Arc::clone(&review));
        mailboxes.insert(review, mailbox.clone());
        mailbox
    }

    /// Removes the mailbox of a keeper that leaves.
    pub(super) fn forget(&self, review: &str, mailbox: &mut mpsc::Receiver<Message>) {
        let mut mailboxes = self.mailboxes();
        mailboxes.remove(review);
        // Nobody gets this mailbox any more, and whoever has it finds it closed.
        mailbox.close();
    }

    /// Takes a notice of another server: it matters to those who have the session open.
    fn take_notice(&self, review: &str, notice: NoticeKind) {
        if let Some(mailbox) = self.mailboxes().get(review) {
            // A keeper with a full mailbox finds events in the store anyway.
            let _ = mailbox.try_send(Message::Notice(notice));
        }
    }
}
