//! The numbers of a structure in Thrift's compact protocol, without keeping any.
//!
//! A reader of Parquet believes what headers announce and reserves memory for it. Going through
//! them first costs little and finds what no honest file says.

/// Structures inside of each other, at most.
const MAX_DEPTH: usize = 16;

/// Bytes that end too early, or hold what no header does.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Malformed;

/// Value at a place of a structure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Found {
    /// A number.
    Number(i64),
    /// A list of that many items.
    List(u64),
}

/// Goes through one structure at the beginning of these bytes and gives `visit` each number and
/// list with its path: ids of fields, and places in lists. Returns the structure's length.
pub(super) fn visit(
    bytes: &[u8],
    visit: &mut dyn FnMut(&[u64], Found),
) -> Result<usize, Malformed> {
    let mut walk = Walk { bytes, at: 0, path: Vec::new(), visit };
    walk.structure()?;
    Ok(walk.at)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    path: Vec<u64>,
    visit: &'a mut dyn FnMut(&[u64], Found),
}

impl Walk<'_> {
    fn byte(&mut self) -> Result<u8, Malformed> {
        let byte = self.bytes.get(self.at).copied().ok_or(Malformed)?;
        self.at += 1;
        Ok(byte)
    }

    fn skip(&mut self, count: u64) -> Result<(), Malformed> {
        let rest = (self.bytes.len() - self.at) as u64;
        if count > rest {
            return Err(Malformed);
        }
        self.at += count as usize;
        Ok(())
    }

    /// A number in groups of seven bits, the lowest first.
    fn varint(&mut self) -> Result<u64, Malformed> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err(Malformed)
    }

    /// A signed number, whose sign is its lowest bit.
    fn zigzag(&mut self) -> Result<i64, Malformed> {
        let number = self.varint()?;
        Ok((number >> 1) as i64 ^ -((number & 1) as i64))
    }

    fn structure(&mut self) -> Result<(), Malformed> {
        if self.path.len() >= MAX_DEPTH {
            return Err(Malformed);
        }
        let mut id = 0_i64;
        loop {
            let head = self.byte()?;
            if head == 0 {
                return Ok(());
            }
            id = match head >> 4 {
                0 => self.zigzag()?,
                step => id + i64::from(step),
            };
            self.path.push(u64::try_from(id).map_err(|_| Malformed)?);
            match head & 0x0f {
                // A flag's value is its type.
                kind @ (1 | 2) => (self.visit)(&self.path, Found::Number(i64::from(kind == 1))),
                kind => self.value(kind)?,
            }
            self.path.pop();
        }
    }

    /// A value of this type.
    fn value(&mut self, kind: u8) -> Result<(), Malformed> {
        match kind {
            // A flag in a list has a byte of its own.
            1..=3 => self.skip(1),
            4..=6 => {
                let number = self.zigzag()?;
                (self.visit)(&self.path, Found::Number(number));
                Ok(())
            }
            7 => self.skip(8),
            8 => {
                let length = self.varint()?;
                self.skip(length)
            }
            9 | 10 => self.list(),
            12 => self.structure(),
            // Maps are in no header of Parquet.
            _ => Err(Malformed),
        }
    }

    fn list(&mut self) -> Result<(), Malformed> {
        let head = self.byte()?;
        let length = match head >> 4 {
            15 => self.varint()?,
            short => u64::from(short),
        };
        // Each entry takes a byte at least.
        if length > (self.bytes.len() - self.at) as u64 || self.path.len() >= MAX_DEPTH {
            return Err(Malformed);
        }
        (self.visit)(&self.path, Found::List(length));
        for place in 0..length {
            self.path.push(place);
            self.value(head & 0x0f)?;
            self.path.pop();
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(bytes: &[u8]) -> Result<usize, Malformed> {
        visit(bytes, &mut |_, _| {})
    }

    #[test]
    fn numbers_come_with_their_path() {
        // 1: -3; 2: [{5: 300}, {}]; 9: true; and a byte that isn't the structure's.
        let bytes = [0x15, 5, 0x19, 0x2c, 0x55, 0xd8, 0x04, 0, 0, 0x71, 0, 99];
        let mut found = Vec::new();
        let length = visit(&bytes, &mut |path, value| found.push((path.to_vec(), value)));
        assert_eq!(length, Ok(bytes.len() - 1));
        let expected = [
            (vec![1], Found::Number(-3)),
            (vec![2], Found::List(2)),
            (vec![2, 0, 5], Found::Number(300)),
            (vec![9], Found::Number(1)),
        ];
        assert_eq!(found, expected);
    }

    #[test]
    fn bytes_that_end_early_nest_too_deep_or_announce_too_much_are_malformed() {
        let bytes = [0x15, 5, 0x19, 0x2c, 0x55, 0xd8, 0x04, 0, 0, 0x71, 0];
        for length in 0..bytes.len() {
            assert_eq!(all(&bytes[..length]), Err(Malformed), "{length}");
        }
        assert_eq!(all(&[0x1c; 10_000]), Err(Malformed));
        assert_eq!(all(&[0x19; 10_000]), Err(Malformed));
        assert_eq!(all(&[0x19, 0xfc, 0xff, 0xff, 0xff, 0xff, 0x0f, 0]), Err(Malformed));
        assert_eq!(all(&[0x18, 0xff, 0xff, 0x03, 0]), Err(Malformed));
        assert_eq!(all(&[0x1b, 0, 0]), Err(Malformed));
    }
}
