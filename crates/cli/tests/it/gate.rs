//! A proxy to a service that can cut connections, or make them fall silent.

use std::net::{Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread;

/// A connection through the gate.
struct Passing {
    near: TcpStream,
    far: TcpStream,
    /// Whether the client's end stays open after the service's end is closed.
    is_silent: Arc<AtomicBool>,
}

pub(crate) struct Gate {
    pub(crate) address: SocketAddr,
    /// `None` if the gate rejects connections.
    passing: Arc<Mutex<Option<Vec<Passing>>>>,
}

impl Gate {
    /// A gate in front of the service at an address.
    pub(crate) fn before(service: &str) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let (address, service) = (listener.local_addr().unwrap(), service.to_owned());
        let passing = Arc::new(Mutex::new(Some(Vec::new())));
        let gate = passing.clone();
        thread::spawn(move || {
            for near in listener.incoming().map(Result::unwrap) {
                if let Some(open) = &mut *gate.lock().unwrap() {
                    open.push(Passing::through(near, TcpStream::connect(&service).unwrap()));
                }
            }
        });
        Self { address, passing }
    }

    /// Cuts all connections, and rejects new ones.
    pub(crate) fn shut(&self) {
        for Passing { near, far, .. } in self.passing.lock().unwrap().take().into_iter().flatten() {
            [near, far].iter().for_each(|stream| drop(stream.shutdown(Shutdown::Both)));
        }
    }

    pub(crate) fn open(&self) {
        *self.passing.lock().unwrap() = Some(Vec::new());
    }

    /// Breaks the existing connections without a sign, as if a machine vanished: the service sees them end, and clients
    /// see no change. New connections work.
    pub(crate) fn fall_silent(&self) {
        for Passing { far, is_silent, .. } in self.passing.lock().unwrap().iter().flatten() {
            is_silent.store(true, Ordering::SeqCst);
            drop(far.shutdown(Shutdown::Both));
        }
    }
}

impl Passing {
    fn through(near: TcpStream, far: TcpStream) -> Self {
        let is_silent = Arc::new(AtomicBool::new(false));
        for (from, to) in [(&near, &far), (&far, &near)] {
            let (mut from, mut to, is_silent) = (from.try_clone().unwrap(), to.try_clone().unwrap(), is_silent.clone());
            thread::spawn(move || {
                // Either may be cut off at any time.
                drop(std::io::copy(&mut from, &mut to));
                if !is_silent.load(Ordering::SeqCst) {
                    drop(to.shutdown(Shutdown::Both));
                }
            });
        }
        Self { near, far, is_silent }
    }
}
