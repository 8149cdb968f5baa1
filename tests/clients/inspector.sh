#!/usr/bin/env bash
# Lists and calls tools of the server at the URL given, in both eras, with the Inspector's command line.
set -euo pipefail
export MCP_INSPECTOR_SECRET_STORE=memory

comma=
for era in modern legacy; do
    inspect() {
        timeout 30 mcp-inspector --cli "$1" --transport http --format json -q --protocol-era "$era" --method "${@:2}"
    }
    inspect "$1" tools/list | grep -q '"echo"'
    inspect "$1" tools/call --tool-name echo --tool-arg text=hello | grep -q '"hello"'
    printf '%s%s' "$comma" "$era"
    comma=", "
done
echo
