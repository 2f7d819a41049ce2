/**
 * The worst text for each place that takes one, at the largest size that it admits. While a daemon works on it, other
 * requests must be answered: text is read in linear time, or outside the event loop.
 */
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

/** Lets the demo model play this script, until the run rests. */
export const play = async (target: Target, content: string): Promise<any> => {
  const run = JSON.parse(await send(target, 'POST', `/v1/sessions/${target.session}/runs`, { content }))
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

/** Milliseconds that the slowest of the other requests took while the work went on. */
export const longestOther = async (url: string, work: () => Promise<unknown>): Promise<number> => {
  let [going, longest] = [true, 0]
  const look = async (): Promise<void> => {
    while (going && longest < patience) {
      const began = performance.now()
      await fetch(`${url}/healthz`, { signal: AbortSignal.timeout(patience) }).then(
        (answer) => answer.text(),
        () => '',
      )
      longest = Math.max(longest, performance.now() - began)
      await sleep(2)
    }
  }
  const looking = look()
  await Promise.race([work(), looking])
  going = false
  await looking
  return longest
}

export const worstTexts: readonly WorstText[] = [
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
