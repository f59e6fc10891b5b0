//! The head of a model file, all numbers little-endian:
//!
//! | bytes | what |
//! |---|---|
//! | 0–7 | `pliant\r\n`, or the mark of another kind of file, which a transfer as text would change |
//! | 8–11 | version |
//! | 12–19 | number of bytes after the head |
//! | 20–27 | checksum of the bytes after the head |
//!
//! The checksum is FNV-1a (Fowler, Noll, Vo) with 64 bits: it detects any one changed byte for certain, and other damage
//! but for one case in 10¹⁹.

use super::ModelError;

/// The version that is written and read. Any change of the archive makes another.
pub const VERSION: u32 = 3;

/// Length of the head.
pub(super) const HEAD: usize = 28;

/// What a kind of file begins with, and the version of it that is written and read.
pub(crate) struct Mark {
    pub magic: [u8; 8],
    pub version: u32,
}

/// Of model files.
pub(super) const MODEL: Mark = Mark { magic: *b"pliant\r\n", version: VERSION };

/// Puts a head before an archive.
pub(crate) fn seal(archive: &[u8], mark: &Mark) -> Vec<u8> {
    let mut bytes = Vec::with_capacity(HEAD + archive.len());
    bytes.extend(mark.magic);
    bytes.extend(mark.version.to_le_bytes());
    bytes.extend((archive.len() as u64).to_le_bytes());
    bytes.extend(checksum(archive).to_le_bytes());
    bytes.extend(archive);
    bytes
}

/// The archive of a file, if it is whole.
pub(crate) fn open<'b>(bytes: &'b [u8], mark: &Mark) -> Result<&'b [u8], ModelError> {
    let length = length(bytes, mark)?;
    let archive = &bytes[HEAD..];
    let (has, whole) = (bytes.len() as u64, length.saturating_add(HEAD as u64));
    if has < whole {
        return Err(ModelError::Short { has, whole });
    }
    if has > whole {
        return Err(ModelError::Long(whole));
    }
    if checksum(archive).to_le_bytes() != bytes[20..HEAD] {
        return Err(ModelError::Damaged);
    }
    Ok(archive)
}

/// How many bytes the head says there are after it.
pub(super) fn length(bytes: &[u8], mark: &Mark) -> Result<u64, ModelError> {
    if bytes.is_empty() {
        return Err(ModelError::Empty);
    }
    let shown = bytes.len().min(mark.magic.len());
    if bytes[..shown] != mark.magic[..shown] {
        return Err(ModelError::Foreign);
    }
    if bytes.len() < HEAD {
        return Err(ModelError::Short { has: bytes.len() as u64, whole: HEAD as u64 });
    }
    let version = u32::from_le_bytes(bytes[8..12].try_into().expect("four bytes"));
    if version != mark.version {
        return Err(ModelError::Version(version));
    }
    Ok(u64::from_le_bytes(bytes[12..20].try_into().expect("eight bytes")))
}

/// FNV-1a.
pub(crate) fn checksum(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0xcbf2_9ce4_8422_2325, |h, b| (h ^ u64::from(*b)).wrapping_mul(0x0000_0100_0000_01b3))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The values that the authors of the checksum publish.
    #[test]
    fn the_checksum_is_fnv_1a() {
        for (text, sum) in
            [("", 0xcbf2_9ce4_8422_2325), ("a", 0xaf63_dc4c_8601_ec8c), ("foobar", 0x8594_4171_f739_67e8)]
        {
            assert_eq!(checksum(text.as_bytes()), sum, "{text}");
        }
    }

    #[test]
    fn what_is_wrong_is_told_apart() {
        let whole = seal(b"something", &MODEL);
        assert_eq!(open(&whole, &MODEL), Ok(&b"something"[..]));
        assert_eq!(open(b"", &MODEL), Err(ModelError::Empty));
        assert_eq!(open(b"[mechanism]\n", &MODEL), Err(ModelError::Foreign));
        assert_eq!(open(&whole[..5], &MODEL), Err(ModelError::Short { has: 5, whole: 28 }));
        assert_eq!(open(&whole[..30], &MODEL), Err(ModelError::Short { has: 30, whole: 37 }));
        assert_eq!(open(&[&whole[..], b"!"].concat(), &MODEL), Err(ModelError::Long(37)));
        let changed = |at: usize, by: u8| {
            let mut bytes = whole.clone();
            bytes[at] ^= by;
            open(&bytes, &MODEL).expect_err("a changed file").clone()
        };
        assert_eq!(changed(8, 2), ModelError::Version(1));
        assert_eq!(changed(19, 0xff), ModelError::Short { has: 37, whole: 0xff00_0000_0000_0025 });
        assert_eq!(changed(24, 1), ModelError::Damaged);
        assert_eq!(changed(36, 1), ModelError::Damaged);
    }
}
