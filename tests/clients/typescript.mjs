// Listens to the server at the URL given, answers what it asks, and speaks its older revision, with
// `@modelcontextprotocol/client`.
import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const uri = 'bench://item/7';
const self = { name: 'clients-typescript', version: '1.0.0' };
const url = new URL(process.argv[2]);
const client = new Client(self, {
  capabilities: { elicitation: {} },
  versionNegotiation: { mode: { pin: '2026-07-28' } },
});
// Answers each of the two questions of a call.
client.setRequestHandler('elicitation/create', async ({ params }) => {
  const known = { name: 'Ada', color: 'green' };
  const fields = Object.keys(params.requestedSchema.properties);
  return { action: 'accept', content: Object.fromEntries(fields.map((field) => [field, known[field]])) };
});
await client.connect(new StreamableHTTPClientTransport(url));
assert.equal(client.getNegotiatedProtocolVersion(), '2026-07-28');

const { tools } = await client.listTools();
assert.ok(tools.some((tool) => tool.name === 'publish'), 'no tool `publish`');
const { content } = await client.callTool({ name: 'echo', arguments: { text: 'hello' } });
assert.equal(content[0].text, 'hello');

const updated = new Promise((resolve) => {
  client.setNotificationHandler('notifications/resources/updated', resolve);
});
const subscription = await client.listen({ resourceSubscriptions: [uri] });
assert.deepEqual(subscription.honoredFilter.resourceSubscriptions, [uri]);
process.stdout.write('acknowledged');

await client.callTool({ name: 'publish', arguments: { uri, times: 1 } });
const notification = await updated;
assert.equal(notification.params.uri, uri);
process.stdout.write(', updated');

const asked = await client.callTool({ name: 'test_input_required_result_multi_round', arguments: {} });
assert.equal(asked.content[0].text, 'Ada likes green.');
process.stdout.write(', answered');

await subscription.close();
await client.close();

const legacy = new Client(self);
await legacy.connect(new StreamableHTTPClientTransport(url));
assert.equal(legacy.getNegotiatedProtocolVersion(), '2025-11-25');
const listed = await legacy.listTools();
assert.ok(listed.tools.some((tool) => tool.name === 'echo'), 'no tool `echo`');
const echoed = await legacy.callTool({ name: 'echo', arguments: { text: 'hello' } });
assert.equal(echoed.content[0].text, 'hello');
console.log(', legacy');
await legacy.close();
