//! Durations as text: a number and a unit.

const UNITS: [(&str, u64); 5] =
    [("ms", 1), ("s", 1_000), ("m", 60 * 1_000), ("h", 3_600 * 1_000), ("d", 24 * 3_600 * 1_000)];

/// The milliseconds in `250ms`, `30s`, `5m`, `2h` or `1d`; otherwise what to write instead.
pub fn milliseconds(text: &str) -> Result<u64, String> {
    let digits = text.bytes().take_while(u8::is_ascii_digit).count();
    let (number, unit) = text.split_at(digits);
    let malformed = || {
        format!(
            "`{text}` is no duration: write a whole number and a unit, such as `250ms`, `30s`, `5m`, `2h` or `1d`"
        )
    };
    let (_, factor) = UNITS.iter().find(|(name, _)| *name == unit).ok_or_else(malformed)?;
    if number.is_empty() {
        return Err(malformed());
    }
    let too_long = || format!("`{text}` is too long: write fewer digits");
    number.parse::<u64>().ok().and_then(|number| number.checked_mul(*factor)).ok_or_else(too_long)
}

#[cfg(test)]
mod tests {
    use super::milliseconds;

    #[test]
    fn units() {
        assert_eq!(milliseconds("250ms"), Ok(250));
        assert_eq!(milliseconds("30s"), Ok(30_000));
        assert_eq!(milliseconds("5m"), Ok(300_000));
        assert_eq!(milliseconds("2h"), Ok(7_200_000));
        assert_eq!(milliseconds("1d"), Ok(86_400_000));
        assert_eq!(milliseconds("0s"), Ok(0));
    }

    #[test]
    fn what_is_refused() {
        for text in ["", "5", "m", "5 m", "-5s", "1.5s", "5min", "1h30m", " 5s", "5S"] {
            assert!(milliseconds(text).unwrap_err().contains("is no duration"), "{text}");
        }
        assert!(milliseconds("99999999999999999999s").unwrap_err().contains("too long"));
        assert!(milliseconds("18446744073709551615d").unwrap_err().contains("too long"));
    }
}
