//! Sorted pretokens and their counts in a temporary file, read front to back.
//!
//! Guarantee: the file has no name, so that nothing is left of it when the process ends, however it ends. A full
//! disk is an error that names the directory.
//!
//! An entry is three numbers in LEB128 (how many bytes it shares with the one before, how many follow, the count)
//! and the bytes that follow: sorted pretokens share most of theirs.

use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use crate::train::sorted::Cursor;
use crate::{Error, Result};

/// How much of a run lies in memory while it is written.
const WRITE_BUFFER: usize = 1 << 16;

/// Writes a run.
#[derive(Debug)]
pub struct RunWriter {
    file: BufWriter<File>,
    directory: PathBuf,
    last: Vec<u8>,
}

/// A run that was written.
#[derive(Debug)]
pub struct Run {
    file: File,
    len: u64,
    directory: PathBuf,
}

impl RunWriter {
    /// A new run, in a file without a name in `directory`.
    pub fn new(directory: &Path) -> Result<Self> {
        let file = tempfile::tempfile_in(directory).map_err(|error| failed(directory, &error))?;
        Ok(Self {
            file: BufWriter::with_capacity(WRITE_BUFFER, file),
            directory: directory.to_owned(),
            last: Vec::new(),
        })
    }

    /// Appends a pretoken, which comes after the last one in order of bytes.
    pub fn push(&mut self, pretoken: &[u8], count: u64) -> Result<()> {
        let shared = self
            .last
            .iter()
            .zip(pretoken)
            .take_while(|(old, new)| old == new)
            .count();
        let (rest, mut numbers, mut used) = (&pretoken[shared..], [0; 30], 0);
        for number in [shared as u64, rest.len() as u64, count] {
            used += leb128(number, &mut numbers[used..]);
        }
        self.last.truncate(shared);
        self.last.extend_from_slice(rest);
        self.file
            .write_all(&numbers[..used])
            .and_then(|()| self.file.write_all(rest))
            .map_err(|error| failed(&self.directory, &error))
    }

    /// The last pretoken; empty before the first.
    pub fn last(&self) -> &[u8] {
        &self.last
    }

    /// Ends the run.
    pub fn finish(self) -> Result<Arc<Run>> {
        let directory = self.directory;
        let written = self.file.into_inner().map_err(io::IntoInnerError::into_error);
        let len = written.and_then(|file| Ok((file.metadata()?.len(), file)));
        let (len, file) = len.map_err(|error| failed(&directory, &error))?;
        Ok(Arc::new(Run { file, len, directory }))
    }
}

impl Run {
    /// Reads from the front, with a buffer of so many bytes. Readers of one run don't disturb each other.
    pub fn reader(self: &Arc<Self>, buffer: usize) -> RunReader {
        RunReader {
            run: Arc::clone(self),
            at: 0,
            buffer: vec![0; buffer.max(16)],
            start: 0,
            end: 0,
            pretoken: Vec::new(),
            count: 0,
        }
    }

    /// How many bytes the file has.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// Whether nothing was written.
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }
}

/// A place in a run.
#[derive(Debug)]
pub struct RunReader {
    run: Arc<Run>,
    /// Where the next bytes to read into the buffer lie in the file.
    at: u64,
    buffer: Vec<u8>,
    start: usize,
    end: usize,
    pretoken: Vec<u8>,
    count: u64,
}

impl Cursor for RunReader {
    fn advance(&mut self) -> Result<bool> {
        if self.start == self.end && self.at == self.run.len {
            return Ok(false);
        }
        let (shared, mut rest) = (self.number()? as usize, self.number()? as usize);
        self.count = self.number()?;
        self.pretoken.truncate(shared);
        while rest > 0 {
            if self.start == self.end {
                self.fill()?;
            }
            let part = rest.min(self.end - self.start);
            self.pretoken
                .extend_from_slice(&self.buffer[self.start..self.start + part]);
            self.start += part;
            rest -= part;
        }
        Ok(true)
    }

    fn pretoken(&self) -> &[u8] {
        &self.pretoken
    }

    fn count(&self) -> u64 {
        self.count
    }
}

impl RunReader {
    #[inline]
    fn number(&mut self) -> Result<u64> {
        let (mut number, mut shift) = (0, 0);
        loop {
            if self.start == self.end {
                self.fill()?;
            }
            let byte = self.buffer[self.start];
            self.start += 1;
            number |= u64::from(byte & 0x7F) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
            shift = (shift + 7).min(63);
        }
    }

    fn fill(&mut self) -> Result<()> {
        let read = read_at(&self.run.file, &mut self.buffer, self.at);
        match read.map_err(|error| failed(&self.run.directory, &error))? {
            0 => Err(Error::Storage(format!(
                "a temporary file in {} ended before its last entry",
                self.run.directory.display()
            ))),
            read => {
                (self.start, self.end) = (0, read);
                self.at += read as u64;
                Ok(())
            }
        }
    }
}

#[cfg(unix)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::unix::fs::FileExt::read_at(file, buffer, at)
}

#[cfg(windows)]
fn read_at(file: &File, buffer: &mut [u8], at: u64) -> io::Result<usize> {
    std::os::windows::fs::FileExt::seek_read(file, buffer, at)
}

/// Writes `number` to the front of `bytes`, and returns how many of them it took.
fn leb128(mut number: u64, bytes: &mut [u8]) -> usize {
    let mut used = 0;
    while number >= 0x80 {
        bytes[used] = number as u8 | 0x80;
        number >>= 7;
        used += 1;
    }
    bytes[used] = number as u8;
    used + 1
}

fn failed(directory: &Path, error: &io::Error) -> Error {
    Error::Storage(format!(
        "counts that don't fit into max_memory go to a temporary file in {}, and that failed: {error}. Make room there, \
         or set another temporary_directory or a larger max_memory.",
        directory.display()
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_written_is_read_whatever_the_buffer() {
        let mut words: Vec<Vec<u8>> = (0..500u32)
            .map(|number| vec![b'a' + (number % 3) as u8; number as usize])
            .collect();
        words.sort();
        words.dedup();
        let mut writer = RunWriter::new(&std::env::temp_dir()).expect("a file can be made");
        for (word, count) in words.iter().zip([0, 1, 127, 128, u64::MAX].into_iter().cycle()) {
            writer.push(word, count).expect("there is room");
        }
        let run = writer.finish().expect("there is room");

        for buffer in [1, 17, 1 << 16] {
            let (mut reader, mut read) = (run.reader(buffer), Vec::new());
            while reader.advance().expect("the file is whole") {
                read.push((reader.pretoken().to_vec(), reader.count()));
            }
            assert_eq!(read.len(), words.len());
            assert!(
                read.iter()
                    .zip(&words)
                    .all(|((pretoken, _), word)| pretoken == word)
            );
            assert_eq!(read[4].1, u64::MAX);
            assert_eq!(read[3].1, 128);
        }
    }

    #[test]
    fn a_directory_that_is_not_there_is_named() {
        let failed = RunWriter::new(Path::new("no/such/place")).map(|_| ());

        let told = failed.expect_err("there is no such directory").to_string();
        assert!(
            told.contains("no/such/place") && told.contains("temporary_directory"),
            "{told}"
        );
    }
}
