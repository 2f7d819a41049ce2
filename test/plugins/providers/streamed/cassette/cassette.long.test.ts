import { readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { cassetteErrors } from '../../../../../plugins/providers/streamed/cassette/errors.js'
import { createPlayedIds } from '../../../../../plugins/providers/streamed/cassette/ids.js'
import { differenceOf, mostBytes, readCassette } from '../../../../../plugins/providers/streamed/cassette/format.js'
import {
  answerHeaders,
  maskedBody,
  maskedPath,
  requestHeaders,
} from '../../../../../plugins/providers/streamed/cassette/mask.js'
import { freshRoot, startTestDaemon, spawnMain } from '../../../../support/daemon.js'
import { repository } from '../../../../support/docs.js'
import { startOpenAiServer } from '../../../../support/openai-server.js'
import { openSession, submit, until } from '../../../../support/runs.js'
import { vendors, type Vendor } from '../../../../support/vendors.js'

const key = 'very-secret-key-of-nobody-1234'

const folder = async (t: ExecutionContext): Promise<string> => {
  const path = await freshRoot()
  t.teardown(() => rmSync(path, { recursive: true, force: true }))
  return path
}

const start = async (t: ExecutionContext, vendor: Vendor, { base_url, ...cassette }: Wish) => {
  const root = await folder(t)
  const daemon = await startTestDaemon(t, {
    root,
    config: {
      models: { provider: vendor.provider, base_url, model: 'm', api_key: key },
      'streamed-models': { ...cassette },
    },
  })
  await openSession(daemon)
  const run = async (text: string): Promise<any> =>
    until(daemon, (await submit(daemon, 's1', text)).run_id, 'completed', 'failed')
  return { daemon, run }
}
interface Wish {
  readonly base_url: string
  readonly record_cassette?: string
  readonly play_cassette?: string
}

const asked = `Read the list, please: ${key}`

for (const vendor of vendors)
  test(`models-47: a run with ${vendor.provider} is recorded without secrets and plays without its server`, async (t) => {
    const file = join(await folder(t), 'run.cassette')
    const server = await startOpenAiServer((question) =>
      vendor.told(question).some((line) => line.startsWith('result'))
        ? vendor.saying('Nothing ', 'to do.')
        : vendor.calling({ id: 'call_1', name: 'list_skills', input: '{}' }),
    )
    const first = await start(t, vendor, { base_url: server.url, record_cassette: file })
    const recorded = await first.run(asked)
    await first.daemon.stop()
    await server.close()
    const text = readFileSync(file, 'utf8')
    t.is(statSync(file).mode & 0o777, 0o600)
    t.false(text.includes(key))
    t.is(text.match(/"request":/gu)?.length, 2)
    t.regex(text, /^\{"tool":\{"name":"list_skills"/mu)
    const second = await start(t, vendor, { base_url: server.url, play_cassette: file })
    const played = await second.run(asked)
    t.is(played.error, undefined)
    t.deepEqual(played.outputs[0].content, recorded.outputs[0].content)
    const over = await second.run('More?')
    t.regex(over.error, /no exchange left: 2 were recorded.*A cassette is played: no server was asked\./u)
    const third = await start(t, vendor, { base_url: server.url, play_cassette: file })
    const other = await third.run('Something else.')
    t.regex(other.error, /not the recorded one of line 2: request\.\S+ was .*Read the list.* and is .*Something else/u)
  })

for (const vendor of vendors)
  test(`models-47: a run with a file that ${vendor.provider} sends on plays on a root where its id is another`, async (t) => {
    const file = join(await folder(t), 'file.cassette')
    const server = await startOpenAiServer((question) => {
      if (vendor.told(question).some((line) => line.startsWith('result'))) return vendor.saying('Sent.')
      const [id = ''] = /asset_[0-9a-z]{26}/u.exec(JSON.stringify(question?.body)) ?? []
      return vendor.calling({ id: 'call_1', name: 'emit_output', input: JSON.stringify({ artifact_ids: [id] }) })
    })
    const attachments = [{ file_name: 'a.md', media_type: 'text/markdown', content_base64: 'IyBh' }]
    const runIn = async ({ daemon }: Awaited<ReturnType<typeof start>>): Promise<any> => {
      const { body } = await daemon.request('POST', '/v1/sessions/s1/runs', { content: 'Send it', attachments })
      return until(daemon, body.run_id, 'completed', 'failed')
    }
    const first = await start(t, vendor, { base_url: server.url, record_cassette: file })
    const recorded = await runIn(first)
    t.is(recorded.outputs.length, 2)
    await first.daemon.stop()
    await server.close()
    const played = await runIn(await start(t, vendor, { base_url: server.url, play_cassette: file }))
    t.is(played.error, undefined)
    const [given, sent] = [played.input_attachments[0].id, played.outputs[0].artifacts[0].id]
    t.is(sent, given)
    t.not(given, recorded.input_attachments[0].id)
  })

test('models-47: an id that a model says in pieces is told in pieces of the same length', (t) => {
  const [before = '', now = ''] = ['0', '1'].map((sign) => `asset_${sign.repeat(26)}`)
  const ids = createPlayedIds()
  const saidIn = (id: string): string =>
    [`see ${id.slice(0, 9)}`, `${id.slice(9)}.`].map((text) => `data: {"delta":{"text":"${text}"}}\n\n`).join('')
  t.deepEqual(ids.tell([saidIn(before)]), [saidIn(before)], 'nothing is known yet')
  ids.learn({ a: [`[${before}]`, 1] }, { a: [`[${now}]`, 1] })
  t.is(ids.tell([saidIn(before)]).join(''), saidIn(now))
})

const head = '{"cassette":1,"requests":"whole"}\n'
const exchange = '{"path":"/p","request":{"a":1},"status":200,"answer_headers":{},"answer":["x"],"end":"whole"}\n'

test('models-47: a cassette that is cut, of another version or none is told from others, with its line', (t) => {
  const codeOf = (text: string): string => {
    const error = t.throws<any>(() => readCassette('f', text))
    return `${error?.code}: ${error?.message}`
  }
  t.is(readCassette('f', head + exchange).exchanges.length, 1)
  t.regex(codeOf(head + exchange.slice(0, -9)), new RegExp(`^${cassetteErrors.cassette_cut.code}: .* line 2`, 'u'))
  t.regex(codeOf('{"cassette":2}\n'), new RegExp(`^${cassetteErrors.cassette_version.code}`, 'u'))
  for (const text of ['\n', '{}\n', `${head}[]\n`, `${head}${exchange.replace('200', '7')}`])
    t.regex(codeOf(text), new RegExp(`^${cassetteErrors.cassette_invalid.code}`, 'u'))
})

test('models-51: who shows a file that is no cassette is told how one comes to be', async (t) => {
  for (const file of ['/nonexistent', join(repository, 'package.json')]) {
    const { text, exited } = spawnMain(['replay', file])
    t.is((await exited).code, 1)
    t.regex(text.err, /Name a file that a daemon wrote which was started with --record-cassette FILE\./u)
  }
})

test('models-47: a file that is too large or not there is a clear failure of the call', async (t) => {
  const path = await folder(t)
  const large = join(path, 'large.cassette')
  writeFileSync(large, Buffer.alloc(mostBytes + 1, 32))
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  for (const [file, said] of [
    [large, /must have at most 67108864 bytes/u],
    [join(path, 'none'), /is not there/u],
  ] as const) {
    const { run } = await start(t, vendor, { base_url: 'http://127.0.0.1:9/v1', play_cassette: file })
    t.regex((await run('hi')).error, said)
  }
})

test('models-47: what cannot be written or played is a warning from the start on', async (t) => {
  const path = await folder(t)
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  writeFileSync(join(path, 'diary'), 'Dear diary')
  const warningOf = async (wish: Partial<Wish>) => {
    const { daemon } = await start(t, vendor, { base_url: 'http://127.0.0.1:9/v1', ...wish })
    const { warnings } = (await daemon.request('GET', '/v1/status')).body.health
    const [found] = warnings.filter(({ code }: any) => String(code).startsWith('cassette'))
    return found && `${found.code}: ${found.message}`
  }
  t.is(await warningOf({ record_cassette: join(path, 'new') }), undefined)
  t.is(readFileSync(join(path, 'new'), 'utf8'), head)
  t.regex(await warningOf({ record_cassette: join(path, 'diary') }), /^cassette_not_recorded: .*something else stands/u)
  t.regex(await warningOf({ record_cassette: join(path, 'no', 'f') }), /^cassette_not_recorded: .*\(ENOENT\)\.$/u)
  t.is(await warningOf({ play_cassette: join(path, 'new') }), undefined)
  t.regex(await warningOf({ play_cassette: join(path, 'diary') }), /^cassette_not_played: .*cut off in line 1/u)
  t.regex(await warningOf({ play_cassette: join(path, 'none') }), /^cassette_not_played: .* is not there/u)
})

test('models-47: a cassette that was removed while it is recorded is a warning before anything more is asked', async (t) => {
  const file = join(await folder(t), 'gone')
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  const { daemon } = await start(t, vendor, { base_url: 'http://127.0.0.1:9/v1', record_cassette: file })
  const told = async (): Promise<string[]> =>
    (await daemon.request('GET', '/v1/status')).body.health.warnings
      .filter(({ code }: any) => code === 'cassette_not_recorded')
      .map(({ message }: any) => message)
  t.deepEqual(await told(), [])
  rmSync(file)
  t.deepEqual(await told(), [`Nothing more is recorded to ${file}: the file was removed.`])
})

test('models-47: what stands elsewhere is not written to', async (t) => {
  const file = join(await folder(t), 'diary')
  writeFileSync(file, 'Dear diary')
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  const server = await startOpenAiServer(() => vendor.saying('Hello.'))
  t.teardown(() => server.close())
  const { run } = await start(t, vendor, { base_url: server.url, record_cassette: file })
  t.is((await run('hi')).status, 'completed')
  t.is(readFileSync(file, 'utf8'), 'Dear diary')
})

test('models-47: a secret in a header of an answer or in the path of the server is not recorded, and it plays', async (t) => {
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  const file = join(await folder(t), 'run.cassette')
  const server = await startOpenAiServer(() => {
    const said = vendor.saying('Hello.')
    return said.type === 'stream' ? { ...said, content_type: `text/event-stream; x=${key}` } : said
  })
  t.teardown(() => server.close())
  const base_url = `${server.url}/${key}`
  const first = await start(t, vendor, { base_url, record_cassette: file })
  t.is((await first.run('hi')).status, 'completed')
  await first.daemon.stop()
  t.true(server.asked[0]?.path.includes(key))
  t.false(readFileSync(file, 'utf8').includes(key))
  const second = await start(t, vendor, { base_url, play_cassette: file })
  t.is((await second.run('hi')).status, 'completed')
})

test('models-47: half a line that a kill left is taken away, and the recording goes on behind whole ones', async (t) => {
  const [vendor] = vendors
  if (vendor === undefined) return t.fail()
  const server = await startOpenAiServer(() => vendor.saying('Hello.'))
  t.teardown(() => server.close())
  const path = await folder(t)
  for (const [name, before, exchanges] of [
    ['whole', head + exchange, 2],
    ['half', `${head}${exchange}{"path":"/p","re${'x'.repeat(100_000)}`, 2],
    ['open', head + exchange.trimEnd(), 2],
    ['head', head.slice(0, -3), 1],
  ] as const) {
    const file = join(path, name)
    writeFileSync(file, before)
    const { run, daemon } = await start(t, vendor, { base_url: server.url, record_cassette: file })
    t.is((await run('hi')).status, 'completed')
    await daemon.stop()
    t.is(readCassette(name, readFileSync(file, 'utf8')).exchanges.length, exchanges, name)
  }
})

test('models-47: headers are masked unless they say nothing, and an answer with a secret in pieces is withheld', (t) => {
  const redact = (text: string): string => text.replaceAll(key, '[gone]')
  const sent = ['X-Goog-Api-Key', 'k', 'content-type', 'application/json', 'new-one', 'k', 'anthropic-beta', `a,${key}`]
  t.deepEqual(requestHeaders(sent, redact), {
    'x-goog-api-key': '[redacted]',
    'content-type': 'application/json',
    'new-one': '[redacted]',
    'anthropic-beta': 'a,[gone]',
  })
  t.deepEqual(
    answerHeaders({ 'content-type': `text/plain; x=${key}`, 'retry-after': '5', 'set-cookie': 'k' }, redact),
    {
      'content-type': 'text/plain; x=[gone]',
      'retry-after': '5',
    },
  )
  t.is(maskedPath(`/v1/${key}/chat`, redact), '/v1/[gone]/chat')
  t.is(maskedBody(`data: {"text":"${key}"}\n\n`, redact), 'data: {"text":"[gone]"}\n\n')
  const pieces = [key.slice(0, 9), key.slice(9)].map((text) => `data: {"text":"${text}","id":"7"}\n\n`)
  t.is(maskedBody(pieces.join(''), redact), undefined)
})

test('models-47: the first difference is told, by its path; of a part only what stands in it counts', (t) => {
  const now = { a: [1, { b: 'one two' }], c: true }
  const at = (recorded: any, isPart = false) => differenceOf(recorded, now, { path: 'r', isPart })?.path
  t.is(at(now), undefined)
  t.is(at({ a: [1, { b: 'one three' }], c: true }), 'r.a.1.b')
  t.is(at({ a: [1], c: true }), 'r.a.1')
  t.is(at({ a: now.a }), 'r.c')
  t.is(at({ a: now.a }, true), undefined)
  t.is(at({ a: [1] }, true), 'r.a.1', 'a part of a list is another list')
})
