import { readdirSync, readFileSync, statSync } from 'node:fs'
import { join } from 'node:path'
import test from 'ava'
import { freshRoot, startTestDaemon, type Ask } from '../../../../support/daemon.js'
import { startMortal } from '../../../../support/mortal.js'
import { openSession, submit, until } from '../../../../support/runs.js'

interface Target {
  readonly request: Ask
}

const runToEnd = async (daemon: Target, session_id: string, content: string): Promise<any> =>
  until(daemon, (await submit(daemon, session_id, content)).run_id, 'completed', 'failed', 'interrupted', 'cancelled')
const recovered = async ({ request }: Target, session_id = 's1'): Promise<any[]> =>
  (await request('GET', `/v1/sessions/${session_id}/memory-search?limit=50`)).body.results
const remembered = async ({ request }: Target, session_id = 's1'): Promise<any> =>
  (await request('GET', `/v1/sessions/${session_id}/memory-context`)).body.recovered_memory

test.serial('memory-15: every way to end is remembered with request, result, status and markers', async (t) => {
  const daemon = await startTestDaemon(t, { config: { memory: { max_prompt_entries: 10 } } })
  await openSession(daemon)
  const done = await runToEnd(daemon, 's1', '/say The harbour is closed.')
  const failed = await runToEnd(daemon, 's1', '/fail fatal It is out of order.')
  const waiting = await submit(daemon, 's1', '/ask Which? | A | B')
  await until(daemon, waiting.run_id, 'waiting_for_user_question')
  await daemon.request('POST', `/v1/runs/${waiting.run_id}/cancel`, {})
  const cancelled = await until(daemon, waiting.run_id, 'cancelled')
  const { entries, truncated } = await remembered(daemon)
  t.false(truncated)
  t.deepEqual(
    entries.map((entry: any) => [entry.run_id, entry.status]),
    [
      [cancelled.run_id, 'cancelled'],
      [failed.run_id, 'failed'],
      [done.run_id, 'completed'],
    ],
  )
  t.deepEqual(entries[2], {
    run_id: done.run_id,
    recorded_at_ms: done.finished_at_ms,
    status: 'completed',
    request_preview: '/say The harbour is closed.',
    outcome_preview: 'The harbour is closed.',
    artifact_ids: [],
    failure_markers: [],
    summary: 'Request: /say The harbour is closed.\nResult: The harbour is closed.\nStatus: completed',
  })
  t.is(entries[1].failure_markers[0], 'failed')
  t.true(entries[1].failure_markers[1].startsWith('error: '))
  t.deepEqual(entries[0].failure_markers[0], 'cancelled')
})

test.serial(
  'memory-16: a session remembers the newest runs up to its number, and shows no more in its context than ' +
    'the policy says',
  async (t) => {
    const daemon = await startTestDaemon(t, {
      config: { memory: { max_tracked_per_session: 3, max_prompt_entries: 2 } },
    })
    await openSession(daemon)
    const ids: string[] = []
    for (const n of [1, 2, 3, 4, 5]) ids.push((await runToEnd(daemon, 's1', `/say number ${n}`)).run_id)
    t.deepEqual(
      (await recovered(daemon)).map(({ source_id }) => source_id),
      ids.slice(2).toReversed(),
    )
    const { entries, truncated } = await remembered(daemon)
    t.deepEqual([entries.map((entry: any) => entry.run_id), truncated], [ids.slice(3).toReversed(), true])
  },
)

test.serial('memory-17: without the policy nothing is remembered and nothing shown', async (t) => {
  const daemon = await startTestDaemon(t, { config: { memory: { enabled: false } } })
  await openSession(daemon)
  await runToEnd(daemon, 's1', '/say hello')
  t.deepEqual(await recovered(daemon), [])
  t.like((await daemon.request('GET', '/v1/status')).body.run_memory, { enabled: false, tracked_count: 0 })
})

test.serial(
  'memory-15: a run that ended right before a kill is remembered once by the next life, also after a second kill',
  async (t) => {
    const first = await startMortal(t)
    await openSession(first)
    const { run_id } = await runToEnd(first, 's1', '/say before the kill')
    await first.kill('SIGKILL')
    let { root } = first
    for (const signal of ['SIGKILL', 'SIGTERM', 'SIGTERM'] as const) {
      const next = await startMortal(t, { root })
      t.deepEqual(
        (await recovered(next)).map(({ source_id }) => source_id),
        [run_id],
      )
      await next.kill(signal)
      ;({ root } = next)
    }
  },
)

test.serial(
  'runs that waited over many commits of memory, and one that a start interrupts, are remembered after a kill',
  async (t) => {
    const first = await startMortal(t)
    await openSession(first, 'slow')
    await openSession(first, 's1')
    const question = '/ask Which? | A | B'
    const waiting = await submit(first, 'slow', question)
    await until(first, waiting.run_id, 'waiting_for_user_question')
    for (const n of [1, 2, 3]) {
      await runToEnd(first, 's1', `/say number ${n}`)
      t.is((await recovered(first)).length, n)
    }
    await first.request('POST', `/v1/runs/${waiting.run_id}/cancel`, {})
    await until(first, waiting.run_id, 'cancelled')
    await first.kill('SIGKILL')
    const second = await startMortal(t, { root: first.root })
    t.deepEqual(
      (await recovered(second, 'slow')).map(({ source_id }) => source_id),
      [waiting.run_id],
    )
    t.is((await recovered(second)).length, 3)
  },
)

const filesBelow = (folder: string): string[] =>
  readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))

test.serial(
  'memory-18: secrets and personal data of requests, outputs and errors reach neither the memory on disk ' +
    'nor an answer',
  async (t) => {
    const root = await freshRoot()
    const daemon = await startTestDaemon(t, { root })
    await openSession(daemon)
    const canaries = [
      'sk-canary1234567890abcdefgh',
      'ghp_canary0123456789abcdef',
      'canary@example.com',
      '+49 170 5550199',
    ]
    const said = `My key is ${canaries[0]}, token: ${canaries[1]}, write to ${canaries[2]} or call ${canaries[3]}`
    await runToEnd(daemon, 's1', `/say ${said}`)
    await runToEnd(daemon, 's1', `${'word '.repeat(3000)} ${said}`)
    const answers = await Promise.all(
      ['memory-search', 'memory-search?query=key', 'memory-context', 'memory-context?query=canary'].map((at) =>
        daemon.request('GET', `/v1/sessions/s1/${at}`),
      ),
    )
    t.true(answers.every(({ text }) => canaries.every((canary) => !text.includes(canary))))
    t.true(answers[0]?.text.includes('<email>'))
    await daemon.stop()
    const again = await startTestDaemon(t, { root })
    await again.stop()
    const files = filesBelow(root).filter((file) => statSync(file).size > 0)
    const lines = files
      .flatMap((file) => readFileSync(file, 'utf8').split('\n'))
      .filter((line) => /run_memories/u.test(line) && /"put","run_memories"/u.test(line))
    const pages = files.filter((file) => file.includes('/run_memories/')).map((file) => readFileSync(file, 'utf8'))
    t.true(lines.length + pages.length > 0)
    for (const text of [...pages, ...lines.map((line) => line.slice(line.indexOf('"put","run_memories"')))])
      for (const canary of canaries) t.false(text.includes(canary))
  },
)
