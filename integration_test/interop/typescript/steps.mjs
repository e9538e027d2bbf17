// What the TypeScript clients share: their command line, the fixtures they
// expect of the server, and the report they print, one line per step.

import { readFileSync } from 'node:fs';
import { isDeepStrictEqual } from 'node:util';

// Time limits in milliseconds: of one step, and of what must be prompt, which
// is the end of a cancelled call and the first call after it.
const LIMIT = 20_000;
const PROMPT_LIMIT = 1_000;

const VERSIONS = { legacy: '2025-11-25', modern: '2026-07-28', pinned: '2026-07-28' };

// Fixtures of the server under test, which is started with -tools 1200. That
// is more than one page, so that a client must follow nextCursor.
export const fixture = {
    server: 'everything',
    tools: ['echo', 'add', 'progress', 'sleep', ...Array.from({ length: 1200 }, (_, i) => `tool_${String(i + 1).padStart(4, '0')}`)],
    // Everything that careless escaping breaks.
    echo: 'quote " backslash \\ newline \n tab \t <b>&amp;</b> \u00e9 \u6f22 \u{1F642} \u2028 end',
    bench: { uri: 'bench://text', size: 1024 },
    static: { uri: 'test://static-text', text: 'This is the content of the static text resource.' },
    template: 'test://template/{id}/data',
    prompt: { name: 'test_prompt_with_arguments', arguments: { arg1: 'first value', arg2: 'second value' } },
    completion: {
        params: { ref: { type: 'ref/prompt', name: 'test_prompt_with_arguments' }, argument: { name: 'arg1', value: 'te' } },
        want: 'testValue1'
    },
    progress: { name: 'progress', arguments: { steps: 5 } },
    sleep: { name: 'sleep', arguments: { ms: 20_000 } }
};

// Steps in which a tool without arguments asks the client for something: what the
// user does with the form, and the text of the result. The tools are the same in
// both eras.
const prefix = 'test_input_required_result_';
const interactions = [
    { step: 'elicit-accept', tool: `${prefix}elicitation`, action: 'accept', want: 'Hello, Ada!' },
    { step: 'elicit-decline', tool: `${prefix}elicitation`, action: 'decline', want: 'No name was given (decline).' },
    { step: 'elicit-cancel', tool: `${prefix}elicitation`, action: 'cancel', want: 'No name was given (cancel).' },
    { step: 'sample', tool: `${prefix}sampling`, action: 'accept', want: 'The model says: Paris' },
    { step: 'roots', tool: `${prefix}list_roots`, action: 'accept', want: '2 roots' },
    { step: 'rounds', tool: `${prefix}multi_round`, action: 'accept', want: 'Ada likes green.' },
    { step: 'together', tool: `${prefix}multiple_inputs`, action: 'accept', want: 'Hello, Ada; 2 roots' }
];
const forms = { 'What is your name?': { name: 'Ada' }, 'What is your favourite colour?': { color: 'green' } };
const completions = { 'What is the capital of France?': 'Paris', 'Write a greeting.': 'Hello' };

// What a client that answers all of this declares.
export const capabilities = { elicitation: { form: {} }, sampling: {}, roots: {} };

// Person answers what the server asks, which is not the client's own business:
// the user, the model and the file system behind the client.
export class Person {
    // interact runs all interactions as steps. It takes a function from
    // parameters of tools/call to a result.
    async interact(report, call) {
        for (const { step, tool, action, want } of interactions) {
            this.action = action;
            await report.step(step, async () => {
                const result = await call({ name: tool });
                equal('isError', result.isError ?? false, false);
                equal(`content of ${tool}`, result.content, [{ type: 'text', text: want }]);
            });
        }
    }

    // elicit, sample and roots take the parameters of the server's request.
    elicit({ message }) {
        if (this.action !== 'accept') return { action: this.action };
        if (!(message in forms)) throw new Error(`the form says ${JSON.stringify(message)}, which no step is about`);
        return { action: 'accept', content: forms[message] };
    }

    sample({ messages }) {
        equal('number of messages for the model', messages.length, 1);
        const text = completions[messages[0].content.text];
        if (text === undefined) throw new Error(`the prompt ${JSON.stringify(messages)} is one that no step is about`);
        return { role: 'assistant', content: { type: 'text', text }, model: 'none', stopReason: 'endTurn' };
    }

    roots() {
        return { roots: [{ uri: 'file:///first' }, { uri: 'file:///second' }] };
    }
}

// options reads "--mode MODE --stdio COMMAND [ARGUMENT...]", where the words after
// --stdio all belong to the server command, or "--mode MODE --url URL". The bearer
// token for HTTP, if any, is in the environment variable INTEROP_TOKEN.
export function options(modes) {
    const [modeFlag, mode, transportFlag, first, ...rest] = process.argv.slice(2);
    const http = transportFlag === '--url' && rest.length === 0;
    if (modeFlag !== '--mode' || !modes.includes(mode) || !(http || transportFlag === '--stdio') || !first) {
        console.error(`usage: --mode ${modes.join('|')} (--stdio COMMAND [ARGUMENT...] | --url URL)`);
        process.exit(2);
    }
    const version = VERSIONS[mode];
    if (!http) return { mode, version, command: first, args: rest };
    const token = process.env.INTEROP_TOKEN;
    return { mode, version, url: new URL(first), headers: token ? { Authorization: `Bearer ${token}` } : {} };
}

// packageVersion returns the version of the package that was really loaded.
export function packageVersion(name) {
    return JSON.parse(readFileSync(new URL(`node_modules/${name}/package.json`, import.meta.url))).version;
}

// Report prints one line per step and makes the process exit with 1 when one failed.
export class Report {
    constructor(label) {
        this.label = label;
    }

    // step runs one step within LIMIT and returns whether it passed.
    async step(name, run) {
        try {
            await within(LIMIT, 'the step', run());
        } catch (error) {
            process.exitCode = 1;
            console.log(`FAIL ${this.label}: ${name}: ${JSON.stringify(String(error?.message ?? error))}`);
            return false;
        }
        console.log(`ok   ${this.label}: ${name}`);
        return true;
    }
}

export async function within(ms, what, promise) {
    let timer;
    const late = new Promise((_, reject) => {
        timer = setTimeout(() => reject(new Error(`${what} did not end within ${ms} ms`)), ms);
    });
    try {
        return await Promise.race([promise, late]);
    } finally {
        clearTimeout(timer);
    }
}

export function equal(what, got, want) {
    if (!isDeepStrictEqual(got, want)) {
        throw new Error(`${what} is ${JSON.stringify(got)}, want ${JSON.stringify(want)}`);
    }
}

// listed throws unless the names are distinct and contain all wanted ones.
export function listed(names, want) {
    const seen = new Set(names);
    equal('number of distinct entries', seen.size, names.length);
    for (const name of want) {
        if (!seen.has(name)) {
            throw new Error(`${JSON.stringify(name)} is missing among ${names.length} entries`);
        }
    }
}

// pages collects the entries of all pages. It takes a function from a cursor
// to a page, and another from a page to its entries.
export async function pages(fetch, entries) {
    const all = [];
    let cursor;
    do {
        const page = await fetch(cursor);
        all.push(...entries(page));
        cursor = page.nextCursor;
    } while (cursor !== undefined);
    return all;
}

export function echoed(result) {
    equal('isError', result.isError ?? false, false);
    equal('number of content blocks of echo', result.content.length, 1);
    equal('text of echo', result.content[0].text, fixture.echo);
    equal('structured content of echo', result.structuredContent, { text: fixture.echo });
}

// reads throws unless the function from a URI to a result reads both text resources.
export async function reads(read) {
    const bench = await read(fixture.bench.uri);
    const fixed = await read(fixture.static.uri);
    equal('uri', bench.contents[0].uri, fixture.bench.uri);
    equal(`size of ${fixture.bench.uri}`, bench.contents[0].text.length, fixture.bench.size);
    equal('uri', fixed.contents[0].uri, fixture.static.uri);
    equal(`text of ${fixture.static.uri}`, fixed.contents[0].text, fixture.static.text);
}

export function prompted(result) {
    const { arg1, arg2 } = fixture.prompt.arguments;
    const texts = result.messages.map(message => message.content.text ?? '');
    if (!texts.some(text => text.includes(arg1) && text.includes(arg2))) {
        throw new Error(`none of the messages ${JSON.stringify(texts)} has both arguments`);
    }
}

export function completed(result) {
    if (!result.completion.values.includes(fixture.completion.want)) {
        throw new Error(`completion is ${JSON.stringify(result.completion)}, want ${fixture.completion.want} among it`);
    }
}

// progressed throws unless the call, which takes request options, delivers
// exactly the five notifications before its result. They are counted where the
// transport hands them over: when a notification arrives in the same chunk as
// the result, both SDKs deliver the result first and drop the notification
// (typescript-sdk issue 2580), whatever a server does.
export async function progressed(transport, call) {
    const got = [];
    const deliver = transport.onmessage;
    transport.onmessage = (message, extra) => {
        if (message.method === 'notifications/progress') {
            got.push({ progress: message.params.progress, total: message.params.total });
        }
        deliver(message, extra);
    };
    await call({ onprogress: () => {} });
    transport.onmessage = deliver;
    const total = fixture.progress.arguments.steps;
    equal('progress', got, Array.from({ length: total }, (_, i) => ({ progress: i + 1, total })));
}

// cancelled starts a call that runs long, given request options, and aborts it
// at the first progress. It throws unless the call ends promptly and after,
// too, is done promptly.
export async function cancelled(call, after) {
    const abort = new AbortController();
    let started;
    const atWork = new Promise(resolve => {
        started = resolve;
    });
    const outcome = call({ signal: abort.signal, onprogress: started }).then(
        () => 'a result',
        error => error
    );
    const first = await Promise.race([atWork.then(() => undefined), outcome]);
    if (first !== undefined) {
        throw new Error(`the call ended before it was cancelled: ${first?.message ?? first}`);
    }
    abort.abort('cancelled by the test');
    if ((await within(PROMPT_LIMIT, 'the cancelled call', outcome)) === 'a result') {
        throw new Error('the cancelled call returned a result');
    }
    await within(PROMPT_LIMIT, 'the call after the cancelled one', after());
}
