/** What every model provider must keep. A provider's own test calls `conformProvider` once. */
import type { ExecutionContext, TestFn } from 'ava'
import type { Json } from '../../core/plugin.js'
import type { ModelConnection, ModelEvent, ModelRequest, Usage } from '../../plugins/execution/models/contract.js'
import { failureClasses } from '../../plugins/execution/models/bounds/failure-class.js'
import { answerOf, ask, requestOf, resultsOf, userText, type Answer } from '../support/models.js'

export interface ProviderBench {
  /** Just made: nothing has been asked yet. */
  readonly connection: ModelConnection
  /** User texts that make the model behave in one way. */
  readonly texts: {
    /** Answers with text. */
    readonly text: string
    /** Calls two tools or more, and ends after their results. */
    readonly calls: string
    /** Fails with a failure that may be retried. */
    readonly fails: string
    /** Says something and then goes on for longer than any test. */
    readonly endless: string
  }
  /** How often the model was asked, and how many of these are still open; absent where there is no other side. */
  readonly traffic?: () => { readonly asked: number; readonly open: number }
}

type Setup = (t: ExecutionContext) => Promise<ProviderBench> | ProviderBench

/** Milliseconds within which an abort must have ended a call. */
const bound = 2000

const classes: ReadonlySet<string> = new Set(failureClasses.filter((it) => it !== 'provider_fault'))

const isCount = (value: unknown): boolean => Number.isSafeInteger(value) && Number(value) >= 0

const checkUsage = (t: ExecutionContext, usage: Usage): void => {
  for (const [name, value] of Object.entries(usage)) t.true(isCount(value), `${name} is ${value}`)
}

const checkDone = (t: ExecutionContext, done: Answer['done']): void => {
  if (done === undefined) return t.fail('the last event is no done')
  if (done.usage !== undefined) checkUsage(t, done.usage)
  if (done.outcome !== 'failed') return
  t.true(classes.has(done.failure.class), done.failure.class)
  t.regex(done.failure.message, /^[^\n]{3,1000}$/u)
  t.notRegex(done.failure.message, /Bearer|at .*\.js/u)
  if (done.failure.retry_after_ms !== undefined) t.true(isCount(done.failure.retry_after_ms))
}

/** Holds for the events of any call, however it ended. */
const checkEvents = (t: ExecutionContext, events: readonly ModelEvent[]): void => {
  t.is(events.filter(({ type }) => type === 'done').length, 1, 'exactly one done')
  const { done, parts, text } = answerOf([...events])
  checkDone(t, done)
  t.deepEqual(JSON.parse(JSON.stringify(events)), events, 'events are plain JSON')
  const ids = parts.flatMap((part) => (part.type === 'tool_call' ? [part.id] : []))
  t.is(new Set(ids).size, ids.length, 'ids of calls differ')
  t.true(ids.every((id) => id !== ''))
  if (done?.outcome === 'failed') return
  t.is(done?.outcome === 'tool_calls', ids.length > 0, 'outcome tool_calls means that there are calls')
  t.is(
    events.flatMap((event) => (event.type === 'text_delta' ? [event.text] : [])).join(''),
    text,
    'deltas make up the text',
  )
}

const deadline = async <T>(work: Promise<T>): Promise<T | 'late'> => {
  let timer: NodeJS.Timeout | undefined
  const late = new Promise<'late'>((resolve) => (timer = setTimeout(() => resolve('late'), bound)))
  return Promise.race([work, late]).finally(() => clearTimeout(timer))
}

const settled = async (t: ExecutionContext, { traffic }: ProviderBench): Promise<void> => {
  if (traffic === undefined) return
  for (let n = 0; n < 100 && traffic().open > 0; n += 1)
    await new Promise((resolve) => setTimeout(resolve, bound / 100))
  t.is(traffic().open, 0, 'nothing is left open')
}

/** Asks and aborts after so many events. */
const askAndAbort = async (
  connection: ModelConnection,
  request: ModelRequest,
  after: number,
): Promise<ModelEvent[]> => {
  const abort = new AbortController()
  const events: ModelEvent[] = []
  if (after === 0) setTimeout(() => abort.abort(), 20)
  for await (const event of connection.stream(request, abort.signal)) {
    events.push(event)
    if (events.length === after) abort.abort()
  }
  return events
}

export const conformProvider = (test: TestFn, name: string, setup: Setup): void => {
  const check = (sentence: string, body: (t: ExecutionContext, bench: ProviderBench) => Promise<void>): void => {
    test.serial(`${name} ${sentence}`, async (t) => body(t, await setup(t)))
  }
  answers(check)
  aborts(check)
  replays(check)
}

type Check = (sentence: string, body: (t: ExecutionContext, bench: ProviderBench) => Promise<void>) => void

const answers = (check: Check): void => {
  check('ends every call with exactly one done, last, and never throws', async (t, { connection, texts }) => {
    for (const text of [texts.text, texts.calls, texts.fails, ''])
      checkEvents(t, (await ask(connection, requestOf([userText(text)]))).events)
    checkEvents(t, (await ask(connection, requestOf([]))).events)
  })
  check('does what it is asked to', async (t, { connection, texts }) => {
    const outcome = async (text: string) => (await ask(connection, requestOf([userText(text)]))).done
    t.is((await outcome(texts.text))?.outcome, 'stop')
    t.is((await outcome(texts.calls))?.outcome, 'tool_calls')
    const failed = await outcome(texts.fails)
    t.true(failed?.outcome === 'failed' && failed.failure.retryable)
  })
  check('asks once and does not repeat a failure by itself', async (t, { connection, texts, traffic }) => {
    await ask(connection, requestOf([userText(texts.fails)]))
    t.is(traffic?.().asked ?? 1, 1)
  })
  check('answers two calls at once without mixing them', async (t, { connection, texts }) => {
    const [first, second] = await Promise.all(
      [texts.text, texts.calls].map((text) => ask(connection, requestOf([userText(text)]))),
    )
    t.is(first?.done?.outcome, 'stop')
    t.is(second?.done?.outcome, 'tool_calls')
  })
  check('knows its readiness at once and without asking', async (t, { connection, traffic }) => {
    const { state, code, message, action = 'None.' } = connection.readiness()
    t.true(['ok', 'warning', 'error'].includes(state))
    t.regex(code, /^[a-z][a-z0-9_]*$/u)
    for (const sentence of [message, action]) t.regex(sentence, /^[^\n]{3,300}$/u)
    t.deepEqual(connection.readiness(), connection.readiness())
    t.is(traffic?.().asked ?? 0, 0)
  })
}

const aborts = (check: Check): void => {
  check('asks nobody when it is aborted before the start', async (t, { connection, texts, traffic }) => {
    const { events, done } = await ask(connection, requestOf([userText(texts.text)]), AbortSignal.abort())
    checkEvents(t, events)
    t.is(done?.outcome === 'failed' && done.failure.class, 'aborted')
    t.is(traffic?.().asked ?? 0, 0)
  })
  check('ends soon after an abort and leaves nothing open', async (t, bench) => {
    const events = await deadline(askAndAbort(bench.connection, requestOf([userText(bench.texts.endless)]), 0))
    if (events === 'late') return t.fail(`still busy ${bound} ms after the abort`)
    checkEvents(t, events)
    const { done } = answerOf(events)
    t.deepEqual(done?.outcome === 'failed' && [done.failure.class, done.failure.retryable], ['aborted', false])
    await settled(t, bench)
  })
  check('keeps its promises when aborted after any event', async (t, bench) => {
    const whole = (await ask(bench.connection, requestOf([userText(bench.texts.calls)]))).events.length
    for (let after = 1; after <= whole; after += 1) {
      const events = await deadline(askAndAbort(bench.connection, requestOf([userText(bench.texts.calls)]), after))
      if (events === 'late') return t.fail(`still busy after an abort at event ${after}`)
      checkEvents(t, events)
    }
    await settled(t, bench)
  })
  check('leaves nothing open when its reader goes early', async (t, bench) => {
    for await (const _ of bench.connection.stream(
      requestOf([userText(bench.texts.endless)]),
      new AbortController().signal,
    ))
      break
    await settled(t, bench)
    t.pass()
  })
}

const replays = (check: Check): void => {
  check(
    'accepts its own parts back after they were written down, with their results',
    async (t, { connection, texts }) => {
      const first = await ask(connection, requestOf([userText(texts.calls)]))
      const recorded: typeof first.parts = JSON.parse(JSON.stringify(first.parts))
      t.deepEqual(recorded, first.parts)
      const outputs: Json[] = [{ ok: true }, 'text', null, [1, 2], 3]
      for (const output of outputs) {
        const results = resultsOf(recorded, output)
        const next = await ask(
          connection,
          requestOf([userText(texts.calls), { role: 'assistant', content: recorded }, results]),
        )
        checkEvents(t, next.events)
        t.is(next.done?.outcome, 'stop')
      }
    },
  )
  check('goes on with a conversation that has more than one user text', async (t, { connection, texts }) => {
    const first = await ask(connection, requestOf([userText(texts.text)]))
    const next = await ask(
      connection,
      requestOf([userText(texts.text), { role: 'assistant', content: first.parts }, userText(texts.calls)]),
    )
    t.is(next.done?.outcome, 'tool_calls')
  })
}
