//! The server's side of TLS, over certificates from files.

use std::sync::Arc;

use tokio_rustls::TlsAcceptor;
use tokio_rustls::rustls::ServerConfig;
use tokio_rustls::rustls::crypto::ring;
use tokio_rustls::rustls::pki_types::pem::PemObject as _;
use tokio_rustls::rustls::pki_types::{CertificateDer, PrivateKeyDer};

use crate::error::ServerError;
use crate::settings::TlsFiles;

/// Protocols that clients of HTTP can choose from.
pub(crate) const HTTP: [&[u8]; 2] = [b"h2", b"http/1.1"];

/// Reads the files; clients can choose from `protocols`.
pub(crate) fn acceptor(files: &TlsFiles, protocols: &[&[u8]]) -> Result<TlsAcceptor, ServerError> {
    let of_certificate = |reason: String| ServerError::Tls { path: files.certificate.clone(), reason };
    let of_key = |reason: String| ServerError::Tls { path: files.key.clone(), reason };
    let chain = CertificateDer::pem_file_iter(&files.certificate).map_err(|e| of_certificate(e.to_string()))?;
    let chain = chain.collect::<Result<Vec<_>, _>>().map_err(|e| of_certificate(e.to_string()))?;
    if chain.is_empty() {
        return Err(of_certificate("holds no certificate in PEM".to_owned()));
    }
    let key = PrivateKeyDer::from_pem_file(&files.key).map_err(|e| of_key(e.to_string()))?;
    // The provider is named since other libraries in the program may bring others.
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
