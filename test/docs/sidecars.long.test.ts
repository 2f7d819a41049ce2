/** The sidecars of the guide, on a daemon, with kills of either side: one run for each message, each answer once. */
import { createHmac } from 'node:crypto'
import { appendFileSync, existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { spawn } from 'node:child_process'
import { createServer } from 'node:http'
import { connect, type AddressInfo } from 'node:net'
import { join } from 'node:path'
import test from 'ava'
import type { ExecutionContext } from 'ava'
import { spawnTestDaemon, type Reachable } from '../support/daemon.js'
import { blocksFor, repository, sh, shBlocks } from '../support/docs.js'
import { freshFolder, rootForKills } from '../support/folders.js'
import { eventually } from '../support/mcp.js'
import { connectorNow, freePort, healthOf, putSidecar } from '../support/sidecars.js'

const fileBox = join(repository, 'docs/examples/file-box/file_box.py')
const lineChat = join(repository, 'dist/docs/examples/line-chat/line-chat.js')

/** Programs of the machine that were started with a file, and have a text in their environment. */
const pidsWith = (file: string, text: string): number[] =>
  readdirSync('/proc').flatMap((name) => {
    try {
      const isIt = readFileSync(`/proc/${name}/cmdline`, 'utf8').split('\0').includes(file)
      return isIt && readFileSync(`/proc/${name}/environ`, 'utf8').includes(text) ? [Number(name)] : []
    } catch {
      return []
    }
  })

const kill = async (file: string, text: string): Promise<void> => {
  const [pid] = await eventually(async () => {
    const pids = pidsWith(file, text)
    return pids.length > 0 ? pids : undefined
  })
  process.kill(pid ?? 0, 'SIGKILL')
  // Whoever meets one that is about to end speaks to nobody: its port is open until the last thread is gone, when its
  // command line has been empty for a while. Only what its parent has waited for has closed everything.
  await eventually(async () => (existsSync(`/proc/${pid}`) ? undefined : true))
}

/** What all runs were told, sorted. */
const told = async ({ request: ask }: Reachable): Promise<string[]> => {
  const contents: string[] = []
  for (let after = ''; ;) {
    const { body } = await ask('GET', `/v1/runs?limit=200${after}`)
    const runs: any[] = Array.isArray(body) ? body : body.items
    contents.push(...runs.map(({ request }) => request.text_preview))
    if (body.pagination?.next_cursor === undefined) return contents.toSorted()
    after = `&cursor=${encodeURIComponent(body.pagination.next_cursor)}`
  }
}

const visible = (folder: string): string[] =>
  readdirSync(folder)
    .filter((name) => !name.startsWith('.'))
    .toSorted()

const dropping = (box: string) => (name: string, content: string | Uint8Array) =>
  writeFileSync(join(box, 'in', name), content)

const putBox = (daemon: Reachable, box: string, more: object = {}) =>
  putSidecar(daemon, 'box', {
    command: 'python3',
    args: [fileBox],
    env: { FILE_BOX: box, PYTHONDONTWRITEBYTECODE: '1' },
    ...more,
  })

const startBox = async (t: ExecutionContext, more: object = {}) => {
  const [root, box] = [rootForKills(), freshFolder()]
  const daemon = await spawnTestDaemon(t, { root })
  await daemon.request('POST', '/v1/runtime/secrets', { slot_id: 'box.key', state: { value: 'the key of the box' } })
  t.is((await putBox(daemon, box, more)).status, 200)
  await healthOf(daemon, 'box', 'ok')
  mkdirSync(join(box, 'in'), { recursive: true })
  return { root, box, daemon, drop: dropping(box) }
}

test('external-59, external-60: a file in the box is a message, its answer is a file, and kills of either side change nothing of that', async (t) => {
  const { root, box, daemon, drop } = await startBox(t, { credential_slots: { SIGNING_KEY: 'box.key' } })
  const names = Array.from({ length: 60 }, (_, at) => `letter ${String(at).padStart(2, '0')}`)
  const dropSome = (from: number, to: number): void =>
    names.slice(from, to).forEach((name) => drop(`${name}.txt`, `Hello from ${name}, "Ünï" {}`))
  const isAnswered = (count: number) =>
    eventually(async () => (visible(join(box, 'out')).length >= count ? true : undefined))
  dropSome(0, 20)
  await isAnswered(3)
  await kill(fileBox, box)
  dropSome(20, 30)
  await isAnswered(22)
  dropSome(30, 50)
  await new Promise((resolve) => setTimeout(resolve, 700))
  await daemon.die()
  dropSome(50, 55)
  const second = await spawnTestDaemon(t, { root })
  dropSome(55, 60)
  await isAnswered(45)
  await kill(fileBox, box)
  await isAnswered(60)
  await eventually(async () => (visible(join(box, 'sent')).length === 60 ? true : undefined))
  await new Promise((resolve) => setTimeout(resolve, 1_500))

  t.deepEqual(
    await told(second),
    names.map((name) => `Hello from ${name}, "Ünï" {}`),
  )
  const answers = visible(join(box, 'out'))
  t.deepEqual(
    answers.map((name) => name.split('--')[0]),
    names,
  )
  for (const name of answers) {
    const [text = '', signature] = readFileSync(join(box, 'out', name), 'utf8')
      .trimEnd()
      .split('\n-- signed ')
    t.is(text, `You said: Hello from ${name.split('--')[0]}, "Ünï" {}`)
    t.is(signature, createHmac('sha256', 'the key of the box').update(text).digest('hex'))
  }
  t.deepEqual([visible(join(box, 'refused')), visible(join(box, 'in'))], [[], []])
  const before = pidsWith(fileBox, box)
  await second.request('POST', '/v1/runtime/secrets', { slot_id: 'box.key', state: { value: 'another key' } })
  await eventually(async () => (pidsWith(fileBox, box).some((pid) => !before.includes(pid)) ? true : undefined))
  dropping(box)('new key.txt', 'Which key?')
  await isAnswered(61)
  const signed = readFileSync(join(box, 'out', visible(join(box, 'out')).at(-1) ?? ''), 'utf8')
  t.true(signed.includes(createHmac('sha256', 'another key').update('You said: Which key?').digest('hex')))
  const { body } = await second.request('GET', '/v1/deliveries?status=dead_lettered')
  t.deepEqual(body.items ?? body, [])
  await second.stop()
  t.deepEqual(pidsWith(fileBox, box), [])
})

test('external-60: files go in and out, and what is refused is kept with its reason', async (t) => {
  const { box, daemon, drop } = await startBox(t)
  const read = (name: string): Promise<Buffer> =>
    eventually(async () => {
      const found = visible(join(box, 'out')).find((one) => one.includes(name))
      return found === undefined ? undefined : readFileSync(join(box, 'out', found))
    })
  drop('notes.csv', 'one,two\n')
  t.regex((await read('notes--')).toString(), /You said: The file notes\.csv/u)
  const { body: assets } = await daemon.request('GET', '/v1/assets')
  const { asset_id } = (assets.items ?? assets).find(({ file_name }: any) => file_name === 'notes.csv')
  drop(
    'back.txt',
    `/tool emit_output ${JSON.stringify({ content: 'Here it is.', artifact_ids: [asset_id] })}\n---\n/say done`,
  )
  t.is((await read('notes.csv')).toString(), 'one,two\n')
  drop('large.bin', Buffer.alloc(3_000_000))
  drop('empty.txt', '')
  await eventually(async () => (visible(join(box, 'refused')).length === 4 ? true : undefined))
  const why = visible(join(box, 'refused')).filter((name) => name.endsWith('.why'))
  for (const name of why) t.true(readFileSync(join(box, 'refused', name), 'utf8').length > 10)
  await daemon.stop()
})

/** Somebody at the port of the chat, and the lines that they read. */
const meet = async (t: ExecutionContext, port: number, name: string) => {
  const lines: string[] = []
  const socket = await eventually(
    () =>
      new Promise<ReturnType<typeof connect> | undefined>((resolve) => {
        const made = connect(port, '127.0.0.1', () => resolve(made)).on('error', () => resolve(undefined))
      }),
  )
  t.teardown(() => socket.destroy())
  let carry = ''
  socket.setEncoding('utf8').on('data', (text: string) => {
    const parts = (carry + text).split('\n')
    carry = parts.pop() ?? ''
    lines.push(...parts)
  })
  socket.write(`${name}\n`)
  return { lines, say: (line: string) => void socket.write(`${line}\n`), leave: () => socket.destroy() }
}

test('external-9, external-60: a message is injected into the chat where both variables and a token allow it alone', async (t) => {
  const daemon = await spawnTestDaemon(t)
  const [folder, port] = [freshFolder(), await freePort()]
  const env = { LINE_CHAT_FILE: join(folder, 'chat.ndjson'), LINE_CHAT_PORT: String(port) }
  const testing = {
    SERVICE_EXTERNAL_CONNECTOR_ENABLE_TEST_API: 'true',
    SERVICE_EXTERNAL_CONNECTOR_TEST_MODE: 'true',
  }
  const put = (more: object) =>
    putSidecar(daemon, 'chat', { command: process.execPath, args: [lineChat], env: { ...env, ...more } })
  const inject = async (token: string): Promise<number> => {
    await healthOf(daemon, 'chat', 'ok')
    const { base_url } = await connectorNow(daemon, 'chat')
    const body = JSON.stringify({ who: 'anna', text: 'Hello?' })
    const headers = { authorization: `Bearer ${token}` }
    return eventually(async () => {
      const answer = await fetch(`${base_url}/__test/inject`, { method: 'POST', headers, body }).catch(() => undefined)
      return answer?.status
    })
  }
  await put({})
  t.is(await inject('shared-chat'), 404)
  await put({ ...testing, SERVICE_EXTERNAL_CONNECTOR_TEST_MODE: 'yes' })
  t.is(await inject('shared-chat'), 404)
  await put(testing)
  t.is(await inject('wrong'), 401)
  t.is(await inject('shared-chat'), 200)
  await eventually(async () => ((await told(daemon)).includes('Hello?') ? true : undefined))
  await daemon.stop()
})

test('external-60: who writes lines into the chat is answered there, and kills of either side change nothing of that', async (t) => {
  const [root, folder, port] = [rootForKills(), freshFolder(), await freePort()]
  const first = await spawnTestDaemon(t, { root })
  const file = join(folder, 'chat.ndjson')
  const wish = {
    command: process.execPath,
    args: [lineChat],
    env: { LINE_CHAT_FILE: file, LINE_CHAT_PORT: String(port) },
  }
  t.is((await putSidecar(first, 'chat', wish)).status, 200)
  await healthOf(first, 'chat', 'ok')
  const journal = (): any[] =>
    readFileSync(file, 'utf8')
      .split('\n')
      .flatMap((line) => {
        try {
          return [JSON.parse(line)]
        } catch {
          return []
        }
      })
  const answers = () => journal().filter(({ type }) => type === 'answer')
  const isAnswered = (count: number) => eventually(async () => (answers().length >= count ? true : undefined))
  const anna = await meet(t, port, 'anna')
  for (let at = 0; at < 20; at += 1) anna.say(`Hello ${at}`)
  await isAnswered(2)
  await kill(lineChat, file)
  const ben = await meet(t, port, 'ben')
  for (let at = 0; at < 10; at += 1) ben.say(`Good morning ${at}`)
  await eventually(async () => (journal().some(({ who }) => who === 'ben') ? true : undefined))
  await first.die()
  const second = await spawnTestDaemon(t, { root })
  const again = await meet(t, port, 'anna')
  again.say('And now \u001b[2J?')
  const said = (): string[] => journal().flatMap(({ type, text }) => (type === 'said' ? [text] : []))
  await eventually(async () => (said().some((text) => text.startsWith('And now')) ? true : undefined))
  await isAnswered(said().length)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.deepEqual(await told(second), said().toSorted())
  t.deepEqual(
    answers()
      .map(({ text }) => text)
      .toSorted(),
    said()
      .map((text) => `You said: ${text}`)
      .toSorted(),
  )
  t.true(again.lines.includes('< You said: And now  [2J?'))
  const { body: sessions } = await second.request('GET', '/v1/sessions')
  t.is((sessions.items ?? sessions).length, 2, 'one for each who spoke')
  await second.stop()
})

test('external-60: what the guide shows works', async (t) => {
  const folder = freshFolder()
  const daemon = await spawnTestDaemon(t)
  const placed = async (name: string): Promise<string[]> => {
    const [box, port] = [join(folder, name), await freePort()]
    return blocksFor('docs/sidecars.md', name).map((block) =>
      block
        .replaceAll(/'?\$HOME'?\/box(?:-alone)?/gu, box)
        .replaceAll(/127\.0\.0\.1:809[01]/gu, `127.0.0.1:${port}`)
        .replaceAll("'$PWD'", repository),
    )
  }
  const first = await shBlocks(await placed('sidecars'), { url: daemon.url, folder })
  t.regex(first.run.out, /You said: Hello from a file\.\n/u, first.run.err)
  const [alone = ''] = await placed('sidecars-alone')
  const { out } = await sh(alone, repository)
  const committed = String.raw`\{"status": "committed"\}`
  const seen = `"instance_id": "(\\w+)", "capabilities".*"instance_id": "\\1", "status": "ready"\\}${committed}${committed}`
  t.regex(out, new RegExp(`${seen}\\{"error": "the shared token is wrong"\\}greeting--delivery_1\\.txt\\n$`, 'u'))
  const [port, file] = [await freePort(), join(folder, 'chat.ndjson')]
  const [chat = ''] = await placed('sidecars-chat')
  const placedChat = chat
    .replace('127.0.0.1:8092', `127.0.0.1:${await freePort()}`)
    .replace("'$HOME'/line-chat.ndjson", file)
    .replace('"7000"', `"${port}"`)
  t.regex((await shBlocks([placedChat], { url: daemon.url, folder })).run.out, /"kind":"external"/u)
  await healthOf(daemon, 'lines', 'ok')
  const anna = await meet(t, port, 'anna')
  anna.say('Hello')
  await eventually(async () => (anna.lines.includes('< You said: Hello') ? true : undefined))
  const events = await shBlocks(await placed('sidecars-events'), { url: daemon.url, folder })
  const answers = events.run.out.split('\n')
  const [one, two, three, four, five] = answers.slice(1, 6).map((line) => JSON.parse(line))
  t.like(one, { event_id: '1', status: 'accepted' })
  t.like(two, { ...one, status: 'duplicate' })
  t.like(three, { session_id: one.session_id, run_id: one.run_id, status: 'rejected' })
  t.regex(four.reason, /unsupported protocol_version/u)
  t.deepEqual(
    five.results.map(({ status }: any) => status),
    ['accepted', 'rejected'],
  )
  t.regex(events.run.out, /ingress_total\{connector="try",status="accepted"\} 2/u)
  await daemon.stop()
})

test('external-60: a sidecar that was written from the guide alone does what the two do', async (t) => {
  if ((await sh('perl -MJSON::PP -MHTTP::Tiny -e 1', repository)).code !== 0) return t.pass('there is no Perl here')
  const [root, folder] = [rootForKills(), freshFolder()]
  const program = join(repository, 'test/support/line-sidecar.pl')
  const first = await spawnTestDaemon(t, { root })
  const answers = (): any[] =>
    (existsSync(join(folder, 'answers')) ? readFileSync(join(folder, 'answers'), 'utf8') : '')
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [JSON.parse(line)]))
  const isAnswered = (count: number) => eventually(async () => (answers().length >= count ? true : undefined))
  const lines = Array.from({ length: 40 }, (_, at) => `Line ${at} with "Ünï"`)
  const add = (from: number, to: number): void =>
    lines.slice(from, to).forEach((line) => appendFileSync(join(folder, 'lines'), `${line}\n`))
  add(0, 20)
  t.is(
    (await putSidecar(first, 'lines', { command: 'perl', args: [program], env: { LINES_FOLDER: folder } })).status,
    200,
  )
  await isAnswered(3)
  await kill(program, folder)
  add(20, 30)
  await isAnswered(22)
  add(30, 40)
  await new Promise((resolve) => setTimeout(resolve, 100))
  await first.die()
  const second = await spawnTestDaemon(t, { root })
  await isAnswered(40)
  await new Promise((resolve) => setTimeout(resolve, 1_500))
  t.deepEqual(await told(second), lines.toSorted())
  t.deepEqual(
    answers()
      .map(({ text }) => text)
      .toSorted(),
    lines.map((line) => `You said: ${line}`).toSorted(),
    'each has a route of its own, so they may overtake each other',
  )
  await second.stop()
  t.deepEqual(pidsWith(program, folder), [])
})

/** A daemon of an earlier time: it knows version 1 alone and no batches, is busy at first, and answers everything once. */
const startOlder = async (t: ExecutionContext) => {
  const taken = new Map<string, any>()
  const asked: string[] = []
  let isBusy = true
  const server = createServer((request, response) => {
    const send = (status: number, body: object, headers: Record<string, string> = {}): void =>
      void response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
    let text = ''
    request.setEncoding('utf8').on('data', (part: string) => (text += part))
    request.on('end', () => {
      const event = JSON.parse(text)
      asked.push(`${request.url?.split('/').at(-1)} ${event.protocol_version}`)
      if (request.headers.authorization !== 'Bearer old') return send(401, {})
      if (request.url?.endsWith('/batch') === true) return send(404, { code: 'not_found' })
      if (event.protocol_version !== 1)
        return send(200, { status: 'rejected', reason: 'unsupported protocol_version 2' })
      if (isBusy) {
        isBusy = false
        return send(429, { code: 'external_ingress_rate_limited' }, { 'retry-after': '1' })
      }
      const status = taken.has(event.event_id) ? 'duplicate' : 'accepted'
      taken.set(event.event_id, event)
      // The answer is lost now and then: the event comes again.
      if (status === 'accepted' && taken.size % 2 === 0) return response.destroy()
      send(200, { event_id: event.event_id, status, session_id: 's', run_id: 'r' })
    })
  })
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve)
  })
  t.teardown(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const environment = async (more: Record<string, string>) => ({
    PATH: process.env['PATH'] ?? '',
    SERVICE_EXTERNAL_CONNECTOR_NAME: 'old',
    SERVICE_EXTERNAL_CONNECTOR_BASE_URL: `http://127.0.0.1:${await freePort()}`,
    SERVICE_EXTERNAL_CONNECTOR_DAEMON_BASE_URL: `http://127.0.0.1:${port}`,
    SERVICE_EXTERNAL_CONNECTOR_SHARED_TOKEN: 'old',
    ...more,
  })
  return { taken, asked, environment }
}

test('external-60: both fall back to single events of version 1, wait as they are told, and repeat what was not answered', async (t) => {
  const texts = Array.from({ length: 6 }, (_, at) => `Hello ${at}`)
  for (const kind of ['box', 'chat']) {
    const { taken, asked, environment } = await startOlder(t)
    const [folder, port] = [freshFolder(), await freePort()]
    mkdirSync(join(folder, 'in'))
    if (kind === 'box') texts.forEach((text, at) => dropping(folder)(`${at}.txt`, text))
    const env = await environment({
      FILE_BOX: folder,
      PYTHONDONTWRITEBYTECODE: '1',
      LINE_CHAT_FILE: join(folder, 'chat.ndjson'),
      LINE_CHAT_PORT: String(port),
    })
    const program =
      kind === 'box'
        ? spawn('python3', [fileBox], { env, stdio: 'ignore' })
        : spawn(process.execPath, [lineChat], { env, stdio: 'ignore' })
    t.teardown(() => program.kill('SIGKILL'))
    if (kind === 'chat') {
      const anna = await meet(t, port, 'anna')
      texts.forEach(anna.say)
    }
    await eventually(async () => (taken.size === texts.length ? true : undefined))
    const isOver = (): boolean =>
      kind === 'box'
        ? visible(join(folder, 'sent')).length === texts.length
        : (readFileSync(join(folder, 'chat.ndjson'), 'utf8').match(/"type":"sent"/gu) ?? []).length === texts.length
    await eventually(async () => (isOver() ? true : undefined))
    t.deepEqual(
      [...taken.values()].map(({ content }) => content),
      texts,
      kind,
    )
    t.true(asked.includes('batch 2') && asked.includes('events 2'))
    t.is(asked.filter((what) => what.startsWith('batch')).length, 1, 'it asks for no batch again')
    program.kill('SIGKILL')
  }
})
