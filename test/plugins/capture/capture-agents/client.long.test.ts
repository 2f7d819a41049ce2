/** What `holdfast capture` does on a machine, against a server that answers as a test says; docs/rules/capture.md. */
import {
  chmodSync,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  statSync,
  utimesSync,
  writeFileSync,
} from 'node:fs'
import path from 'node:path'
import test, { type ExecutionContext } from 'ava'
import { createClock } from '../../../../core/base/clock.js'
import { createIds } from '../../../../core/base/ids.js'
import { createDisk } from '../../../../core/state/disk/real-disk.js'
import type { AgentFile } from '../../../../plugins/capture/capture-agents/client/agent-file.js'
import { openSpool, type NewItem } from '../../../../plugins/capture/capture-agents/client/spool.js'
import {
  agentFileOf,
  heartbeatToken,
  pngOf,
  screenSource,
  spoolOf,
  uploadToken,
  writeAgentFile,
} from '../../../support/capture.js'
import { createLine, type Ran } from '../../../support/command-line.js'
import { spawnMain } from '../../../support/daemon.js'
import { freshFolder } from '../../../support/folders.js'
import { startReceiver, type Answerer, type Receiver } from '../../../support/receiver.js'

const uploads = '/v1/observation-sources/macos-desk-screen/observations'
const heartbeats = '/v1/capture-agents/desk/heartbeat'
const nowhere = 'http://127.0.0.1:9'

const json =
  (status: number, body: object, headers: Record<string, string> = {}): Answerer =>
  (_, response) =>
    void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
const taken: Answerer = (received, response, count) =>
  json(200, { observation_id: `observation_${count}` })(received, response, count)
const problem = (status: number, code: string, headers: Record<string, string> = {}): Answerer =>
  json(status, { code, status, detail: `The detail of ${code}.` }, headers)

const startDaemon = async (t: ExecutionContext, upload: Answerer = taken): Promise<Receiver & { url: string }> => {
  const receiver = await startReceiver(t)
  receiver.on(heartbeats, json(200, { machine_id: 'desk' }))
  receiver.on(uploads, upload)
  return { ...receiver, url: `http://127.0.0.1:${receiver.port}` }
}

interface Capturing {
  readonly ended: Promise<Ran>
  end(): Promise<Ran>
}
const start = (file: AgentFile | string, ...args: readonly string[]): Capturing => {
  const aborted = new AbortController()
  const line = createLine(aborted.signal)
  const ended = line('capture', '--config', writeAgentFile(file), ...args)
  return {
    ended,
    end: () => {
      aborted.abort()
      return ended
    },
  }
}
const itemsOf = (file: AgentFile): string[] =>
  (existsSync(spoolOf(file)) ? readdirSync(spoolOf(file)) : []).filter((name) => name.endsWith('.item'))

/** A command that puts out the next picture of a folder each time. */
const pictures = (count: number): { folder: string; command: string } => {
  const folder = freshFolder()
  for (let n = 0; n < count; n += 1) writeFileSync(path.join(folder, `${n}.png`), pngOf(n))
  writeFileSync(path.join(folder, 'next'), '0')
  const command = `n=$(cat ${folder}/next); echo $((n+1)) > ${folder}/next; cat ${folder}/$n.png`
  return { folder, command }
}

const hostile: readonly (readonly [string, (text: string) => string])[] = [
  ['no TOML', () => `secret = "${uploadToken}" x`],
  ['not the tables of an agent', () => `secret = "${uploadToken}"`],
  ['a key too many', (text) => text.replace('[daemon]', `[daemon]\nadmin_token = "${uploadToken}"`)],
  ['another scheme', (text) => text.replaceAll('http://', 'file://')],
  [
    'a heartbeat elsewhere',
    (text) => text.replace('heartbeat_url = "http://127.0.0.1', 'heartbeat_url = "http://127.0.0.2'),
  ],
  ['a password in the address', (text) => text.replaceAll('http://', 'http://user:secret@')],
  ['a path for a machine', (text) => text.replace('machine_id = "desk"', 'machine_id = "../../etc"')],
  ['a path for a source', (text) => text.replace('"macos-desk-screen"', '"../../x"')],
  ['a path for a file name', (text) => text.replace('"desk-screenshot"', '"../../x"')],
  ['a header in a name', (text) => text.replace('holdfast-capture/test', 'x\\r\\nauthorization: y')],
  ['numbers without end', (text) => text.replace('max_pending_items = 100', 'max_pending_items = inf')],
  ['a date', (text) => text.replace('every_ms = 100', 'every_ms = 2020-01-01')],
  ['no sources', (text) => `${text.slice(0, text.indexOf('[[sources]]'))}\nsources = []`],
  ['a prototype', (text) => `${text}\n[__proto__]\nx = 1`],
  ['depth', (text) => `${text}\nx = ${'['.repeat(5000)}${']'.repeat(5000)}`],
]
test('capture-12: a file that is not as a daemon gives it is refused by place and rule, and nothing of it is told', async (t) => {
  const { command } = pictures(1)
  const good = readFileSync(writeAgentFile(agentFileOf({ url: nowhere })), 'utf8')
  for (const [what, change] of hostile) {
    const text = change(good)
    t.not(text, good, what)
    const { code, out, err } = await start(text, '--command', command).ended
    t.is(code, 1, what)
    t.regex(err, /capture_file_refused/u, what)
    for (const secret of [uploadToken, heartbeatToken, 'secret@']) t.false((out + err).includes(secret), what)
  }
  const open = writeAgentFile(good)
  const line = createLine()
  t.regex(
    (await line('capture', '--config', path.join(freshFolder(), 'none'))).err,
    /the agent file .* cannot be used: it does not exist.*capture_file_refused/u,
  )
  chmodSync(open, 0o640)
  t.regex((await line('capture', '--config', open)).err, /chmod 600/u)
  t.is((await line('capture')).code, 2)
})

test('capture-12: what is taken how is said by the line, else by the file, else nothing is begun', async (t) => {
  const daemon = await startDaemon(t)
  const other = { ...screenSource(), source_id: 'macos-desk-camera', stream_id: 'camera:external:primary' }
  const two = agentFileOf({ url: daemon.url, sources: [screenSource(), other] })
  const { command } = pictures(2)
  t.regex((await start(two).ended).err, /capture_way_missing/u)
  t.regex((await start(two, '--command', command).ended).err, /capture_source_unclear/u)
  t.regex((await start(two, '--source', 'none').ended).err, /capture_source_unknown/u)
  t.is(daemon.received.length, 0)
  const ended = await start(two, '--once', '--source', 'macos-desk-screen', '--command', command).ended
  t.is(ended.code, 0, ended.err)
  const [upload] = daemon.at(uploads)
  t.is(upload?.headers.authorization, `Bearer ${uploadToken}`)
  t.is(daemon.at(heartbeats)[0]?.headers.authorization, `Bearer ${heartbeatToken}`)
  t.like(upload?.body, { stream_id: 'screen:display:display-main', seq_no: 1, metadata: { role: 'screenshot' } })
  t.like(upload?.body.upload, { media_type: 'image/png', content_base64: pngOf(0).toString('base64') })
  const source = screenSource()
  const own = agentFileOf({
    url: daemon.url,
    sources: [
      {
        ...source,
        trigger: { ...source.trigger, max_runs: 2 },
        driver: { ...source.driver, command: pictures(2).command },
      },
    ],
  })
  t.is((await start(own).ended).code, 0)
  t.is(daemon.at(uploads).length, 3)
})

test('capture-12: a command and a folder for one source are refused together', async (t) => {
  const { code, err } = await start(agentFileOf({ url: nowhere }), '--command', 'true', '--folder', freshFolder()).ended
  t.is(code, 2)
  t.regex(err, /--command does not go with --folder/u)
})

test('capture-12: a command that fails or gives something else is told once, and nothing of it is sent', async (t) => {
  const daemon = await startDaemon(t)
  const file = agentFileOf({ url: daemon.url })
  for (const [command, told] of [
    ['echo "no display" >&2; exit 3', /ended with 3: no display/u],
    ['echo "in $(pwd)" >&2; exit 4', new RegExp(`ended with 4: in ${process.cwd()}`, 'u')],
    ['echo hello', /is no PNG or JPEG picture/u],
    ['true', /is empty/u],
    ['mkdir -p "$CAPTURE_FILE/in/it"', /made a folder of \$CAPTURE_FILE/u],
    ['kill -9 $$', /was ended by SIGKILL/u],
    ['head -c 13000000 /dev/zero', /more than 12 MiB/u],
  ] as const) {
    const { code, out } = await start(file, '--once', '--command', command).ended
    t.is(code, 1, command)
    t.regex(out, told)
  }
  t.is(daemon.at(uploads).length, 0)
  const runs = path.join(freshFolder(), 'runs')
  writeFileSync(runs, '')
  const failing = start(file, '--command', `echo >> ${runs}; exit 1`)
  await daemon.until(() => statSync(runs).size > 3, 'some runs')
  const { out } = await failing.end()
  t.is(out.split('ended with 1').length, 2)
})

test('capture-12: what a command made of its file is gone, and a spool that cannot be used is told as such', async (t) => {
  const daemon = await startDaemon(t)
  const file = agentFileOf({ url: daemon.url })
  await start(file, '--once', '--command', 'mkdir "$CAPTURE_FILE"').ended
  const good = await start(file, '--once', '--command', pictures(1).command).ended
  t.is(good.code, 0, good.err)
  t.deepEqual(
    readdirSync(spoolOf(file)).filter((name) => name.startsWith('take-')),
    [],
  )
  mkdirSync(path.join(spoolOf(file), '0000000000000099.item'))
  const bad = await start(file, '--once', '--command', pictures(1).command).ended
  t.is(bad.code, 1)
  t.regex(bad.err, /the spool .* cannot be used: 0000000000000099\.item is no file \(capture_spool_refused\)/u)
})

/** One that has ended is listed until somebody asks for its end. */
const isThere = (pid: number): boolean => {
  try {
    return !/\) [XZ] /u.test(readFileSync(`/proc/${pid}/stat`, 'latin1'))
  } catch {
    return false
  }
}
test('capture-17: a command ends with its capture, also with one that is killed, and what has left its group with the next', async (t) => {
  const daemon = await startDaemon(t)
  const file = agentFileOf({ url: daemon.url })
  const [at, folder] = [writeAgentFile(file), freshFolder()]
  const stays = `trap "" TERM HUP; echo $$ > ${folder}/first; setsid sh -c 'echo $$ > ${folder}/second; exec sleep 447'`
  const { child, exited } = spawnMain(['capture', '--config', at, '--command', `${stays} & sleep 448`])
  const pidOf = (name: string): number =>
    Number(existsSync(path.join(folder, name)) ? readFileSync(path.join(folder, name), 'utf8') : 0)
  await daemon.until(() => pidOf('first') > 0 && pidOf('second') > 0, 'its processes')
  child.kill('SIGKILL')
  await exited
  await daemon.until(() => !isThere(pidOf('first')), 'the end of its group')
  t.true(isThere(pidOf('second')), 'nobody was there to end it')
  const next = await start(file, '--once', '--command', pictures(1).command).ended
  t.is(next.code, 0, next.err)
  t.false(isThere(pidOf('second')))
})

test('capture-13: what waits is sent under its key and as it was by whoever comes next', async (t) => {
  const daemon = await startDaemon(t, (_, response) => void response.destroy())
  const source = screenSource()
  const file = agentFileOf({ url: daemon.url, sources: [{ ...source, trigger: { ...source.trigger, max_runs: 3 } }] })
  const { command } = pictures(3)
  const first = start(file, '--command', command)
  await daemon.until(() => itemsOf(file).length === 3 && daemon.at(uploads).length > 3, 'three captures that wait')
  t.regex((await first.end()).out, /3 captures waiting/u)
  for (const name of readdirSync(spoolOf(file)))
    t.is(statSync(path.join(spoolOf(file), name)).mode & 0o777, 0o600, name)
  t.is(statSync(spoolOf(file)).mode & 0o777, 0o700)
  const before = new Map(daemon.at(uploads).map(({ body }) => [body.idempotency_key, JSON.stringify(body)]))
  daemon.on(uploads, taken)
  const known = daemon.at(uploads).length
  const { code, out } = await start(file, '--once', '--command', 'exit 1').ended
  t.is(code, 1)
  t.regex(out, /3 captures sent, nothing waits/u)
  const after = daemon.at(uploads).slice(known)
  t.is(new Set(after.map(({ body }) => body.idempotency_key)).size, 3)
  t.deepEqual([...new Set(after.map(({ body }) => body.seq_no))].toSorted(), [1, 2, 3])
  for (const { body } of after)
    t.is(JSON.stringify(body), before.get(body.idempotency_key) ?? JSON.stringify(body), 'what was tried is as it was')
  t.deepEqual(itemsOf(file), [])
})

test('capture-14: beyond its bounds the spool drops what is oldest, and says so', async (t) => {
  const daemon = await startDaemon(t, problem(503, 'busy'))
  const source = screenSource()
  const file = agentFileOf({
    url: daemon.url,
    sources: [{ ...source, trigger: { ...source.trigger, max_runs: 6 } }],
    spool: { max_pending_items: 2, retry_initial_delay_ms: 60_000, retry_max_delay_ms: 60_000 },
  })
  const { command, folder } = pictures(6)
  const capturing = start(file, '--command', command)
  await daemon.until(
    () =>
      readFileSync(path.join(folder, 'next'), 'utf8').trim() === '6' &&
      itemsOf(file).at(-1) === '0000000000000006.item',
    'six captures',
  )
  const { out } = await capturing.end()
  t.is(out.split('its oldest captures were dropped').length, 5)
  t.deepEqual(itemsOf(file), ['0000000000000005.item', '0000000000000006.item'])
  daemon.on(uploads, taken)
  const known = daemon.at(uploads).length
  await start(file, '--once', '--command', 'exit 1').ended
  t.deepEqual(
    daemon
      .at(uploads)
      .slice(known)
      .map(({ body }) => body.seq_no)
      .toSorted(),
    [5, 6],
  )
})

const itemOf = (n: number): NewItem => ({
  head: { source_id: 's', file_name: 'f', media_type: 'image/png', captured_at_ms: n, stream_id: 'a', metadata: {} },
  bytes: pngOf(n),
  isNumbered: true,
})
const noSpace = () => Promise.reject(Object.assign(new Error('full'), { code: 'ENOSPC' }))

test('capture-14: a full disk takes the oldest captures away until there is room, and loses no other', async (t) => {
  const disk = createDisk()
  const folder = path.join(freshFolder(), 'a', 'spool')
  const programs: any = {}
  const hold = () => Promise.resolve({ programs, release: () => Promise.resolve() })
  let refusals = 0
  const replace: typeof disk.replace = (file, bytes) => (refusals-- > 0 ? noSpace() : disk.replace(file, bytes))
  const tools = { disk: { ...disk, replace }, ids: createIds(createClock()), hold }
  const most = { items: 10, bytes: 1_000_000 }
  const spool = await openSpool({ tools, folder, most })
  for (let n = 0; n < 4; n += 1) t.deepEqual(await spool.add(itemOf(n)), { ok: true, dropped: 0 })
  refusals = 2
  t.deepEqual(await spool.add(itemOf(4)), { ok: true, dropped: 2 })
  refusals = 100
  t.deepEqual(await spool.add(itemOf(5)), { ok: false, dropped: 3 })
  refusals = 0
  t.deepEqual(await spool.add(itemOf(6)), { ok: true, dropped: 0 })
  writeFileSync(path.join(folder, '0000000000000099.item.123'), 'half')
  writeFileSync(path.join(folder, 'take-x.png'), 'half')
  mkdirSync(path.join(folder, 'take-y.png', 'in', 'it'), { recursive: true })
  const again = await openSpool({ tools, folder, most })
  const [only, none] = again.waiting()
  t.is(none, undefined)
  t.like(only && again.read(only), { head: { captured_at_ms: 6 }, bytes: pngOf(6) })
  t.deepEqual(
    readdirSync(folder).filter((name) => name.includes('take') || name.endsWith('123')),
    [],
  )
  const [name = ''] = readdirSync(folder).filter((one) => one.endsWith('.item'))
  writeFileSync(path.join(folder, name), readFileSync(path.join(folder, name)).subarray(0, -1))
  t.is(only && again.read(only), undefined, 'what was changed is no capture')
})

test('capture-14: two captures never work with one spool', async (t) => {
  const daemon = await startDaemon(t)
  const file = agentFileOf({ url: daemon.url })
  const first = start(file, '--folder', freshFolder())
  await daemon.until(() => daemon.at(heartbeats).length > 0, 'the first')
  t.regex((await start(file, '--folder', freshFolder()).ended).err, /capture_spool_taken/u)
  t.is((await first.end()).code, 0)
  const shared = freshFolder()
  chmodSync(shared, 0o755)
  t.regex((await start(file, '--folder', freshFolder(), '--spool', shared).ended).err, /capture_spool_refused/u)
})

test('capture-15: uploads are tried again until they arrive, and no sooner than the daemon asks', async (t) => {
  const html: Answerer = (_, response) => void response.writeHead(502, { 'content-type': 'text/html' }).end('<html>')
  const answers = [html, problem(503, 'storage_read_only'), problem(429, 'rate_limited', { 'retry-after': '1' })]
  const times: number[] = []
  const daemon = await startDaemon(t, (received, response, count) => {
    times.push(performance.now())
    ;(answers[count - 1] ?? taken)(received, response, count)
  })
  const file = agentFileOf({ url: daemon.url })
  const { code, out } = await start(file, '--once', '--command', pictures(1).command).ended
  t.is(code, 0, out)
  t.is(daemon.at(uploads).length, 4)
  t.is(new Set(daemon.at(uploads).map(({ body }) => JSON.stringify(body))).size, 1)
  t.true((times[3] ?? 0) - (times[2] ?? 0) >= 990)
  daemon.on(uploads, problem(400, 'observation_invalid'))
  const refused = await start(file, '--once', '--command', pictures(1).command).ended
  t.regex(refused.out, /given up: desk-screenshot-\d+\.png: The detail of observation_invalid/u)
  daemon.on(uploads, json(400, { code: 'x', status: 400, detail: 'd\u001b[2J\nENDED: all is well' }))
  const lines = (await start(file, '--once', '--command', pictures(1).command).ended).out
  t.regex(lines, /given up: \S+: d\\u001b\[2J\\nENDED/u)
  t.deepEqual(itemsOf(file), [])
})

test('capture-16: a token that is not taken and an address that is wrong end the capture, and what waits stays', async (t) => {
  const daemon = await startDaemon(t, problem(401, 'ingress_token_invalid'))
  const file = agentFileOf({ url: daemon.url })
  const revoked = await start(file, '--command', pictures(9).command).ended
  t.is(revoked.code, 1)
  t.regex(revoked.err, /does not take the token of macos-desk-screen of desk any more.*capture_token_refused/u)
  t.true(itemsOf(file).length > 0)
  daemon.on(uploads, problem(503, 'busy'))
  daemon.on(heartbeats, problem(401, 'ingress_token_invalid'))
  t.regex((await start(file, '--folder', freshFolder()).ended).err, /heartbeat token/u)
  const html: Answerer = (_, response) => void response.end('<html>welcome</html>')
  for (const answer of [html, problem(404, 'route_not_found')]) {
    daemon.on(heartbeats, answer)
    t.regex((await start(file, '--folder', freshFolder()).ended).err, /capture_address_wrong/u)
  }
  daemon.on(heartbeats, json(200, {}))
  daemon.on(uploads, taken)
  const { out } = await start(file, '--once', '--command', 'exit 1').ended
  t.regex(out, /captures? sent, nothing waits/u)
  const away = await start(agentFileOf({ url: nowhere }), '--once', '--command', pictures(1).command).ended
  t.is(away.code, 1)
  t.regex(away.out, /uploads: no daemon answers \(ECONNREFUSED\); they wait/u)
  t.regex(away.out, /1 capture waiting/u)
})

test('capture-16: an answer without end is read to its bound alone, and is that of no daemon', async (t) => {
  const piece = Buffer.alloc(64 * 1024, 0x78)
  let sent = 0
  const daemon = await startDaemon(t, (_, response) => {
    response.writeHead(400, { 'content-type': 'application/json' })
    const go = (): void => {
      if (response.destroyed || sent > 256 * 1024 * 1024) return void response.end()
      sent += piece.length
      if (response.write(piece)) setImmediate(go)
      else response.once('drain', go)
    }
    go()
  })
  const { code, err } = await start(agentFileOf({ url: daemon.url }), '--once', '--command', pictures(1).command).ended
  t.is(code, 1)
  t.regex(err, /capture_address_wrong/u)
  t.true(sent < 64 * 1024 * 1024, `${sent} bytes`)
})

test('capture-17: SIGTERM ends it cleanly, and its tokens are nowhere but in its file', async (t) => {
  const daemon = await startDaemon(t)
  const source = screenSource()
  const seen = path.join(freshFolder(), 'seen')
  const command = `env > ${seen}.new; mv ${seen}.new ${seen}; cat ${path.join(pictures(1).folder, '0.png')}`
  const file = agentFileOf({ url: daemon.url, sources: [{ ...source, driver: { ...source.driver, command } }] })
  const at = writeAgentFile(file)
  const { child, text, exited } = spawnMain(['capture', '--config', at], {
    SERVICE_DAEMON_TOKEN: 'hft_admin_0123456789abcdef',
  })
  await daemon.until(() => daemon.at(uploads).length > 2, 'uploads')
  const line = readFileSync(`/proc/${child.pid}/cmdline`, 'utf8')
  child.kill('SIGTERM')
  t.deepEqual(await exited, { code: 0, signal: null })
  t.regex(text.out, /Ended: \d+ captures sent/u)
  const told = [line, text.out, text.err, readFileSync(seen, 'utf8')].join('\n')
  for (const token of [uploadToken, heartbeatToken, 'hft_admin']) t.false(told.includes(token))
  t.regex(readFileSync(seen, 'utf8'), /CAPTURE_SOURCE_ID=macos-desk-screen/u)
})

test('capture-18: files of a folder are taken when they are whole, and again when they are others', async (t) => {
  const daemon = await startDaemon(t)
  const folder = freshFolder()
  const write = (name: string, bytes: Uint8Array): void => {
    mkdirSync(path.join(folder, '.new'), { recursive: true })
    writeFileSync(path.join(folder, '.new', 'x'), bytes)
    renameSync(path.join(folder, '.new', 'x'), path.join(folder, name))
  }
  write('a.png', pngOf(1))
  write('notes.txt', Buffer.from('no picture'))
  const file = agentFileOf({ url: daemon.url })
  const first = start(file, '--folder', folder)
  await daemon.until(() => daemon.at(uploads).length === 1, 'the first file')
  write('b.png', pngOf(2))
  await daemon.until(() => daemon.at(uploads).length === 2, 'the second file')
  const { out } = await first.end()
  t.is(out.split('notes.txt is left out: it is no PNG or JPEG picture').length, 2)
  write('a.png', pngOf(3))
  utimesSync(path.join(folder, 'b.png'), 1, 1)
  const second = await start(file, '--once', '--folder', folder).ended
  t.is(second.code, 0, second.out)
  // Whoever is ended while it sends does not know what arrived, and sends it again under its key.
  const sent = new Map(daemon.at(uploads).map(({ body }) => [body.idempotency_key, body.upload]))
  t.deepEqual(
    [...sent.values()].map(({ file_name, content_base64 }) => [file_name, content_base64]),
    ['a.png', 'b.png', 'a.png'].map((name, n) => [name, pngOf(n + 1).toString('base64')]),
  )
  t.deepEqual(
    readdirSync(folder).filter((name) => !name.startsWith('.')),
    ['a.png', 'b.png', 'notes.txt'],
  )
  t.regex(
    (await start(file, '--once', '--folder', path.join(folder, 'none')).ended).out,
    /is no folder that can be read/u,
  )
})
