//! A minimal client of `PostgreSQL`'s protocol.

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::time::Duration;

use crate::served::Served;

/// A message: its kind and its content.
pub(crate) type Message = (u8, Vec<u8>);

/// A connection.
pub(crate) struct Client {
    stream: TcpStream,
    /// The key with which other connections cancel this one's query.
    pub(crate) key: [u8; 8],
    /// The last transaction status from the server.
    pub(crate) status: u8,
}

fn text(text: &str) -> Vec<u8> {
    [text.as_bytes(), b"\0"].concat()
}

fn count<T, const N: usize>(of: &[T], each: impl Fn(&T) -> [u8; N]) -> Vec<u8> {
    let count = (of.len() as u16).to_be_bytes();
    [&count[..], &of.iter().flat_map(each).collect::<Vec<u8>>()].concat()
}

fn connect(server: &Served) -> TcpStream {
    let stream = TcpStream::connect(server.postgres.unwrap()).unwrap();
    // Longer than any test should take.
    stream.set_read_timeout(Some(Duration::from_mins(2))).unwrap();
    stream
}

impl Client {
    /// Connects with parameters, and sends the password if the server asks for it.
    ///
    /// # Errors
    /// The error code, if the server refuses the connection.
    pub(crate) fn open(server: &Served, parameters: &[(&str, &str)], password: &str) -> Result<Self, String> {
        let mut body = 0x0003_0000_u32.to_be_bytes().to_vec();
        for (name, value) in [("user", "me")].iter().chain(parameters) {
            body.extend([text(name), text(value)].concat());
        }
        body.push(0);
        let mut client = Self { stream: connect(server), key: [0; 8], status: 0 };
        client.stream.write_all(&(body.len() as u32 + 4).to_be_bytes()).unwrap();
        client.stream.write_all(&body).unwrap();
        loop {
            match client.read() {
                (b'R', how) if how == [0, 0, 0, 3] => client.send(b'p', &text(password)),
                (b'K', key) => client.key = key.try_into().unwrap(),
                (b'E', fields) => {
                    let mut rest = Vec::new();
                    client.stream.read_to_end(&mut rest).unwrap();
                    assert!(rest.is_empty(), "whoever is refused is told nothing more");
                    assert_eq!(field(&fields, b'S'), "FATAL");
                    return Err(field(&fields, b'C'));
                }
                (b'Z', _) => return Ok(client),
                _ => {}
            }
        }
    }

    pub(crate) fn send(&mut self, kind: u8, body: &[u8]) {
        let length = (body.len() as u32 + 4).to_be_bytes();
        self.stream.write_all(&[&[kind][..], &length, body].concat()).unwrap();
    }

    pub(crate) fn read(&mut self) -> Message {
        let mut head = [0; 5];
        self.stream.read_exact(&mut head).unwrap();
        let mut body = vec![0; u32::from_be_bytes(head[1..].try_into().unwrap()) as usize - 4];
        self.stream.read_exact(&mut body).unwrap();
        if head[0] == b'Z' {
            self.status = body[0];
        }
        (head[0], body)
    }

    /// All messages until the server is ready for the next query.
    pub(crate) fn until_ready(&mut self) -> Vec<Message> {
        let mut found = Vec::new();
        loop {
            let message = self.read();
            if message.0 == b'Z' {
                return found;
            }
            found.push(message);
        }
    }

    /// The reply to a text of statements.
    pub(crate) fn ask(&mut self, sql: &str) -> Vec<Message> {
        self.send(b'Q', &text(sql));
        self.until_ready()
    }

    /// The first column of the rows of an answer.
    pub(crate) fn column(&mut self, sql: &str) -> Vec<String> {
        let reply = self.ask(sql);
        assert!(code(&reply).is_none(), "{sql}: {}", words(&reply));
        rows(&reply).into_iter().map(|row| String::from_utf8(row[0].clone().unwrap()).unwrap()).collect()
    }

    pub(crate) fn parse(&mut self, name: &str, sql: &str, types: &[u32]) {
        self.send(b'P', &[text(name), text(sql), count(types, |oid| oid.to_be_bytes())].concat());
    }

    /// Binds values with the formats of values and columns.
    pub(crate) fn bind(&mut self, names: [&str; 2], values: &[Option<&[u8]>], formats: [&[i16]; 2]) {
        let [portal, statement] = names;
        let value = |value: Option<&[u8]>| match value {
            Some(bytes) => [&(bytes.len() as i32).to_be_bytes()[..], bytes].concat(),
            None => (-1_i32).to_be_bytes().to_vec(),
        };
        let values =
            [&(values.len() as u16).to_be_bytes()[..], &values.iter().copied().flat_map(value).collect::<Vec<_>>()];
        let [of_values, of_columns] = formats.map(|formats| count(formats, |format| format.to_be_bytes()));
        self.send(b'B', &[text(portal), text(statement), of_values, values.concat(), of_columns].concat());
    }

    /// Describes a statement (`what` is `S`) or a portal (`P`).
    pub(crate) fn describe(&mut self, what: u8, name: &str) {
        self.send(b'D', &[vec![what], text(name)].concat());
    }

    pub(crate) fn close(&mut self, what: u8, name: &str) {
        self.send(b'C', &[vec![what], text(name)].concat());
    }

    pub(crate) fn execute(&mut self, portal: &str, most: u32) {
        self.send(b'E', &[&text(portal)[..], &most.to_be_bytes()].concat());
    }

    /// Sends Sync, and returns the reply to all messages.
    pub(crate) fn sync(&mut self) -> Vec<Message> {
        self.send(b'S', &[]);
        self.until_ready()
    }

    /// Asks in the extended protocol, with columns in one format.
    pub(crate) fn ask_in(&mut self, sql: &str, format: i16) -> Vec<Message> {
        self.parse("", sql, &[]);
        self.bind(["", ""], &[], [&[], &[format]]);
        self.describe(b'P', "");
        self.execute("", 0);
        self.sync()
    }
}

/// Cancels the query of the connection with this key; returns once the server has received the request.
pub(crate) fn cancel(server: &Served, key: [u8; 8]) {
    let mut stream = connect(server);
    stream.write_all(&[&16_u32.to_be_bytes()[..], &80_877_102_u32.to_be_bytes(), &key].concat()).unwrap();
    let mut said = Vec::new();
    stream.read_to_end(&mut said).unwrap();
    assert!(said.is_empty(), "nobody is told whether a key was right");
}

/// A field of an error.
fn field(fields: &[u8], kind: u8) -> String {
    let found = fields.split(|byte| *byte == 0).find(|field| field.first() == Some(&kind));
    String::from_utf8(found.unwrap()[1..].to_vec()).unwrap()
}

/// The code of the first error among messages.
pub(crate) fn code(reply: &[Message]) -> Option<String> {
    reply.iter().find(|(kind, _)| *kind == b'E').map(|(_, fields)| field(fields, b'C'))
}

/// The text of the first error among messages; empty without an error.
pub(crate) fn words(reply: &[Message]) -> String {
    reply.iter().find(|(kind, _)| *kind == b'E').map_or_else(String::new, |(_, fields)| field(fields, b'M'))
}

/// The kinds of the messages, in order.
pub(crate) fn kinds(reply: &[Message]) -> String {
    reply.iter().map(|(kind, _)| char::from(*kind)).collect()
}

/// The command tags of the statements.
pub(crate) fn tags(reply: &[Message]) -> Vec<String> {
    let tags = reply.iter().filter(|(kind, _)| *kind == b'C');
    tags.map(|(_, tag)| String::from_utf8(tag[..tag.len() - 1].to_vec()).unwrap()).collect()
}

/// The values of rows.
pub(crate) fn rows(reply: &[Message]) -> Vec<Vec<Option<Vec<u8>>>> {
    let row = |body: &[u8]| {
        let mut rest = &body[2..];
        let mut values = Vec::new();
        while !rest.is_empty() {
            let length = i32::from_be_bytes(rest[..4].try_into().unwrap());
            let bytes = usize::try_from(length).ok();
            values.push(bytes.map(|bytes| rest[4..4 + bytes].to_vec()));
            rest = &rest[4 + bytes.unwrap_or(0)..];
        }
        assert_eq!(values.len(), usize::from(u16::from_be_bytes([body[0], body[1]])));
        values
    };
    reply.iter().filter(|(kind, _)| *kind == b'D').map(|(_, body)| row(body)).collect()
}

/// The described columns: name, type number, bytes of a value, format.
pub(crate) fn columns(reply: &[Message]) -> Vec<(String, u32, i16, i16)> {
    let (_, body) = reply.iter().find(|(kind, _)| *kind == b'T').unwrap();
    let mut rest = &body[2..];
    let mut columns = Vec::new();
    while let Some(end) = rest.iter().position(|byte| *byte == 0) {
        let name = String::from_utf8(rest[..end].to_vec()).unwrap();
        let about = &rest[end + 1..end + 19];
        let short = |at: usize| i16::from_be_bytes([about[at], about[at + 1]]);
        columns.push((name, u32::from_be_bytes(about[6..10].try_into().unwrap()), short(10), short(16)));
        rest = &rest[end + 19..];
    }
    columns
}

/// The type numbers of a statement's parameters.
pub(crate) fn parameters(reply: &[Message]) -> Vec<u32> {
    let (_, body) = reply.iter().find(|(kind, _)| *kind == b't').unwrap();
    body[2..].chunks(4).map(|oid| u32::from_be_bytes(oid.try_into().unwrap())).collect()
}
