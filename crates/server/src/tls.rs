//! The server's side of TLS; reloads changed certificate files.

use std::fs;
use std::io;
use std::sync::{Arc, Mutex, PoisonError};

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::ServerError;
use crate::settings::TlsFiles;
use crate::tokens::{Stamp, stamp};

/// The ALPN name of version 2 of HTTP.
pub(crate) const HTTP2: &[u8] = b"h2";
/// ALPN names for HTTP clients.
pub(crate) const HTTP: [&[u8]; 2] = [HTTP2, b"http/1.1"];

/// Accepts TLS connections with the files' current certificate.
pub(crate) struct Tls {
    files: TlsFiles,
    protocols: &'static [&'static [u8]],
    current: Mutex<Current>,
}

struct Current {
    /// Stamps of the files read last, usable or not.
    stamps: Option<[Stamp; 2]>,
    acceptor: TlsAcceptor,
}

impl Tls {
    /// Reads the files; `protocols` are the ALPN names.
    pub(crate) fn open(files: TlsFiles, protocols: &'static [&'static [u8]]) -> Result<Self, ServerError> {
        let stamps = stamps(&files).ok();
        let acceptor = acceptor(&files, protocols)?;
        Ok(Self { files, protocols, current: Mutex::new(Current { stamps, acceptor }) })
    }

    /// The acceptor for the next connection. If changed files are unusable, it keeps the old certificate.
    pub(crate) fn acceptor(&self) -> TlsAcceptor {
        let now = stamps(&self.files);
        let mut current = self.current.lock().unwrap_or_else(PoisonError::into_inner);
        let now = now.inspect_err(|error| tracing::debug!(%error, "cannot check the certificate files")).ok();
        if now != current.stamps {
            current.stamps = now;
            match acceptor(&self.files, self.protocols) {
                Ok(acceptor) => {
                    tracing::info!(path = %self.files.certificate.display(), "reloaded the certificate");
                    current.acceptor = acceptor;
                }
                Err(error) => tracing::error!(%error, "cannot use the changed certificate: keeping the old one"),
            }
        }
        current.acceptor.clone()
    }
}

fn stamps(files: &TlsFiles) -> io::Result<[Stamp; 2]> {
    Ok([stamp(&fs::metadata(&files.certificate)?), stamp(&fs::metadata(&files.key)?)])
}

fn acceptor(files: &TlsFiles, protocols: &[&[u8]]) -> Result<TlsAcceptor, ServerError> {
    let of_certificate = |reason: String| ServerError::Tls { path: files.certificate.clone(), reason };
    let of_key = |reason: String| ServerError::Tls { path: files.key.clone(), reason };
    let chain = CertificateDer::pem_file_iter(&files.certificate).map_err(|e| of_certificate(e.to_string()))?;
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(|e| of_certificate(e.to_string()))?;
    if chain.is_empty() {
        return Err(of_certificate("holds no certificate in PEM".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|e| of_key(e.to_string()))?;
    // Name the provider, because other libraries in the program may add others.
    let config = ServerConfig::builder_with_provider(Arc::new(ring::default_provider()))
        .with_safe_default_protocol_versions()
        .map_err(|e| of_key(e.to_string()))?;
    let mut config = config
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .map_err(|e| of_key(format!("does not belong to {}: {e}", files.certificate.display())))?;
    config.alpn_protocols = protocols.iter().map(|name| name.to_vec()).collect();
    Ok(TlsAcceptor::from(Arc::new(config)))
}
