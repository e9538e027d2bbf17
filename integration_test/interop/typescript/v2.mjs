// Drives a server with the client of the official TypeScript SDK, version 2.
// Unless told otherwise it is a handshake-era client; "modern" has it negotiate
// and "pinned" has it insist on the stateless era.

import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client';
import { StdioClientTransport } from '@modelcontextprotocol/client/stdio';

import * as steps from './steps.mjs';

const { fixture } = steps;
const { mode, version, command, args, url, headers } = steps.options(['legacy', 'modern', 'pinned']);
const report = new steps.Report(`typescript-${steps.packageVersion('@modelcontextprotocol/client')} ${mode}`);

const negotiation = { legacy: 'legacy', modern: 'auto', pinned: { pin: version } };
const client = new Client(
    { name: 'interop-typescript-v2', version: '1' },
    { capabilities: steps.capabilities, versionNegotiation: { mode: negotiation[mode] } }
);
const person = new steps.Person();
client.setRequestHandler('elicitation/create', ({ params }) => person.elicit(params));
client.setRequestHandler('sampling/createMessage', ({ params }) => person.sample(params));
client.setRequestHandler('roots/list', () => person.roots());
const transport = url
    ? new StreamableHTTPClientTransport(url, { requestInit: { headers } })
    : new StdioClientTransport({ command, args, stderr: 'inherit' });

const echo = async () => steps.echoed(await client.callTool({ name: 'echo', arguments: { text: fixture.echo } }));

async function connect() {
    await client.connect(transport);
    steps.equal('protocol version', client.getNegotiatedProtocolVersion(), version);
    steps.equal('server name', client.getServerVersion()?.name, fixture.server);
}

// Without a cursor this client walks through all pages by itself.
async function tools() {
    const { tools } = await client.listTools();
    steps.listed(tools.map(tool => tool.name), fixture.tools);
}

async function resources() {
    const { resources } = await client.listResources();
    steps.listed(resources.map(resource => resource.uri), [fixture.bench.uri, fixture.static.uri]);
}

async function templates() {
    const { resourceTemplates } = await client.listResourceTemplates();
    steps.listed(resourceTemplates.map(template => template.uriTemplate), [fixture.template]);
}

async function prompts() {
    const { prompts } = await client.listPrompts();
    steps.listed(prompts.map(prompt => prompt.name), [fixture.prompt.name]);
}

async function call() {
    await echo();
    const sum = await client.callTool({ name: 'add', arguments: { a: 2, b: 40 } });
    steps.equal('structured content of add', sum.structuredContent, { sum: 42 });
}

// The modern era has no ping.
async function pingAndEcho() {
    if (mode === 'legacy') await client.ping();
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
    await report.step('progress', () => steps.progressed(transport, options => client.callTool(fixture.progress, options)));
    await report.step('cancel', () => steps.cancelled(options => client.callTool(fixture.sleep, options), pingAndEcho));
    await person.interact(report, params => client.callTool(params));
}

await run();
await report.step('close', close);
process.exit(); // a request that failed may have left a timer
