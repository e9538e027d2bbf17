// Drives a server with the client of the official TypeScript SDK, version 1,
// which knows the handshake era only.

import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { StdioClientTransport } from '@modelcontextprotocol/sdk/client/stdio.js';
import { StreamableHTTPClientTransport } from '@modelcontextprotocol/sdk/client/streamableHttp.js';
import { CreateMessageRequestSchema, ElicitRequestSchema, ListRootsRequestSchema } from '@modelcontextprotocol/sdk/types.js';

import * as steps from './steps.mjs';

const { fixture } = steps;
const { mode, version, command, args, url, headers } = steps.options(['legacy']);
const report = new steps.Report(`typescript-${steps.packageVersion('@modelcontextprotocol/sdk')} ${mode}`);

const client = new Client({ name: 'interop-typescript-v1', version: '1' }, { capabilities: steps.capabilities });
const person = new steps.Person();
client.setRequestHandler(ElicitRequestSchema, ({ params }) => person.elicit(params));
client.setRequestHandler(CreateMessageRequestSchema, ({ params }) => person.sample(params));
client.setRequestHandler(ListRootsRequestSchema, () => person.roots());
const transport = url
    ? new StreamableHTTPClientTransport(url, { requestInit: { headers } })
    : new StdioClientTransport({ command, args, stderr: 'inherit' });
// The client tells its transport which version it negotiated, and nobody else.
let negotiated;
const setProtocolVersion = transport.setProtocolVersion;
transport.setProtocolVersion = value => {
    negotiated = value;
    setProtocolVersion?.call(transport, value);
};

const callTool = (params, options) => client.callTool(params, undefined, options);
const echo = async () => steps.echoed(await callTool({ name: 'echo', arguments: { text: fixture.echo } }));

async function connect() {
    await client.connect(transport);
    steps.equal('protocol version', negotiated, version);
    steps.equal('server name', client.getServerVersion()?.name, fixture.server);
}

async function tools() {
    const all = await steps.pages(cursor => client.listTools({ cursor }), page => page.tools);
    steps.listed(all.map(tool => tool.name), fixture.tools);
}

async function resources() {
    const all = await steps.pages(cursor => client.listResources({ cursor }), page => page.resources);
    steps.listed(all.map(resource => resource.uri), [fixture.bench.uri, fixture.static.uri]);
}

async function templates() {
    const all = await steps.pages(cursor => client.listResourceTemplates({ cursor }), page => page.resourceTemplates);
    steps.listed(all.map(template => template.uriTemplate), [fixture.template]);
}

async function prompts() {
    const all = await steps.pages(cursor => client.listPrompts({ cursor }), page => page.prompts);
    steps.listed(all.map(prompt => prompt.name), [fixture.prompt.name]);
}

async function call() {
    await echo();
    const sum = await callTool({ name: 'add', arguments: { a: 2, b: 40 } });
    steps.equal('structured content of add', sum.structuredContent, { sum: 42 });
}

async function pingAndEcho() {
    await client.ping();
    await echo();
}

// Only with terminateSession does this SDK end a session that it has over HTTP.
async function close() {
    await transport.terminateSession?.();
    await client.close();
}

async function run() {
    if (!(await report.step('connect', connect))) return;
    await report.step('tools', tools);
    await report.step('resources', resources);
    await report.step('templates', templates);
    await report.step('prompts', prompts);
    await report.step('call', call);
    await report.step('read', () => steps.reads(uri => client.readResource({ uri })));
    await report.step('prompt', async () => steps.prompted(await client.getPrompt(fixture.prompt)));
    await report.step('complete', async () => steps.completed(await client.complete(fixture.completion.params)));
    await report.step('progress', () => steps.progressed(transport, options => callTool(fixture.progress, options)));
    await report.step('cancel', () => steps.cancelled(options => callTool(fixture.sleep, options), pingAndEcho));
    await person.interact(report, params => callTool(params));
}

await run();
await report.step('close', close);
process.exit(); // a request that failed may have left a timer
