//! Addresses: URIs and URI templates of resources, paths of endpoints. The runtime reads them by the same rules.

const MAX_URI_BYTES: usize = 65_534;
const MAX_TEMPLATE_BYTES: usize = 8_192;
const MAX_PATH_BYTES: usize = 8_192;
const MAX_VARIABLES: usize = 32;
const MAX_VARIABLE_BYTES: usize = 128;

/// The variables of a resource's address; none in an exact URI. Otherwise what is wrong and what to write instead.
pub fn variables(uri: &str) -> Result<Vec<&str>, String> {
    if !uri.contains(['{', '}']) {
        return exact(uri).map(|()| Vec::new());
    }
    if uri.len() > MAX_TEMPLATE_BYTES {
        return Err(format!(
            "a URI template has at most {MAX_TEMPLATE_BYTES} bytes: this one has {}",
            uri.len()
        ));
    }
    let mut variables: Vec<&str> = Vec::new();
    let mut rest = uri;
    while let Some((before, after)) = rest.split_once('{') {
        let (name, after) =
            after.split_once('}').ok_or("`{` without `}` after it: write a variable as `{id}`")?;
        opened(before)?;
        variable(name)?;
        if before.is_empty() && !variables.is_empty() {
            let previous = variables[variables.len() - 1];
            return Err(format!(
                "`{{{previous}}}{{{name}}}`: nothing tells where one variable ends and the next begins: put `/` between them"
            ));
        }
        if variables.contains(&name) {
            return Err(format!("the variable `{{{name}}}` stands twice: give each its own name"));
        }
        if variables.is_empty() {
            scheme(before, uri)?;
        }
        characters(before)?;
        variables.push(name);
        rest = after;
    }
    opened(rest)?;
    characters(rest)?;
    if variables.len() > MAX_VARIABLES {
        return Err(format!(
            "a URI template has at most {MAX_VARIABLES} variables: this one has {}",
            variables.len()
        ));
    }
    Ok(variables)
}

/// Checks the path of an endpoint: absolute, not the root, as a request's path arrives.
pub fn path(path: &str) -> Result<(), String> {
    let Some(rest) = path.strip_prefix('/') else {
        return Err(format!("`{path}` is no absolute path: begin it with `/`, such as `/mcp`"));
    };
    if rest.is_empty() {
        return Err("an endpoint is not served at the root: give it a path, such as `/mcp`".to_owned());
    }
    if path.len() > MAX_PATH_BYTES {
        return Err(format!("a path has at most {MAX_PATH_BYTES} bytes: this one has {}", path.len()));
    }
    if let Some(extra) = path.chars().find(|c| "?#".contains(*c)) {
        return Err(format!("a path has no query and no fragment: remove `{extra}` and what follows"));
    }
    if path.contains(['{', '}']) {
        return Err("an endpoint's path has no variables: write it out, one endpoint a path".to_owned());
    }
    for segment in rest.split('/') {
        match segment {
            "" => {
                return Err(format!(
                    "`{path}` has an empty segment: write each `/` once, and none at the end"
                ));
            }
            "." | ".." => {
                return Err(format!("`{path}` has a dot segment: write the path that it leads to"));
            }
            _ => {}
        }
    }
    match path.chars().find(|c| !c.is_ascii_alphanumeric() && !"/-._~!$&'()+,;=:@".contains(*c)) {
        Some(c) => Err(format!(
            "{c:?} can't stand in an endpoint's path: use ASCII letters, digits, `-`, `_`, `.` and `~`"
        )),
        None => Ok(()),
    }
}

/// The address with anonymous variables: two addresses that differ only in these are the same.
pub fn normalized(uri: &str) -> String {
    let mut text = String::new();
    let mut rest = uri;
    while let Some((before, (_, after))) =
        rest.split_once('{').and_then(|(before, after)| Some((before, after.split_once('}')?)))
    {
        text.push_str(before);
        text.push_str("{}");
        rest = after;
    }
    text + rest
}

fn exact(uri: &str) -> Result<(), String> {
    if uri.len() > MAX_URI_BYTES {
        return Err(format!("a URI has at most {MAX_URI_BYTES} bytes: this one has {}", uri.len()));
    }
    scheme(uri, uri)?;
    characters(uri)
}

/// Checks that `text`, with which `uri` begins, begins with a scheme.
fn scheme(text: &str, uri: &str) -> Result<(), String> {
    let valid = |scheme: &str| {
        scheme.starts_with(|c: char| c.is_ascii_alphabetic())
            && scheme.bytes().all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
    };
    match text.split_once(':') {
        Some((scheme, _)) if valid(scheme) => Ok(()),
        _ => Err(format!("`{uri}` is no absolute URI: begin it with a scheme, such as `catalog://`")),
    }
}

/// Checks that everything may stand in a URI (RFC 3986).
fn characters(text: &str) -> Result<(), String> {
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        if c == '%' {
            let digits = rest.get(1..3).filter(|digits| digits.bytes().all(|byte| byte.is_ascii_hexdigit()));
            if digits.is_none() {
                return Err(
                    "`%` without two hexadecimal digits after it: write `%25` for a percent sign".to_owned()
                );
            }
        } else if !c.is_ascii_alphanumeric() && !"-._~:/?#[]@!$&'()*+,;=".contains(c) {
            let encoded: String = c.to_string().bytes().map(|byte| format!("%{byte:02X}")).collect();
            return Err(format!("{c:?} can't stand in a URI: write `{encoded}`"));
        }
        rest = &rest[c.len_utf8()..];
    }
    Ok(())
}

fn opened(between: &str) -> Result<(), String> {
    match between.contains('}') {
        true => Err("`}` without `{` before it: write a variable as `{id}`".to_owned()),
        false => Ok(()),
    }
}

fn variable(name: &str) -> Result<(), String> {
    if let Some(operator) = name.chars().next().filter(|c| "+#./;?&=,!@|".contains(*c)) {
        let plain = &name[1..];
        return Err(format!("`{{{name}}}`: the operator `{operator}` is not supported: write `{{{plain}}}`"));
    }
    let start = name.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_');
    if !start || !name.bytes().all(|byte| byte.is_ascii_alphanumeric() || byte == b'_') {
        return Err(format!(
            "`{{{name}}}` is no variable: name it with ASCII letters, digits and `_`, such as `{{id}}`"
        ));
    }
    if name.len() > MAX_VARIABLE_BYTES {
        return Err(format!(
            "a variable's name has at most {MAX_VARIABLE_BYTES} bytes: shorten `{{{name}}}`"
        ));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(uri: &str, part: &str) {
        let message = variables(uri).unwrap_err();
        assert!(message.contains(part), "{uri}: {message}");
    }

    #[test]
    fn variables_are_found_in_order() {
        assert_eq!(variables("catalog://parts/{id}").unwrap(), ["id"]);
        assert_eq!(variables("a:{x}-{y}/{z_1}?q={q}").unwrap(), ["x", "y", "z_1", "q"]);
        assert_eq!(variables("catalog://parts").unwrap(), [""; 0]);
        assert_eq!(variables("urn:isbn:0451450523").unwrap(), [""; 0]);
        assert_eq!(variables("x:a%20b").unwrap(), [""; 0]);
    }

    #[test]
    fn malformed_addresses() {
        refused("parts/7", "begin it with a scheme");
        refused("/parts/{id}", "begin it with a scheme");
        refused("{scheme}://x", "begin it with a scheme");
        refused("1a://x", "begin it with a scheme");
        refused("a://x y", "write `%20`");
        refused("a://é", "write `%C3%A9`");
        refused("a://x%2", "write `%25`");
        refused("a://{id}%zz", "write `%25`");
        refused("a://%{id}20", "write `%25`");
        refused("a://{id}/{b c}", "is no variable");
    }

    #[test]
    fn malformed_templates() {
        refused("a://{id", "`{` without `}`");
        refused("a://id}", "`}` without `{`");
        refused("a://{id}}", "`}` without `{`");
        refused("a://}{id}", "`}` without `{`");
        refused("a://{}", "is no variable");
        refused("a://{1d}", "is no variable");
        refused("a://{id*}", "is no variable");
        refused("a://{id,name}", "is no variable");
        refused("a://{+path}", "write `{path}`");
        refused("a://{?q}", "write `{q}`");
        refused("a://{a}{b}", "put `/` between them");
        refused("a://{a}/{a}", "stands twice");
    }

    #[test]
    fn limits() {
        refused(&format!("a:{}{{id}}", "x".repeat(8192)), "at most 8192 bytes");
        refused(&format!("a:{}", "x".repeat(65_534)), "at most 65534 bytes");
        refused(&format!("a:{{{}}}", "x".repeat(129)), "at most 128 bytes");
        let many: String = (0..33).map(|n| format!("/{{v{n}}}")).collect();
        refused(&format!("a:{many}"), "at most 32 variables");
        let many: String = (0..32).map(|n| format!("/{{v{n}}}")).collect();
        assert_eq!(variables(&format!("a:{many}")).unwrap().len(), 32);
    }

    #[test]
    fn paths() {
        for text in ["/mcp", "/catalog/mcp", "/a-b_c.d~e", "/a:b@c"] {
            assert_eq!(path(text), Ok(()), "{text}");
        }
        for text in [
            "", "mcp", "/", "/mcp/", "//mcp", "/a//b", "/a/../b", "/.", "/mcp?x", "/mcp#x", "/{id}", "/a b",
            "/é", "/%20", "/*",
        ] {
            assert!(path(text).is_err(), "{text}");
        }
        assert!(path(&format!("/{}", "x".repeat(8192))).is_err());
    }

    #[test]
    fn names_of_variables_do_not_tell_addresses_apart() {
        assert_eq!(normalized("a://{x}/b/{y}"), normalized("a://{id}/b/{name}"));
        assert_ne!(normalized("a://{x}/b"), normalized("a://x/b"));
    }
}
