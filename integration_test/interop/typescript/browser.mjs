// Drives a server from web pages in a real browser, which enforces CORS:
//
//   browser.mjs --mode legacy|modern --stdio SERVER [ARGUMENT...]
//
// The server command is run with "-http", a token, and leave for the pages of
// one origin. Pages of another origin must get nothing out of it. The variable
// CHROMIUM names the browser.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { createServer } from 'node:http';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';

import { chromium } from 'playwright-core';

import * as steps from './steps.mjs';

const { mode, version, command, args } = steps.options(['legacy', 'modern']);
const report = new steps.Report(`chromium ${mode}`);
const TOKEN = 'token-of-the-browser';
const START_LIMIT = 15_000; // milliseconds
const END_LIMIT = 5_000;

// Names that only the browser knows; both are this machine.
const ALLOWED = 'app.example';
const FOREIGN = 'other.example';

// ask is run in a page. It makes one request and returns what the page can see
// of the answer: without leave of the server, only that there was an error.
async function ask({ url, method = 'POST', headers, body, noCors }) {
    let response;
    try {
        response = await fetch(url, { method, headers, body, mode: noCors ? 'no-cors' : 'cors' });
    } catch (error) {
        return { failed: error.name };
    }
    const pieces = []; // with the time of arrival in milliseconds
    const reader = response.body?.pipeThrough(new TextDecoderStream()).getReader();
    for (let piece = await reader?.read(); piece && !piece.done; piece = await reader.read()) {
        pieces.push({ at: performance.now(), text: piece.value });
    }
    return {
        kind: response.type,
        status: response.status,
        form: response.headers.get('content-type'),
        session: response.headers.get('mcp-session-id'),
        challenge: response.headers.get('www-authenticate'),
        pieces
    };
}

const text = answer => answer.pieces.map(piece => piece.text).join('');

// messages returns the messages of an answer, be it JSON or a stream.
function messages(answer) {
    if (answer.form?.startsWith('application/json')) return [JSON.parse(text(answer))];
    const data = text(answer).split('\n').filter(line => line.startsWith('data:'));
    return data.map(line => line.slice('data:'.length).trim()).filter(Boolean).map(line => JSON.parse(line));
}

// Endpoint makes requests from one page to the server.
class Endpoint {
    constructor(page, url) {
        Object.assign(this, { page, url, nextId: 1 });
    }

    // send sends a message and returns what the page sees of the answer.
    send(method, params, { headers = {}, notification = false } = {}) {
        const meta = {};
        const all = {
            'Content-Type': 'application/json',
            Accept: 'application/json, text/event-stream',
            Authorization: `Bearer ${TOKEN}`
        };
        if (mode === 'modern') {
            meta['io.modelcontextprotocol/protocolVersion'] = version;
            meta['io.modelcontextprotocol/clientInfo'] = { name: 'interop-browser', version: '1' };
            meta['io.modelcontextprotocol/clientCapabilities'] = {};
            all['Mcp-Protocol-Version'] = version;
            all['Mcp-Method'] = method;
            if (params.name) all['Mcp-Name'] = params.name;
        } else if (this.session) {
            all['Mcp-Protocol-Version'] = version;
            all['Mcp-Session-Id'] = this.session;
        }
        Object.assign(all, headers);
        const message = { jsonrpc: '2.0', method, params: { ...params, _meta: { ...meta, ...params._meta } } };
        if (!notification) message.id = this.nextId++;
        return this.page.evaluate(ask, { url: this.url, headers: all, body: JSON.stringify(message) });
    }

    // open makes a session, if the era has sessions.
    async open() {
        if (mode === 'modern') return;
        const params = { protocolVersion: version, capabilities: {}, clientInfo: { name: 'interop-browser', version: '1' } };
        const answer = await this.send('initialize', params);
        steps.equal('status of initialize', answer.status, 200);
        steps.equal('protocol version', messages(answer).at(-1).result.protocolVersion, version);
        steps.equal('type of the session id that the page can read', typeof answer.session, 'string');
        this.session = answer.session;
        const accepted = await this.send('notifications/initialized', {}, { notification: true });
        steps.equal('status of notifications/initialized', accepted.status, 202);
    }

    async call(name, args, { meta = {}, headers = {} } = {}) {
        const answer = await this.send('tools/call', { name, arguments: args, _meta: meta }, { headers });
        steps.equal(`status of ${name}`, answer.status, 200);
        return { answer, got: messages(answer) };
    }

    async side() {
        const { got } = await this.call('side', {});
        steps.equal('content of side', got.at(-1).result.content, [{ type: 'text', text: 'appended' }]);
    }
}

async function call(endpoint) {
    const { got } = await endpoint.call('echo', { text: steps.fixture.echo });
    steps.echoed(got.at(-1).result);
}

// A header that only the schema of the tool announces.
async function parameter(endpoint) {
    const { got } = await endpoint.call('test_x_mcp_header', { region: 'north' }, { headers: { 'Mcp-Param-Region': 'north' } });
    steps.equal('isError', got.at(-1).result.isError ?? false, false);
}

// The notifications must reach the page while the call still runs.
async function stream(endpoint) {
    const { answer, got } = await endpoint.call('sleep', { ms: 500 }, { meta: { progressToken: 'browser' } });
    steps.equal('content type', answer.form.split(';')[0], 'text/event-stream');
    const progress = got.filter(message => message.method === 'notifications/progress');
    steps.equal('order of progress', progress.map(message => message.params.progress), progress.map((_, i) => i + 1));
    if (progress.length < 5 || got.at(-1).result === undefined) {
        throw new Error(`the stream has ${progress.length} notifications and ends with ${JSON.stringify(got.at(-1))}, want 5 or more and a result`);
    }
    const spread = answer.pieces.at(-1).at - answer.pieces[0].at;
    if (spread < 200) throw new Error(`all of the stream arrived within ${spread} ms, want it as it was sent, in about 450 ms`);
}

// A page must be able to tell what is wrong.
async function errors(endpoint) {
    const anonymous = await endpoint.send('ping', {}, { headers: { Authorization: '' } });
    steps.equal('status without a token', anonymous.status, 401);
    steps.equal('scheme of the challenge', anonymous.challenge?.split(' ')[0], 'Bearer');
    if (mode === 'legacy') {
        const lost = await endpoint.send('ping', {}, { headers: { 'Mcp-Session-Id': 'unknown' } });
        steps.equal('status of an unknown session', lost.status, 404);
    } else {
        const unknown = await endpoint.send('no/such', {});
        steps.equal('status of an unknown method', unknown.status, 404);
        steps.equal('code of an unknown method', messages(unknown).at(-1).error.code, -32601);
    }
}

// A page of another origin sees nothing, whether it asks the browser for leave or
// not, and what it sends has no effect. The file shows the effects of the tool.
async function refused(foreign, allowed, file) {
    await allowed.side();
    steps.equal('failure of a fetch', await foreign.send('tools/call', { name: 'side', arguments: {} }), { failed: 'TypeError' });
    const message = { jsonrpc: '2.0', id: 1, method: 'tools/call', params: { name: 'side', arguments: {} } };
    for (const request of [
        { noCors: true, body: JSON.stringify(message) }, // goes out without a preflight, as text/plain
        { noCors: true, method: 'GET' }
    ]) {
        const answer = await foreign.page.evaluate(ask, { url: foreign.url, ...request });
        steps.equal('kind of answer', answer.kind, 'opaque');
    }
    steps.equal('lines in the file', (await readFile(file, 'utf8')).trimEnd().split('\n').length, 1);
}

// servePages serves an empty page and returns a function from a host name to its address.
async function servePages() {
    const server = createServer((request, response) => {
        response.writeHead(200, { 'Content-Type': 'text/html; charset=utf-8' });
        response.end('<!doctype html><title>interop</title>');
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    return { server, origin: host => `http://${host}:${server.address().port}` };
}

// startServer runs the server under test and returns it with its address.
async function startServer(origin, file) {
    const child = spawn(
        command,
        [...args, '-http', '127.0.0.1:0', '-log-level', 'info', '-auth-token', 'env:INTEROP_TOKEN', '-cors-origin', origin, '-side', file],
        { stdio: ['ignore', 'ignore', 'pipe'], env: { ...process.env, INTEROP_TOKEN: TOKEN } }
    );
    const lines = createInterface({ input: child.stderr });
    const address = new Promise((resolve, reject) => {
        lines.on('line', line => {
            console.error(line);
            const found = /msg=listening address=(\S+)/.exec(line);
            if (found) resolve(found[1]);
        });
        child.on('error', reject);
        lines.on('close', () => reject(new Error('the server ended before it listened')));
    });
    try {
        const url = `http://${await steps.within(START_LIMIT, 'the start of the server', address)}/mcp`;
        return { child, url };
    } catch (error) {
        child.kill('SIGKILL');
        throw error;
    }
}

// stop ends a process and returns its exit code.
async function stop(child) {
    if (child.exitCode !== null) return child.exitCode;
    const ended = once(child, 'exit');
    child.kill('SIGTERM');
    const kill = setTimeout(() => child.kill('SIGKILL'), END_LIMIT);
    const [code] = await ended;
    clearTimeout(kill);
    return code;
}

// What undoes what main did, in the order in which main did it.
const ends = [];
async function main() {
    const folder = await mkdtemp(path.join(tmpdir(), 'interop-browser-'));
    ends.push(() => rm(folder, { recursive: true, force: true, maxRetries: 5 }));
    const pages = await servePages();
    ends.push(() => pages.server.close());
    const file = path.join(folder, 'side');
    const { child, url } = await startServer(pages.origin(ALLOWED), file);
    ends.push(async () => steps.equal('exit code of the server', await stop(child), 0));
    const browser = await chromium.launchPersistentContext(path.join(folder, 'profile'), {
        executablePath: process.env.CHROMIUM ?? '/usr/bin/chromium',
        headless: true,
        args: [
            '--no-sandbox',
            '--disable-gpu',
            '--disable-quic',
            '--no-first-run',
            '--disable-background-networking',
            `--host-resolver-rules=MAP ${ALLOWED} 127.0.0.1, MAP ${FOREIGN} 127.0.0.1`
        ]
    });
    ends.push(() => browser.close());

    const endpoint = async host => {
        const page = await browser.newPage();
        await page.goto(pages.origin(host));
        return new Endpoint(page, url);
    };
    const allowed = await endpoint(ALLOWED);
    const foreign = await endpoint(FOREIGN);
    if (!(await report.step('connect', () => allowed.open()))) return;
    await report.step('call', () => call(allowed));
    await report.step('parameter', () => parameter(allowed));
    await report.step('stream', () => stream(allowed));
    await report.step('errors', () => errors(allowed));
    await report.step('refused', () => refused(foreign, allowed, file));
}

try {
    await main();
} catch (error) {
    console.error(error);
    process.exitCode = 1;
}
await report.step('close', async () => {
    for (const end of ends.reverse()) await end();
});
process.exit();
