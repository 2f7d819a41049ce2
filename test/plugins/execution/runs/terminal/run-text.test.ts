/** Runs as a person reads them. No daemon is asked. */
import test from 'ava'
import { withHold } from '../../../../../plugins/execution/runs/terminal/held-daemon.js'
import { showEvents } from '../../../../../plugins/execution/runs/terminal/event-text.js'
import { RunAnswer, showRun, showRuns } from '../../../../../plugins/execution/runs/terminal/run-text.js'
import { array, isJsonObject, parse, type Client, type Json } from '../../../../../core/plugin.js'

const row = (run_id: string, more: Readonly<Record<string, Json>>) => ({
  run_id,
  session_id: 's1',
  request: { text_preview: 'hi' },
  ...more,
})
const shown = (answer: Json): string => {
  const rows = parse(array(RunAnswer), answer)
  return rows.ok ? showRuns(rows.value) : JSON.stringify(rows.issues)
}

test('a list of runs says which of them wait for their model route', (t) => {
  const wait = { attempts: 1, next_attempt_at_ms: 1, code: 'network', message: 'No answer.' }
  t.is(
    shown([row('r1', { status: 'running', waiting_for_model_route: wait }), row('r2', { status: 'running' })]),
    'r1  running (waits for model)  s1  hi\nr2  running                    s1  hi',
  )
})

test('a list tells when its runs were submitted, and a single run when it began and ended', (t) => {
  const times = { submitted_at_ms: 1_700_000_000_000, started_at_ms: 1_700_000_001_000 }
  const ended = { ...row('r1', { status: 'completed' }), ...times, finished_at_ms: 1_700_000_002_500 }
  t.is(shown([ended]), 'r1  2023-11-14T22:13:20.000Z  completed                  s1  hi')
  const said = (run: Json): string => {
    const read = parse(RunAnswer, run)
    return read.ok ? showRun(read.value) : JSON.stringify(read.issues)
  }
  t.regex(said(ended), /^ {2}time {5}submitted 2023-\S+20\.000Z, begun 2023-\S+21\.000Z, ended 2023-\S+22\.500Z$/mu)
  t.regex(said({ ...row('r1', { status: 'queued' }), submitted_at_ms: 0 }), /^ {2}time {5}submitted 1970-\S+Z$/mu)
})

test('models-9: a run whose fallback model took over says so, and where its attempts are told', (t) => {
  const said = (request: Readonly<Record<string, Json>>): string => {
    const read = parse(RunAnswer, row('r1', { status: 'completed', request }))
    return read.ok ? showRun(read.value) : JSON.stringify(read.issues)
  }
  const of = { provider: 'claude', fallback_model: 'haiku' }
  t.regex(said({ ...of, model: 'haiku' }), /route {4}claude haiku\n {2}fallback .*holdfast runs events r1/u)
  t.notRegex(said({ ...of, model: 'opus' }), /fallback/u)
})

test('a list and a single run say that the daemon holds; nothing is asked for runs that are not queued', async (t) => {
  const asked: string[] = []
  const client: Client = {
    baseUrl: '',
    get: async (path) => {
      asked.push(path)
      return { health: { warnings: [{ code: 'daemon_held' }] } }
    },
    options: async () => ({}),
    bytes: async () => new Uint8Array(),
    send: async () => null,
    stream: async () => (async function* () {})(),
  }
  const told = await withHold({ client, output: 'pretty' }, [
    row('r1', { status: 'queued' }),
    row('r2', { status: 'completed' }),
  ])
  t.regex(shown(told), /^r1 {2}queued \(daemon holds\) +s1 {2}hi\nr2 {2}completed +s1/u)
  const one = await withHold({ client, output: 'pretty' }, row('r1', { status: 'queued' }))
  t.true(isJsonObject(one) && one['daemon_held'] === true)
  t.is(asked.length, 2)
  const rows = [row('r2', { status: 'completed' })]
  t.is(await withHold({ client, output: 'pretty' }, rows), rows)
  const queued = [row('r1', { status: 'queued' })]
  t.is(await withHold({ client, output: 'json' }, queued), queued)
  t.is(asked.length, 2)
})

test('the end of a call is one line, whatever its reason holds', (t) => {
  const event = {
    type: 'tool_ended',
    tool_name: 'peek',
    outcome: 'failed',
    code: 'busy',
    message: `a\nb\u001b[2J${'x'.repeat(500)}`,
  }
  const text = showEvents([{ timestamp_ms: 0, event }])
  t.regex(text, /^\+ +0\.000 s {2}tool_ended {2}peek: failed: busy: a b\\u001b\[2Jx+…$/u)
  t.true(text.length < 250)
})

test('a step tells what a server searched the web for, and how much it found', (t) => {
  const event = { type: 'model_searched', queries: ['a "b"', 'c'], pages: [{ url: 'https://a.example' }] }
  t.regex(showEvents([{ timestamp_ms: 0, event }]), /model_searched {2}"a \\"b\\"", "c": 1 page$/u)
})
