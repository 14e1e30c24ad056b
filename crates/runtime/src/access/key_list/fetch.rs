//! The list of keys at an address of the provider, asked for by one request: over TLS, or on this
//! machine; in so much time, with so many bytes, and from nowhere else than where it is said to be.

use std::error::Error;
use std::sync::mpsc;
use std::time::Duration;

use reqwest::redirect::Policy;
use reqwest::{Client, StatusCode, Url};
use tokio::runtime::Builder;

use crate::access::KeysError;

/// A request takes so long at most, with its answer.
const TIME: Duration = Duration::from_secs(5);

/// A list has so many bytes at most; those of large providers have some ten thousand.
const BYTES_MAX: usize = 1 << 20;

/// Where a provider has its list.
#[derive(Clone, Debug)]
pub(in crate::access) struct ListAddress {
    url: Url,
    time: Duration,
}

impl ListAddress {
    /// An address that begins with https, or with http on this machine.
    pub(in crate::access) fn parse(text: &str) -> Result<Self, KeysError> {
        // What stands in a bad address is told to the log, but never a password.
        let refused = |problem: String| KeysError::Address { url: bare(text), problem };
        let url = Url::parse(text).map_err(|error| refused(format!("is no address: {error}")))?;
        if !url.username().is_empty() || url.password().is_some() {
            return Err(refused("has a name or a password in it".to_owned()));
        }
        match url.scheme() {
            "https" => {}
            "http" if is_near(&url) => {}
            "http" => {
                let why = "says http, over which anybody could answer; https is taken, and http \
                           from 127.0.0.1, [::1] and localhost";
                return Err(refused(why.to_owned()));
            }
            other => return Err(refused(format!("says {other}, and https is taken"))),
        }
        Ok(Self { url, time: TIME })
    }

    /// Requests take no longer than this.
    #[cfg(test)]
    pub(in crate::access) fn within(self, time: Duration) -> Self {
        Self { time, ..self }
    }

    /// Asks for the list. What speaks to the provider runs on a thread that is started for it:
    /// whoever waits may be a thread of the server's runtime, or have none.
    pub(in crate::access) fn fetch(&self) -> Result<String, KeysError> {
        let failed = |problem: String| KeysError::Address { url: self.url.to_string(), problem };
        let runtime = Builder::new_multi_thread()
            .worker_threads(1)
            .thread_name("clearance-jwks")
            .enable_all()
            .build()
            .map_err(|error| failed(error.to_string()))?;
        let (tell, told) = mpsc::sync_channel(1);
        let asked = self.clone();
        runtime.spawn(async move {
            let answer = tokio::time::timeout(asked.time, asked.ask()).await;
            // Whoever waited may have gone.
            let _ = tell.send(answer.unwrap_or_else(|_| Err("takes too long".to_owned())));
        });
        // It may take a moment to have its roots read, which nobody can interrupt.
        let answer = told.recv_timeout(2 * self.time);
        runtime.shutdown_background();
        answer.unwrap_or_else(|_| Err("takes too long".to_owned())).map_err(failed)
    }

    async fn ask(&self) -> Result<String, String> {
        // There is one provider of cryptography in this binary; it may be set already.
        let _ = rustls::crypto::ring::default_provider().install_default();
        let client = Client::builder().redirect(Policy::none()).http1_only();
        let client = if is_near(&self.url) { client.no_proxy() } else { client };
        let client = client.build().map_err(said)?;
        let mut answer = client.get(self.url.clone()).send().await.map_err(said)?;
        match answer.status() {
            StatusCode::OK => {}
            status if status.is_redirection() => {
                return Err(format!("answers {status}: name the address where the list is"));
            }
            status => return Err(format!("answers {status}")),
        }
        let mut bytes = Vec::new();
        while let Some(some) = answer.chunk().await.map_err(said)? {
            if bytes.len() + some.len() > BYTES_MAX {
                return Err(format!("answers more than {BYTES_MAX} bytes"));
            }
            bytes.extend(some);
        }
        String::from_utf8(bytes).map_err(|_| "answers what is no text".to_owned())
    }
}

/// Whether an address is one of this machine, which nobody else can answer for.
fn is_near(url: &Url) -> bool {
    match url.host_str() {
        Some("localhost" | "[::1]") => true,
        Some(host) => host.parse().is_ok_and(|host: std::net::Ipv4Addr| host.is_loopback()),
        None => false,
    }
}

/// An address without what may be a password, as short as it makes sense.
fn bare(text: &str) -> String {
    const LETTERS_MAX: usize = 200;
    let (scheme, rest) = text.split_once("://").unwrap_or(("", text));
    let end = rest.find(['/', '?', '#']).unwrap_or(rest.len());
    let host = rest[..end].rsplit('@').next().unwrap_or_default();
    format!("{scheme}://{host}{}", &rest[end..]).chars().take(LETTERS_MAX).collect()
}

/// An error with what it comes from; its address is told beside it.
fn said(error: reqwest::Error) -> String {
    const LETTERS_MAX: usize = 400;
    let error = error.without_url();
    let mut text = format!("does not answer: {error}");
    let mut source = error.source();
    while let Some(error) = source {
        text = format!("{text}: {error}");
        source = error.source();
    }
    text.chars().take(LETTERS_MAX).collect()
}
