//! Names and other short texts. Each function returns what is wrong with a text and what to write instead.

/// The name of a tool or prompt: 1 to 128 of `[A-Za-z0-9_.-]` (specification: `server/tools`).
pub fn operation(name: &str) -> Result<(), String> {
    let allowed = |c: char| c.is_ascii_alphanumeric() || "_.-".contains(c);
    if name.chars().all(allowed) && (1..=128).contains(&name.len()) {
        return Ok(());
    }
    let rule = "use 1 to 128 ASCII letters, digits, `_`, `.` and `-`";
    let better: String = name.chars().map(|c| if allowed(c) { c } else { '_' }).take(128).collect();
    if better.chars().any(|c| c.is_ascii_alphanumeric()) {
        Err(format!("`{name}` is not allowed as a name: {rule}, such as `name = \"{better}\"`"))
    } else {
        Err(format!("`{name}` is not allowed as a name: {rule}"))
    }
}

/// A name that may be any text.
pub fn text(name: &str) -> Result<(), String> {
    if name.chars().any(char::is_control) {
        return Err("a name has no control characters: remove line breaks and tabs".to_owned());
    }
    Ok(())
}

/// A part of a header's name: a token of RFC 9110.
pub fn header(name: &str) -> Result<(), String> {
    if !name.is_empty() && name.chars().all(is_token_char) {
        return Ok(());
    }
    Err(format!(
        "`{name}` can't end the header name `Mcp-Param-…`: use letters, digits and `-`, such as `header = \"Region\"`"
    ))
}

/// A MIME type, with or without parameters.
pub fn mime_type(text: &str) -> Result<(), String> {
    let essence = text.split(';').next().unwrap_or_default().trim_end();
    let token = |part: &str| !part.is_empty() && part.chars().all(is_token_char);
    let parameter = |text: &str| match text.trim().split_once('=') {
        Some((name, value)) => token(name) && (token(value) || is_quoted(value)),
        None => false,
    };
    let parts = essence.split_once('/').is_some_and(|(kind, subtype)| token(kind) && token(subtype));
    if parts && text.split(';').skip(1).all(parameter) {
        return Ok(());
    }
    Err(format!(
        "`{text}` is no MIME type: write a type and a subtype, such as `text/plain` or `application/json`"
    ))
}

/// A web address.
pub fn web_url(url: &str) -> Result<(), String> {
    let rest = url.strip_prefix("https://").or_else(|| url.strip_prefix("http://"));
    if rest.is_some_and(|rest| !rest.starts_with('/') && is_url_text(rest)) {
        return Ok(());
    }
    Err(format!("`{url}` is no web address: write it in full, such as `https://example.com`"))
}

/// Where an icon is: on the web, or in the URL itself.
pub fn icon_source(url: &str) -> Result<(), String> {
    if url.strip_prefix("data:").is_some_and(|data| data.contains(',') && is_url_text(data))
        || web_url(url).is_ok()
    {
        return Ok(());
    }
    Err(format!("`{url}` is no icon's address: write an `https://` or `data:` URL"))
}

/// The size of an icon.
pub fn icon_size(size: &str) -> Result<(), String> {
    let number =
        |text: &str| !text.is_empty() && text.bytes().all(|b| b.is_ascii_digit()) && !text.starts_with('0');
    if size == "any" || size.split_once('x').is_some_and(|(width, height)| number(width) && number(height)) {
        return Ok(());
    }
    Err(format!("`{size}` is no icon size: write `48x48`, or `any` for an image that scales"))
}

fn is_url_text(text: &str) -> bool {
    !text.is_empty() && text.chars().all(|c| c.is_ascii_graphic())
}

fn is_quoted(text: &str) -> bool {
    text.len() >= 2 && text.starts_with('"') && text.ends_with('"') && !text[1..text.len() - 1].contains('"')
}

fn is_token_char(c: char) -> bool {
    c.is_ascii_alphanumeric() || "!#$%&'*+-.^_`|~".contains(c)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_of_operations() {
        for name in ["search", "DATA_EXPORT_v2", "admin.tools.list", "a-b", &"x".repeat(128)] {
            assert_eq!(operation(name), Ok(()), "{name}");
        }
        for name in ["", "find parts", "größe", "a/b", "a,b", &"x".repeat(129)] {
            assert!(operation(name).is_err(), "{name}");
        }
        assert!(operation("find parts").unwrap_err().contains("`name = \"find_parts\"`"));
        assert!(!operation("☃").unwrap_err().contains("such as"));
    }

    #[test]
    fn headers() {
        for name in ["Region", "x-tenant", "A1", "a_b"] {
            assert_eq!(header(name), Ok(()), "{name}");
        }
        for name in ["", "a b", "a:b", "é", "a\n"] {
            assert!(header(name).is_err(), "{name}");
        }
    }

    #[test]
    fn mime_types() {
        for text in [
            "text/plain",
            "application/ld+json",
            "text/html; charset=utf-8",
            "a/b;c=\"d e\"",
            "text/html;profile=mcp-app",
        ] {
            assert_eq!(mime_type(text), Ok(()), "{text}");
        }
        for text in
            ["text", "text/", "/plain", "text/plain;", "text/plain; charset", "a b/c", "text/plain;a=b c", ""]
        {
            assert!(mime_type(text).is_err(), "{text}");
        }
    }

    #[test]
    fn addresses() {
        for url in ["https://example.com", "http://localhost:8080/a?b#c"] {
            assert_eq!(web_url(url), Ok(()), "{url}");
        }
        for url in ["example.com", "/about", "https://", "https:///x", "ftp://a", "https://a b", "https://é"]
        {
            assert!(web_url(url).is_err(), "{url}");
        }
        assert_eq!(icon_source("data:image/png;base64,AAAA"), Ok(()));
        assert!(icon_source("data:image/png").is_err());
        assert!(icon_source("icon.png").is_err());
    }

    #[test]
    fn icon_sizes() {
        for size in ["any", "48x48", "16x32"] {
            assert_eq!(icon_size(size), Ok(()), "{size}");
        }
        for size in ["", "48", "48x", "x48", "48X48", "048x48", "big"] {
            assert!(icon_size(size).is_err(), "{size}");
        }
    }
}
