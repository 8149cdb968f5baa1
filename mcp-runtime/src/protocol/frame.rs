//! Notifications that belong to one request.

use super::id::ProgressToken;
use super::json;
use super::log::LogLevel;

/// Appends a progress notification. The numbers have to be finite.
pub fn write_progress(
    out: &mut Vec<u8>,
    token: &ProgressToken,
    progress: f64,
    total: Option<f64>,
    message: Option<&str>,
) {
    out.extend_from_slice(
        br#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":"#,
    );
    token.write_json(out);
    out.extend_from_slice(br#","progress":"#);
    json::write_f64(out, progress);
    if let Some(total) = total {
        out.extend_from_slice(br#","total":"#);
        json::write_f64(out, total);
    }
    if let Some(message) = message {
        out.extend_from_slice(br#","message":"#);
        json::write_string(out, message);
    }
    out.extend_from_slice(b"}}");
}

/// Appends a log message; `data` is JSON text.
pub fn write_log(out: &mut Vec<u8>, level: LogLevel, logger: Option<&str>, data: &str) {
    out.extend_from_slice(br#"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"#);
    json::write_string(out, level.as_str());
    if let Some(logger) = logger {
        out.extend_from_slice(br#","logger":"#);
        json::write_string(out, logger);
    }
    out.extend_from_slice(br#","data":"#);
    out.extend_from_slice(data.as_bytes());
    out.extend_from_slice(b"}}");
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    fn written(write: impl FnOnce(&mut Vec<u8>)) -> Value {
        let mut out = Vec::new();
        write(&mut out);
        serde_json::from_slice(&out).unwrap()
    }

    #[test]
    fn progress_has_only_what_is_known() {
        let frame = written(|out| write_progress(out, &"t\"1".into(), 3.0, None, None));
        let params = json!({"progressToken": "t\"1", "progress": 3});
        assert_eq!(frame, json!({"jsonrpc": "2.0", "method": "notifications/progress", "params": params}));
    }

    #[test]
    fn progress_with_everything() {
        let frame = written(|out| write_progress(out, &7.into(), 0.5, Some(10.0), Some("line\nbreak")));
        let params = json!({"progressToken": 7, "progress": 0.5, "total": 10, "message": "line\nbreak"});
        assert_eq!(frame["params"], params);
    }

    #[test]
    fn a_log_message_carries_any_json() {
        let frame = written(|out| write_log(out, LogLevel::Alert, Some("db"), r#"{"host":"h"}"#));
        let params = json!({"level": "alert", "logger": "db", "data": {"host": "h"}});
        assert_eq!(frame, json!({"jsonrpc": "2.0", "method": "notifications/message", "params": params}));
        let frame = written(|out| write_log(out, LogLevel::Debug, None, "null"));
        assert_eq!(frame["params"], json!({"level": "debug", "data": null}));
    }
}
