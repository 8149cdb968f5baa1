// Listens to a resource of the server at the URL given, with `@modelcontextprotocol/client`.
import assert from 'node:assert/strict';

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';

const uri = 'bench://item/7';
const client = new Client(
  { name: 'clients-typescript', version: '1.0.0' },
  { versionNegotiation: { mode: { pin: '2026-07-28' } } },
);
await client.connect(new StreamableHTTPClientTransport(new URL(process.argv[2])));
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
console.log(', updated');

await subscription.close();
await client.close();
