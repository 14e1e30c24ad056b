//! The line of those who wait: principals in turn, the connections of one in turn, and what
//! one connection wants in order (J. Nagle, *On packet switches with infinite storage*, IEEE
//! Transactions on Communications 35, 1987). So a client waits for one job of each other client,
//! however many jobs these have sent.
//!
//! Where there is no place left, the newest of the longest line gives way (B. Suter et al., *Design
//! considerations for supporting TCP with per-flow queueing*, INFOCOM 1998, "longest queue drop"):
//! whoever waits with few is never refused for the sake of one who waits with many.

use std::collections::VecDeque;

use crate::client::Client;
use crate::principal::Principal;

/// Items that wait, in lines by client.
#[derive(Debug)]
pub(super) struct FairQueue<T> {
    /// None is empty. The next turn is that of the first.
    principals: VecDeque<OfPrincipal<T>>,
    count: usize,
}

#[derive(Debug)]
struct OfPrincipal<T> {
    principal: Principal,
    /// None is empty. The next turn is that of the first.
    clients: VecDeque<OfClient<T>>,
    count: usize,
}

#[derive(Debug)]
struct OfClient<T> {
    client: Client,
    items: VecDeque<InLine<T>>,
}

#[derive(Debug)]
struct InLine<T> {
    ticket: u64,
    item: T,
    /// Whether it may be refused for somebody else's sake.
    gives_way: bool,
}

impl<T> Default for FairQueue<T> {
    fn default() -> Self {
        Self { principals: VecDeque::new(), count: 0 }
    }
}

impl<T> FairQueue<T> {
    /// How many wait.
    pub(super) fn count(&self) -> usize {
        self.count
    }

    /// How many of them are a principal's.
    pub(super) fn count_of(&self, principal: Principal) -> usize {
        let own = self.principals.iter().find(|line| line.principal == principal);
        own.map_or(0, |line| line.count)
    }

    /// Puts an item at the end of its client's line. No other has its ticket.
    pub(super) fn push(&mut self, client: Client, ticket: u64, item: T, gives_way: bool) {
        let principal = client.principal();
        let at = self.principals.iter().position(|line| line.principal == principal);
        let at = at.unwrap_or_else(|| {
            self.principals.push_back(OfPrincipal {
                principal,
                clients: VecDeque::new(),
                count: 0,
            });
            self.principals.len() - 1
        });
        let line = &mut self.principals[at];
        let of_client = line.clients.iter().position(|line| line.client == client);
        let of_client = of_client.unwrap_or_else(|| {
            line.clients.push_back(OfClient { client, items: VecDeque::new() });
            line.clients.len() - 1
        });
        line.clients[of_client].items.push_back(InLine { ticket, item, gives_way });
        line.count += 1;
        self.count += 1;
    }

    /// The next item in turn, and whose it is.
    pub(super) fn pop(&mut self) -> Option<(Client, T)> {
        let mut line = self.principals.pop_front()?;
        let mut own = line.clients.pop_front().expect("a line has a client");
        let entry = own.items.pop_front().expect("a client in line has an item");
        let client = own.client;
        line.count -= 1;
        self.count -= 1;
        if !own.items.is_empty() {
            line.clients.push_back(own);
        }
        if line.count > 0 {
            self.principals.push_back(line);
        }
        Some((client, entry.item))
    }

    /// Takes an item out of line, if it still waits.
    pub(super) fn remove(&mut self, client: Client, ticket: u64) -> Option<T> {
        let principal = client.principal();
        let line = self.principals.iter().position(|line| line.principal == principal)?;
        let clients = &self.principals[line].clients;
        let own = clients.iter().position(|line| line.client == client)?;
        let items = &clients[own].items;
        let at = items.iter().position(|entry| entry.ticket == ticket)?;
        Some(self.take(line, own, at))
    }

    /// The newest item of the longest line, if a newcomer of `client` waits with fewer: of the
    /// principal with most, or where that is the newcomer's own, of its connection with most.
    pub(super) fn evict_for(&mut self, client: Client) -> Option<T> {
        let (line, most) = longest(self.principals.iter().map(|line| line.count))?;
        let at = |line: &OfPrincipal<T>| line.principal == client.principal();
        let own = self.principals.iter().find(|line| at(line)).map_or(0, |line| line.count);
        let clients = &self.principals[line].clients;
        let (of_client, longest_of_client) = longest(clients.iter().map(|own| own.items.len()))?;
        let is_shorter = if at(&self.principals[line]) {
            let mine = clients.iter().find(|own| own.client == client);
            mine.map_or(0, |own| own.items.len()) + 1 < longest_of_client
        } else {
            own + 1 < most
        };
        let items = &clients[of_client].items;
        let newest = items.iter().rposition(|entry| entry.gives_way)?;
        is_shorter.then(|| self.take(line, of_client, newest))
    }

    fn take(&mut self, line: usize, own: usize, at: usize) -> T {
        let of_principal = &mut self.principals[line];
        let entry = of_principal.clients[own].items.remove(at).expect("it was found there");
        if of_principal.clients[own].items.is_empty() {
            of_principal.clients.remove(own);
        }
        of_principal.count -= 1;
        if of_principal.count == 0 {
            self.principals.remove(line);
        }
        self.count -= 1;
        entry.item
    }
}

/// The place of the first of the largest, and how large it is.
fn longest(counts: impl Iterator<Item = usize>) -> Option<(usize, usize)> {
    counts.enumerate().reduce(|best, next| if next.1 > best.1 { next } else { best })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn client(text: &str) -> Client {
        Client::at(text.parse().unwrap())
    }

    #[test]
    fn principals_have_turns_and_their_connections_within_these() {
        let mut line = FairQueue::default();
        let (a, b, c) = (client("10.0.0.1:1"), client("10.0.0.1:2"), client("10.0.0.2:1"));
        for (ticket, client) in [a, a, a, b, c, c].into_iter().enumerate() {
            line.push(client, ticket as u64, ticket, true);
        }
        let served: Vec<usize> = std::iter::from_fn(|| line.pop().map(|(_, item)| item)).collect();
        assert_eq!(served, [0, 4, 3, 5, 1, 2]);
        assert_eq!(line.count(), 0);
    }

    #[test]
    fn the_newest_of_the_longest_line_gives_way_to_whoever_has_fewer() {
        let mut line = FairQueue::default();
        let (a, b, c) = (client("10.0.0.1:1"), client("10.0.0.1:2"), client("10.0.0.2:1"));
        for ticket in 0..4 {
            line.push(a, ticket, ticket, ticket < 3);
        }
        // The fourth does not give way.
        assert_eq!(line.evict_for(c), Some(2));
        assert_eq!(line.evict_for(a), None);
        assert_eq!(line.evict_for(b), Some(1));
        line.push(c, 7, 7, true);
        assert_eq!((line.evict_for(c), line.count()), (None, 3));
        assert_eq!((line.remove(c, 7), line.remove(c, 7)), (Some(7), None));
        assert_eq!((line.remove(a, 0), line.remove(a, 3), line.count()), (Some(0), Some(3), 0));
        assert_eq!(line.evict_for(c), None);
    }
}
