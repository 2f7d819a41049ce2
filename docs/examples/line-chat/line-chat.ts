/**
 * A chat of lines: whoever connects to its port with `nc` says a name, writes lines and reads the answers. A whole
 * sidecar of the connector kind `external`, with Node alone. What must not be lost is in one file to which lines are
 * added: what was said and has not been sent, and the answers that have come.
 */
import { randomUUID, timingSafeEqual } from 'node:crypto'
import { closeSync, existsSync, fsyncSync, openSync, readFileSync, writeSync } from 'node:fs'
import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { createServer as createPort, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'

const variable = (name: string): string => process.env[`SERVICE_EXTERNAL_CONNECTOR_${name}`] ?? ''
const [token, daemon, here] = [variable('SHARED_TOKEN'), variable('DAEMON_BASE_URL'), new URL(variable('BASE_URL'))]
const route = `${daemon}/v1/connectors/external/${encodeURIComponent(variable('NAME'))}`
const instance_id = randomUUID()

type Said = { type: 'said'; event_id: string; who: string; text: string; at_ms: number }
type Entry =
  | Said
  | { type: 'sent' | 'refused'; event_id: string }
  | { type: 'answer'; delivery_id: string; who: string; text: string }

// part: journal
/** All that is known, in order. A line is there when `keep` returns, whatever happens then. */
const createJournal = (path: string) => {
  const whole = existsSync(path) ? readFileSync(path, 'utf8') : ''
  // A kill may have cut the last line in two: it was never answered for, and the next one begins a new line.
  const entries = whole.split('\n').flatMap((line): Entry[] => {
    try {
      return [JSON.parse(line) as Entry]
    } catch {
      return []
    }
  })
  const file = openSync(path, 'a', 0o600)
  if (whole !== '' && !whole.endsWith('\n')) writeSync(file, '\n')
  return {
    entries,
    keep(entry: Entry): void {
      writeSync(file, `${JSON.stringify(entry)}\n`)
      fsyncSync(file)
      entries.push(entry)
    },
    close: (): void => closeSync(file),
  }
}
// end

const journal = createJournal(process.env['LINE_CHAT_FILE'] ?? 'line-chat.ndjson')
const [unsent, answered] = [new Map<string, Said>(), new Set<string>()]
const note = (entry: Entry): void => {
  if (entry.type === 'said') unsent.set(entry.event_id, entry)
  else if (entry.type === 'answer') answered.add(entry.delivery_id)
  else unsent.delete(entry.event_id)
}
journal.entries.forEach(note)
const keep = (entry: Entry): void => {
  journal.keep(entry)
  note(entry)
}

// part: send
type Told = { status: string; reason?: string | null; retry_after_ms?: number | null }

let [version, inBatches] = [2, true]

const eventOf = ({ event_id, who, text, at_ms }: Said) => ({
  instance_id,
  event_id,
  occurred_at_ms: at_ms,
  actor_id: who,
  thread: { path: [who] },
  reply_route: who,
  content: text,
})

const ask = (path: string, body: object): Promise<Response> =>
  fetch(`${route}${path}`, {
    method: 'POST',
    headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
    body: JSON.stringify({ protocol_version: version, ...body }),
    redirect: 'error',
    signal: AbortSignal.timeout(30_000),
  })

/** What the daemon says of the first one or of all, in order. Throws if it says nothing. */
const post = async (said: readonly Said[]): Promise<readonly Told[]> => {
  const [first] = said
  if (first === undefined) return []
  const answer = inBatches
    ? await ask('/events/batch', { events: said.map(eventOf) })
    : await ask('/events', eventOf(first))
  if (answer.ok) {
    const body = (await answer.json()) as Told & { results?: Told[] }
    return inBatches ? (body.results ?? []) : [body]
  }
  // An older daemon knows no batches. It may also be that there is no such connector: then the next request says so.
  if (inBatches && (answer.status === 404 || answer.status === 405)) inBatches = false
  const after = Number(answer.headers.get('retry-after') ?? 2) * 1000
  return [{ status: 'later', reason: `HTTP ${answer.status}`, retry_after_ms: after }]
}

/** Takes the daemon at its word: what it has, what it will never have, and what it wants again. Milliseconds to wait. */
const settle = ({ event_id, who }: Said, { status, reason, retry_after_ms }: Told): number => {
  if (status === 'rejected' && version > 1 && reason?.includes('unsupported protocol_version') === true) {
    version = 1
    return 100
  }
  if (status === 'accepted' || status === 'duplicate') keep({ type: 'sent', event_id })
  else if (status === 'rejected') {
    keep({ type: 'refused', event_id })
    tell(who, `! not taken: ${reason ?? ''}`)
  } else return retry_after_ms ?? 2000
  return 0
}

const sendForEver = async (): Promise<never> => {
  for (let failures = 0; ;) {
    const said = [...unsent.values()].slice(0, 64)
    try {
      const told = await post(said)
      const waits = told.flatMap((one, at) => said.slice(at, at + 1).map((of) => settle(of, one)))
      failures = 0
      await sleep(Math.max(200, ...waits))
    } catch (error) {
      console.error(`the daemon cannot be asked: ${error instanceof Error ? error.message : 'no answer'}`)
      failures += 1
      await sleep(Math.min(60_000, 250 * 2 ** failures))
    }
  }
}
// end

// part: people
const people = new Map<string, Set<Socket>>()

/** What others wrote steers no terminal. */
const plain = (text: string): string => text.replaceAll(/[^\P{Cc}\n]/gu, ' ')
const tell = (who: string, text: string): void => people.get(who)?.forEach((socket) => socket.write(`${plain(text)}\n`))

const enter = (who: string, socket: Socket): void => {
  people.set(who, (people.get(who) ?? new Set()).add(socket))
  socket.once('close', () => people.get(who)?.delete(socket))
  const before = journal.entries.filter((entry) => 'who' in entry && entry.who === who).slice(-10)
  for (const entry of before)
    if ('text' in entry) socket.write(`${entry.type === 'said' ? '>' : '<'} ${plain(entry.text)}\n`)
}

const meet = (socket: Socket): void => {
  let [who, carry] = ['', '']
  const hear = (line: string): void => {
    if (line.trim() === '') return
    if (who !== '') return keep({ type: 'said', event_id: randomUUID(), who, text: line, at_ms: Date.now() })
    who = line.trim().slice(0, 80)
    enter(who, socket)
  }
  socket.setEncoding('utf8').on('error', () => {})
  socket.on('data', (text: string) => {
    const lines = (carry + text).split('\n')
    carry = lines.pop() ?? ''
    lines.forEach(hear)
    if (carry.length > 100_000) socket.destroy()
  })
  socket.write('Who are you?\n')
}
// end

// part: deliver
type Delivery = { delivery_id: string; reply_route: string; content: string }

/** An answer is kept before it is shown: whoever was away reads it later, and a repetition finds it there. */
const deliver = ({ delivery_id, reply_route, content }: Delivery) => {
  if (!answered.has(delivery_id)) {
    keep({ type: 'answer', delivery_id, who: reply_route, text: content })
    tell(reply_route, `< ${content}`)
  }
  return { status: 'committed' }
}
// end

const isDaemon = ({ headers }: IncomingMessage): boolean => {
  const [given, right] = [Buffer.from(headers.authorization ?? ''), Buffer.from(`Bearer ${token}`)]
  return given.length === right.length && timingSafeEqual(given, right)
}

const facts = { protocol_version: 1, instance_id }
const answers: Readonly<Record<string, (body: string) => object>> = {
  'GET /manifest': () => ({
    ...facts,
    capabilities: { attachments_in: false, attachments_out: false, threads: false },
  }),
  'GET /health': () => ({ ...facts, status: 'ready' }),
  'POST /deliver': (body) => deliver(JSON.parse(body) as Delivery),
}

const serve = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
  const pieces: Buffer[] = []
  for await (const piece of request) pieces.push(piece as Buffer)
  const answer = answers[`${request.method} ${request.url}`]
  const send = (status: number, body: object): void =>
    void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(body))
  if (!isDaemon(request)) return send(401, { error: 'the shared token is wrong' })
  if (answer === undefined) return send(404, { error: 'there is nothing here' })
  send(200, answer(Buffer.concat(pieces).toString('utf8')))
}

createHttpServer((request, response) => {
  serve(request, response).catch(() => response.destroy())
}).listen(Number(here.port), here.hostname.replaceAll(/[[\]]/gu, ''), () => void sendForEver())
createPort(meet).listen(Number(process.env['LINE_CHAT_PORT'] ?? 7000), '127.0.0.1')
