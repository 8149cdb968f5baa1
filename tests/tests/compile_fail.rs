//! What the attributes accept, and what they say to what they refuse.
//!
//! After a change of a message, `TRYBUILD=overwrite cargo test -p mcp-tests --test compile_fail` writes what is
//! expected anew: read the difference.

#[test]
fn accepted() {
    trybuild::TestCases::new().pass("ui/correct/*.rs");
}

#[test]
fn refused() {
    trybuild::TestCases::new().compile_fail("ui/incorrect/*/*.rs");
}
