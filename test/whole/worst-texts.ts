/**
 * The worst text for each place that takes one, at the largest size that it admits. While a daemon works on it, other
 * requests must be answered: text is read in linear time, or outside the event loop.
 */
import { readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import path from 'node:path'

/** A daemon with a workspace of its own. */
export interface Target {
  readonly url: string
  readonly workspace: string
  /** A session of its own for each text. */
  readonly session: string
}

export interface WorstText {
  readonly title: string
  /** What must be there before; not measured. */
  readonly prepare?: (target: Target) => Promise<unknown>
  /** Resolves when the daemon is done with the text. */
  readonly act: (target: Target) => Promise<unknown>
}

const sleep = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms))

const ended = ['completed', 'failed', 'interrupted', 'cancelled', 'waiting_for_approval', 'waiting_for_user_question']

/** The body of the answer as text; a refusal is an answer too. */
export const send = async ({ url }: Target, method: string, at: string, body?: unknown): Promise<string> => {
  const content = typeof body === 'string' ? body : JSON.stringify(body)
  const headers = { 'content-type': 'application/json' }
  const answer = await fetch(`${url}${at}`, { method, ...(body !== undefined && { body: content, headers }) })
  return answer.text()
}

const submit = async (target: Target, content: string): Promise<any> => {
  const run = JSON.parse(await send(target, 'POST', `/v1/sessions/${target.session}/runs`, { content }))
  if (run.run_id === undefined) throw new Error(`the text was refused: ${run.code}`)
  return run
}

/** Lets the demo model play this script, until the run rests. */
export const play = async (target: Target, content: string): Promise<any> => {
  const run = await submit(target, content)
  for (;;) {
    const now = JSON.parse(await send(target, 'GET', `/v1/runs/${run.run_id}`))
    if (ended.includes(now.status)) return now
    await sleep(20)
  }
}

const call = (target: Target, tool: string, input: unknown): Promise<any> =>
  play(target, `/tool ${tool} ${JSON.stringify(input)}`)

/** Longest that a look is waited for: who is frozen longer is frozen. */
const patience = 20_000

/** A clock in milliseconds. */
type Watch = () => number

/** Milliseconds for which the thread that answers has worked: a machine that is busy with others adds none. */
const workOf =
  (pid: number): Watch =>
  () =>
    Number(readFileSync(`/proc/${pid}/task/${pid}/schedstat`, 'utf8').split(' ', 1)[0]) / 1e6

/** Milliseconds that the slowest of the other requests took while the work went on. */
export const longestOther = async (
  url: string,
  work: () => Promise<unknown>,
  watch: Watch = () => performance.now(),
): Promise<number> => {
  let [going, longest] = [true, 0]
  const look = async (): Promise<void> => {
    while (going && longest < patience) {
      const began = watch()
      await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(patience) }).then(
        (answer) => answer.text(),
        () => '',
      )
      longest = Math.max(longest, watch() - began)
      await sleep(2)
    }
  }
  const looking = look()
  await Promise.race([work(), looking])
  going = false
  await looking
  return longest
}

/** Above what a request costs now and then, far below what a bad text does to it each time. */
export const most = 1_000
const tries = 3

/**
 * The most that the daemon worked before it answered another request, of work that is repeated while it seems to keep
 * others waiting.
 */
export const leastOfTries = async (
  { url, pid }: { readonly url: string; readonly pid: number },
  work: () => Promise<unknown>,
): Promise<number> => {
  let longest = Infinity
  for (let round = 0; round < tries && longest > most; round += 1) longest = await longestOther(url, work, workOf(pid))
  return longest
}

/** Flags that a daemon is started with for these. */
export const worstFlags: readonly string[] = ['--debug-level', 'redacted', '--permission-mode', 'bypassPermissions']

/** The largest body that a route takes, less what is around a text. */
const bodyLimit = 1_048_576 - 300
const filled = (part: string, length = bodyLimit): string =>
  part.repeat(Math.floor(length / Buffer.byteLength(JSON.stringify(part).slice(1, -1))))

const fields = (count: number): Record<string, number> =>
  Object.fromEntries(Array.from({ length: count }, (_, n) => [`f${n}`, 0]))

const file = (name: string, part: string, bytes = 16 * 1024 * 1024) => ({
  path: name,
  prepare: ({ workspace }: Target) =>
    writeFile(path.join(workspace, name), part.repeat(Math.floor(bytes / Buffer.byteLength(part)))),
})
const large = file('large.txt', 'a')
const short = file('short.txt', '\n')

const said = (title: string, part: string): WorstText => ({
  title: `what a run is told: ${title}`,
  act: (target) => play(target, filled(part)),
})
const sent = (title: string, { method = 'POST', at, body }: { method?: string; at: string; body: () => unknown }) => ({
  title,
  act: (target: Target) => send(target, method, at.replace('SESSION', target.session), body()),
})
/** The session of the text exists, so that the expression is looked at. */
const planned = (title: string, expression: string): WorstText => ({
  title,
  act: (target) =>
    send(target, 'POST', '/v1/schedules', {
      name: 'x',
      target_session_id: target.session,
      cadence: { type: 'cron', expression, timezone: 'America/St_Johns' },
      request: { content: 'x' },
    }),
})

const searches: readonly WorstText[] = [
  {
    title: 'a glob of many stars against a name that almost fits',
    prepare: ({ workspace }) => writeFile(path.join(workspace, 'a'.repeat(60)), ''),
    act: (target) => call(target, 'glob_search', { pattern: `${'*a'.repeat(25)}*b` }),
  },
  {
    title: 'a glob of many alternatives, nested and in a row',
    act: (target) => call(target, 'glob_search', { pattern: `${'{a,'.repeat(200)}b${'}'.repeat(200)}*b` }),
  },
  {
    title: 'an expression with nested repetition against a line that almost fits',
    prepare: ({ workspace }) => writeFile(path.join(workspace, 'line.txt'), `${'a'.repeat(1_000_000)}!\n`),
    act: (target) => call(target, 'grep_search', { pattern: '(a+)+$|(a|a)*$|(.*a){50}b' }),
  },
  {
    title: 'an ignore file with the same glob',
    prepare: async ({ workspace }) => {
      await mkdir(path.join(workspace, 'ignoring'))
      await writeFile(path.join(workspace, 'ignoring', '.gitignore'), `${'*a'.repeat(10_000)}*b\n`.repeat(20))
      await writeFile(path.join(workspace, 'ignoring', 'a'.repeat(200)), '')
    },
    act: (target) => call(target, 'list_files', { base: 'ignoring' }),
  },
]

const files: readonly WorstText[] = [
  {
    title: 'an edit whose text almost fits everywhere',
    prepare: large.prepare,
    act: (target) =>
      call(target, 'edit_file', {
        path: large.path,
        old_string: `${'a'.repeat(250_000)}b${'a'.repeat(250_000)}`,
        new_string: '',
      }),
  },
  {
    title: 'an edit of each byte of a file',
    prepare: large.prepare,
    act: (target) =>
      call(target, 'edit_file', { path: large.path, old_string: 'a', new_string: 'b', replace_all: true }),
  },
  {
    title: 'an edit that would make a file of terabytes',
    prepare: large.prepare,
    act: (target) =>
      call(target, 'edit_file', {
        path: large.path,
        old_string: 'a',
        new_string: 'b'.repeat(500_000),
        replace_all: true,
      }),
  },
  {
    title: 'the last lines of a file of short ones',
    prepare: short.prepare,
    act: (target) => call(target, 'read_file', { path: short.path, start_line: 16_000_000 }),
  },
  {
    title: 'writing a large file',
    act: (target) => call(target, 'write_file', { path: 'written.txt', content: '\u2028'.repeat(150_000) }),
  },
]

const told: readonly WorstText[] = [
  said('beginnings of tokens', 'eyJaaaaaaaa-'),
  said('beginnings of keys', 'sk-'),
  said('beginnings of named values', 'token:\'"`'),
  said('numbers', 'DE89 '),
  said('addresses', 'ab://x:'),
  said('blank directives that do not end', '/tool x\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\t\u2028x\n'),
  {
    title: 'what a run is told: one directive of blanks',
    act: (target) => play(target, `/tool x${' '.repeat(900_000)}\u2028y`),
  },
  {
    title: 'a tool input that is nested deeply',
    act: (target) => play(target, `/tool todo_write ${'['.repeat(400_000)}${']'.repeat(400_000)}`),
  },
  {
    title: 'a list of things to do at its limits',
    act: (target) =>
      call(target, 'todo_write', {
        todos: Array.from({ length: 500 }, (_, n) => ({ id: `t${n}`, content: 'x'.repeat(1_900), status: 'pending' })),
      }),
  },
  {
    title: 'a tool call of very many wrong items',
    act: (target) => call(target, 'todo_write', { todos: Array.from({ length: 200_000 }, () => 1) }),
  },
  {
    title: 'a tool input of very many unknown fields',
    act: (target) => call(target, 'todo_write', fields(40_000)),
  },
  {
    title: 'a script of very many calls',
    act: (target) => play(target, '/tool x\n'.repeat(9_999)),
  },
  {
    title: 'a script of too many lines',
    act: (target) => play(target, filled('/say x\n')),
  },
  {
    title: 'a script of very many words',
    act: (target) => play(target, '/say x\n'.repeat(9_999)),
  },
  {
    title: 'a command that prints secrets that are none',
    act: (target) => call(target, 'bash', { command: `yes 'eyJaaaaaaaa-' | tr -d '\\n' | head -c 4000000` }),
  },
]

const bodies: readonly WorstText[] = [
  sent('a body that is nested deeply', { at: '/v1/sessions', body: () => '['.repeat(bodyLimit) }),
  sent('a body of objects in objects', { at: '/v1/sessions', body: () => '{"a":'.repeat(bodyLimit / 5) }),
  sent('a body of very many escapes', { at: '/v1/sessions', body: () => `"${'\\u0000'.repeat(170_000)}` }),
  sent('a body of very many numbers', { at: '/v1/sessions', body: () => `[${'1e999,'.repeat(170_000)}1]` }),
  sent('a body of very many unknown fields', { at: '/v1/sessions', body: () => fields(70_000) }),
  sent('a submission with metadata of very many fields', {
    at: '/v1/sessions/SESSION/runs',
    body: () => ({ content: 'x', metadata: fields(70_000) }),
  }),
  sent('a submission of very many wrong items', {
    at: '/v1/sessions/SESSION/runs',
    body: () => ({ input_items: Array.from({ length: 250_000 }, () => ({})) }),
  }),
  sent('a submission of very many items', {
    at: '/v1/sessions/SESSION/runs',
    body: () => ({ input_items: Array.from({ length: 30_000 }, () => ({ type: 'text', text: 'x' })) }),
  }),
  sent('answers to questions that nobody asked', {
    at: '/v1/sessions/SESSION/approvals',
    body: () => ({
      resolutions: Array.from({ length: 15_000 }, (_, n) => ({ request_id: `r${n}`, behavior: 'allow' })),
    }),
  }),
  sent('targets beyond number', {
    method: 'PUT',
    at: '/v1/sessions/SESSION/reply-targets',
    body: () => ({ reply_targets: Array.from({ length: 20_000 }, () => ({ type: 'http', url: 'http://127.0.0.1/' })) }),
  }),
  sent('texts about the operator', {
    method: 'PUT',
    at: '/v1/sessions/SESSION/operator',
    body: () => ({ enabled: true, display_name: '㋿'.repeat(200), communication_style: '㌖'.repeat(2_000) }),
  }),
  planned('a cron expression that never fires', '0 0 31 2,4,6,9,11 *'),
  planned('a cron expression that fires once in forty years', '59 59 23 29 2 1#5'),
  planned('a cron expression of a long list', `${'0-59,'.repeat(36)}1 ${'*,'.repeat(4)}1 29 2 SUN`),
  sent('what a session remembers of a long query', {
    method: 'GET',
    at: `/v1/sessions/SESSION/memory-search?query=${encodeURIComponent('aé '.repeat(600))}`,
    body: () => undefined,
  }),
  sent('a query of very many pairs', {
    method: 'GET',
    at: `/v1/runs?${Array.from({ length: 1_900 }, (_, n) => `${n.toString(36)}=%41`).join('&')}`,
    body: () => undefined,
  }),
  {
    title: 'headers of blanks and commas',
    act: ({ url }) =>
      Promise.all(
        ['authorization', 'accept', 'origin', 'last-event-id', 'idempotency-key', 'cookie'].map((name) =>
          fetch(`${url}/v1/runs`, { headers: { [name]: `x${' ,'.repeat(3_500)}x` } }).then((answer) => answer.text()),
        ),
      ),
  },
]

export const worstTexts: readonly WorstText[] = [...searches, ...files, ...told, ...bodies]
