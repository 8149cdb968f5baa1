//! The formats of texts that a client knows, too (specification: `client/elicitation`, string schema).

use crate::protocol::is_absolute_uri;

/// A format that a form may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Format {
    Email,
    Uri,
    Date,
    DateTime,
}

impl Format {
    /// Other formats are for the type of the field to check.
    pub(super) fn named(name: &str) -> Option<Self> {
        Some(match name {
            "email" => Self::Email,
            "uri" => Self::Uri,
            "date" => Self::Date,
            "date-time" => Self::DateTime,
            _ => return None,
        })
    }

    /// Whether a text looks like one; what stands behind it nobody can tell from here.
    pub(super) fn fits(self, text: &str) -> bool {
        match self {
            Self::Email => {
                let parts = text.rsplit_once('@');
                let plain =
                    !text.contains(|character: char| character.is_whitespace() || character.is_control());
                plain && parts.is_some_and(|(name, host)| !name.is_empty() && !host.is_empty())
            }
            Self::Uri => is_absolute_uri(text),
            Self::Date => is_date(text),
            Self::DateTime => {
                let (date, time) = text.split_at_checked(10).unwrap_or_default();
                is_date(date) && time.strip_prefix(['T', 't', ' ']).is_some_and(is_time)
            }
        }
    }
}

/// RFC 3339: `full-date`.
fn is_date(text: &str) -> bool {
    let [year, month, day] = match text.split('-').collect::<Vec<_>>()[..] {
        [year, month, day] => [number(year, 4), number(month, 2), number(day, 2)],
        _ => return false,
    };
    let (Some(year), Some(month @ 1..=12), Some(day)) = (year, month, day) else { return false };
    let leap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0);
    let days = match month {
        2 if leap => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    };
    (1..=days).contains(&day)
}

/// RFC 3339: `full-time`.
fn is_time(text: &str) -> bool {
    let clock = |text: &str, seconds: bool| {
        let parts: Vec<_> = text.split(':').map(|part| number(part, 2)).collect();
        match parts[..] {
            [Some(0..=23), Some(0..=59)] => !seconds,
            [Some(0..=23), Some(0..=59), Some(0..=60)] => seconds,
            _ => false,
        }
    };
    let (time, offset) = text.split_at_checked(8).unwrap_or_default();
    let offset = match offset.strip_prefix('.') {
        None => offset,
        Some(fraction) => match fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()) {
            rest if rest.len() == fraction.len() => return false,
            rest => rest,
        },
    };
    let zone = || offset.strip_prefix(['+', '-']).is_some_and(|offset| clock(offset, false));
    clock(time, true) && (matches!(offset, "Z" | "z") || zone())
}

/// A number of so many digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    let plain = text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit());
    plain.then(|| text.parse().ok()).flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_checked_as_far_as_a_look_at_the_text_goes() {
        for (format, fits, others) in [
            ("email", vec!["a@b", "a.b+c@d.example"], vec!["no mail", "@b", "a@", "a b@c", "a@b\n"]),
            ("uri", vec!["https://e.example/a?b", "urn:a"], vec!["/a", "e.example", ""]),
            (
                "date",
                vec!["2024-02-29", "2026-12-31"],
                vec!["2023-02-29", "2026-13-01", "2026-1-1", "today", ""],
            ),
            (
                "date-time",
                vec!["2026-11-30T23:59:60Z", "2026-11-30t00:00:00.5+02:00", "2026-11-30 08:00:00-00:30"],
                vec![
                    "2026-11-30",
                    "2026-11-30T24:00:00Z",
                    "2026-11-30T08:00:00",
                    "2026-11-30T08:00Z",
                    "2026-11-30T08:00:00.Z",
                    "é",
                ],
            ),
        ] {
            let check = |text: &str| Format::named(format).is_some_and(|format| format.fits(text));
            assert!(fits.iter().all(|text| check(text)), "{format}");
            assert!(!others.iter().any(|text| check(text)), "{format}");
        }
    }
}
